import type { Claims } from '../claims.js'
import type { CoreSpec } from '../engine.js'
import { JsClaim } from './claim.js'
import { clockFor, type SystemClocks } from './clocks.js'
import { IdWriter } from './id-writer.js'
import { emptyRun, type Run } from './run.js'
import { State } from './state.js'
import type { StateTable } from './state-table.js'

/** A state with what this thread has for it: the run it hands out, the writer of its ids, and what it knows of the claim. */
export interface ThreadState {
  readonly state: State
  readonly run: Run
  readonly writer: IdWriter
  /** Undefined where no claims keep other processes away. */
  readonly claim: JsClaim | undefined
}

/** What the js engine needs of where it runs. */
export interface JsSurroundings extends SystemClocks {
  sleep(ms: number): void
  /** What keeps other processes away; undefined where there are no others, or none that can be seen. */
  readonly claims: Claims | undefined
}

/** The states of a table that this thread uses, one of each key for all of its generators. */
export class ThreadStates {
  readonly table: StateTable
  readonly #surroundings: JsSurroundings
  readonly #open = new Map<string, ThreadState>()
  /** Generators with an external ceiling have runs of their own, which end below it. */
  readonly #external = new Map<string, ThreadState>()

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
    const states = spec.bound === 'external' ? this.#external : this.#open
    let found = states.get(key)
    if (found === undefined) {
      const { table } = this
      const { claims } = this.#surroundings
      const state = new State(table, table.find(key), sequenceBits, maxTick)
      const clock = clockFor(spec, this.clocks)
      const claim = claims && new JsClaim(claims, table.token(claims.randomBits), state, spec, clock)
      found = { state, run: emptyRun(), writer: new IdWriter(spec), claim }
      states.set(key, found)
    }
    return found
  }

  /** Gives back every key that this process has claimed and this thread knows of; for the end of the process. */
  releaseClaims(): void {
    for (const { claim } of this.#open.values()) claim?.release()
  }
}
