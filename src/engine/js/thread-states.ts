import type { Claims } from '../claims.js'
import type { CoreSpec } from '../engine.js'
import { JsClaim } from './claim.js'
import { clockFor, type SystemClocks } from './clocks.js'
import { IdWriter } from './id-writer.js'
import { emptyRun, endRun, type Run } from './run.js'
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

/**
 * The states of this thread by key, for all of its generators. Those with an external ceiling have runs of their own, which
 * end below it. Kept for as long as the thread lives, unless they are forgotten.
 */
const open = new Map<string, ThreadState>()
const external = new Map<string, ThreadState>()

export function threadStateFor(
  spec: CoreSpec,
  table: StateTable,
  claims: Claims | undefined,
  clocks: SystemClocks,
): ThreadState {
  const { key, sequenceBits, maxTick } = spec
  const states = spec.bound === 'external' ? external : open
  let found = states.get(key)
  if (found === undefined) {
    const state = new State(table, table.find(key), sequenceBits, maxTick)
    const claim = claims && new JsClaim(claims, table.token(claims.randomBits), state, spec, clockFor(spec, clocks))
    found = { state, run: emptyRun(), writer: new IdWriter(spec), claim }
    states.set(key, found)
  }
  return found
}

/** Lets go of a state whose table no other generator has: what uses it already keeps it. */
export function forgetState(key: string): void {
  open.delete(key)
}

/** Drops what this thread still has of a key to hand out, because another engine goes on from its end. */
export function endRuns(key: string): void {
  for (const states of [open, external]) {
    const run = states.get(key)?.run
    if (run !== undefined) endRun(run)
  }
}

/** Gives back every key that this process has claimed and this thread knows of; for the end of the process. */
export function releaseClaims(): void {
  for (const states of [open, external]) {
    for (const { claim } of states.values()) claim?.release()
  }
}
