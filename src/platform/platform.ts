import type { Claims } from '../engine/claims.js'
import type { Binding } from '../engine/native.js'

/** What loading the native engine ended with; a binary that is missing and one that is broken are different things. */
export type NativeLoad =
  | { readonly ok: true; readonly binding: Binding; readonly file: string }
  | {
      readonly ok: false
      readonly reason: string
      /** What to do about it; `undefined` where there is nothing. */
      readonly remedy?: string
      readonly cause?: unknown
      readonly file?: string
      /** There is none for such a place, and nothing to be done about it. */
      readonly isByDesign?: true
    }

/** A channel of `node:diagnostics_channel`, as far as it is used here. */
interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}

/** The longest that a timer can wait; a longer one fires at once (HTML, timers, step 6). */
export const mostTimerMs = 2 ** 31 - 1

/** What the package needs from where it runs, and all it knows of it. `#platform` in package.json leads to one of two. */
export interface Platform {
  environmentVariable(name: string): string | undefined
  /** The memory in which all threads keep the states of the js engine, or why it cannot be reached from this one. */
  stateMemory(): SharedArrayBuffer | ArrayBuffer | { unreachable: string }
  /** Memory for generators that say that no other thread uses their node, in a thread that cannot reach the former. */
  threadMemory(): SharedArrayBuffer | ArrayBuffer
  /** What keeps other processes of this host away from what the js engine counts. */
  readonly claims: Claims | undefined
  /** What shows that other processes run the same program, such as `node:cluster`. */
  siblingProcesses(): string | undefined
  /** The name of a system error, such as `ENOSPC`, where the platform has names. */
  systemErrorName(error: number): string | undefined
  /** Calls back when this thread is about to end of itself. */
  atExit(callback: () => void): void
  /** Calls back when the process is about to end of itself; never in a thread that is not its main one. */
  atProcessExit(callback: () => void): void
  /** In which the folder of pages is to be; empty for the usual one. @throws RangeError `ERR_OPTION_INVALID` */
  stateFolder(): string
  /** A path that does not depend on the current folder. */
  absolutePath(path: string): string
  /** Tried once; the answer is kept. */
  loadNative(): NativeLoad
  warn(message: string, code: string): void
  channel(name: string): Channel | undefined
  /** Puts the thread to sleep; false where it may not. */
  sleep(ms: number): boolean
  /** What the system's clock shows, in milliseconds since 1970, whatever a test has put in place of `Date`. */
  wallMs(): number
  /** Monotonic milliseconds. */
  monotonicMs(): number
  /** Calls back as soon as the event loop has had a turn, or after `ms`; the result takes that back. */
  later(callback: () => void, ms: number): () => void
}
