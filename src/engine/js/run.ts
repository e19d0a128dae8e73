import type { BaseId } from './write-ids.js'

/** The run of slots that a thread hands out on one state, all of one tick; the counterpart is in `native/core/generator.h`. */
export interface Run extends BaseId {
  tick: number
  /** Ticks that the clock may be behind `tick`: what it was behind when the run was granted. */
  span: number
  /** The run is used from `fromMs` up to, but not including, `untilMs`; kept so that the hot path needs no division. */
  fromMs: number
  untilMs: number
  sequence: number
  /** One past the last sequence number; the run is empty where `sequence` equals it. */
  end: number
  /** Slots that were asked for; the next run in the same tick asks for twice as many. */
  size: number
  /** The one generator whose policy obtained the run, or 0 where all generators of the state may use it. */
  holder: number
  /** The run is of a past tick, below the state word. */
  reused: boolean
}

export function emptyRun(): Run {
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

/** Drops what is left of a run. */
export function endRun(run: Run): void {
  run.sequence = run.end
}
