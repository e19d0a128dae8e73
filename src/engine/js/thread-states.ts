import type { Claims } from '../../state/claims.js'
import type { CoreSpec } from '../../state/engine.js'
import type { StateTable } from '../../state/table.js'
import { JsClaim } from './claim.js'
import { clockFor, type SystemClocks } from './clock.js'
import { type BaseId, geometryOf, type IdGeometry, IdWriter } from './id-writer.js'
import { State } from './state.js'

/**
 * The run of slots that a thread hands out of one state, all of one tick; `Run` of `native/core/generator.h`
 * in TypeScript.
 */
export interface Run extends BaseId {
  tick: number
  /** Ticks that the clock may be behind `tick`: as many as when the run was granted. */
  span: number
  /**
   * The run is used from `fromMs` up to, but not including, `untilMs`; kept so that the hot path needs no
   * division.
   */
  fromMs: number
  untilMs: number
  sequence: number
  /** One past the last sequence number; the run is empty if `sequence` equals it. */
  end: number
  /** Slots that were requested; the next run in the same tick requests twice as many. */
  size: number
  /** The one generator whose policy obtained the run; 0 if all generators of the state may use it. */
  holder: number
  /** The run is of a past tick, below the state word. */
  reused: boolean
}

function emptyRun(): Run {
  return {
    tick: 0,
    span: 0,
    fromMs: 0,
    untilMs: 0,
    sequence: 0,
    end: 0,
    baseLow: 0,
    baseHigh: 0,
    size: 0,
    holder: 0,
    reused: false,
  }
}

/** Drops the rest of a run. */
export function endRun(run: Run): void {
  run.sequence = run.end
}

/**
 * Drops the slots of a run that lie below a slot. Slots of a past tick are kept: the policy `reuse` gives up
 * the order.
 */
export function dropBelow(run: Run, tick: number, sequence: number): void {
  if (run.reused) return
  if (run.tick < tick) endRun(run)
  else if (run.tick === tick && run.sequence < sequence) run.sequence = Math.min(sequence, run.end)
}

/** A state, with this thread's run of it, the writer of its ids, and this thread's view of the claim. */
export interface ThreadState {
  readonly state: State
  readonly run: Run
  readonly geometry: IdGeometry
  readonly writer: IdWriter
  /** `undefined` if no claims keep other processes away, or a lease does. */
  readonly claim: JsClaim | undefined
}

/** The parts of the runtime that the js engine uses. */
export interface JsSurroundings extends SystemClocks {
  sleep(ms: number): void
  /** Claims keep other processes away; `undefined` if the runtime cannot see other processes. */
  readonly claims: Claims | undefined
}

/** The states of a table that this thread uses. All of its generators of a key share a state. */
export class ThreadStates {
  readonly table: StateTable
  readonly #surroundings: JsSurroundings
  readonly #open = new Map<string, ThreadState>()

  constructor(table: StateTable, surroundings: JsSurroundings) {
    this.table = table
    this.#surroundings = surroundings
  }

  get clocks(): SystemClocks {
    return this.#surroundings
  }

  get sleep(): (ms: number) => void {
    return this.#surroundings.sleep
  }

  of(spec: CoreSpec): ThreadState {
    const { key, sequenceBits, maxTick } = spec
    let found = this.#open.get(key)
    if (found === undefined) {
      const { table } = this
      const { claims } = this.#surroundings
      const state = new State(table, table.find(key), sequenceBits, maxTick)
      const clock = clockFor(spec, this.clocks)
      const { kind } = spec.state
      // With a clock function, a state is of this process alone, and a claim would keep the function.
      const isAlone = kind === 'lease' || (kind !== 'host' && typeof spec.clock === 'function')
      const hasClaim = claims !== undefined && !isAlone
      const claim = hasClaim ? new JsClaim(claims, table.token(claims.randomBits), state, spec, clock) : undefined
      const geometry = geometryOf(spec)
      found = { state, run: emptyRun(), geometry, writer: new IdWriter(geometry), claim }
      this.#open.set(key, found)
    }
    return found
  }

  /**
   * Forgets a state of which nothing more can be reserved. A generator that still has it hands out the rest
   * of its run.
   */
  forget(key: string): void {
    this.#open.delete(key)
  }

  /** Gives back every key that this process has claimed and this thread knows; for the end of the process. */
  releaseClaims(): void {
    for (const { claim } of this.#open.values()) claim?.end()
  }
}
