import type { Subject } from './proof.ts'

/** A function that picks one of several values by the seed of the run. */
type Choose = <T>(some: readonly T[]) => T

/** The program of a run's processes, and the rules for the ids that they write. */
export interface Work {
  /**
   * The program of a process; its argument is its order as JSON. It makes its file of events first, and ends
   * with 0 after SIGTERM.
   */
  readonly program: string
  /** The rest of its order, beside the store and its files. Each start draws another. */
  order(slot: number, threads: number, pick: Choose): object
  /** Environment variables of the process. */
  environment?(slot: number): Record<string, string>
  readonly subject: Subject
  /** Whether no id is made twice if the store loses all its data. */
  readonly survivesLosses: boolean
  /** Mean milliseconds between two faults of processes. */
  readonly processFaultMs: number
  /** Milliseconds between two faults of the server. */
  readonly serverFaultMs: number
  /**
   * Faults of the server that, every second time, also kill all processes: then no process knows more than
   * the store.
   */
  readonly deadly: readonly string[]
  /** The number of ids that are made after a fault of the server before a copy of its data is made. */
  readonly idsBeforeCopy: number
}
