import type { Subject } from './proof.ts'

/** One of some, by the seed of the run. */
type Choose = <T>(some: readonly T[]) => T

/** What the processes of a run do, and what has to hold for what they write. */
export interface Work {
  /** What each of them runs, with its order as JSON for argument. Ends well after SIGTERM, and has made its file of events before. */
  readonly program: string
  /** What it is told beside the store and its files; another choice each time that it is started. */
  order(slot: number, threads: number, pick: Choose): object
  /** Variables of its environment. */
  environment?(slot: number): Record<string, string>
  readonly subject: Subject
  /** Whether nothing is made twice when the store loses all that it holds. */
  readonly survivesLosses: boolean
  /** Milliseconds between two faults of processes, at the mean. */
  readonly processFaultMs: number
  /** Milliseconds between two faults of the server. */
  readonly serverFaultMs: number
  /** Faults of the server by which all processes are killed, too, every second time: then none knows more than the store. */
  readonly deadly: readonly string[]
  /** How many ids all have to make after a fault of the server, before a copy is made that is to be brought back. */
  readonly idsBeforeCopy: number
}
