import type { Aes } from '../core/cipher.js'
import type { Clock } from '../core/timing.js'
import type { Binding } from '../state/addon.js'
import type { Claims } from '../state/claims.js'
import type { Core, CoreSpec } from '../state/engine.js'
import type { Debug } from './debug.js'

/** The outcome of loading the native engine. A missing binary and a broken one have different reasons. */
export type NativeLoad =
  | { readonly ok: true; readonly binding: Binding; readonly file: string }
  | {
      readonly ok: false
      readonly reason: string
      /** The action that makes it load; `undefined` only if `isByDesign`. */
      readonly remedy?: string
      readonly cause?: unknown
      readonly file?: string
      /** There is no native engine for this runtime, so nothing can be done. */
      readonly isByDesign?: true
    }

/** A channel of `node:diagnostics_channel`, as far as it is used here. */
interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}

/**
 * All that the package needs from the runtime. `#platform` in package.json leads to one of two
 * implementations.
 */
export interface Platform extends Clock {
  environmentVariable(name: string): string | undefined
  /**
   * Refuses to make anything while a startup snapshot of Node is built: many processes start with a copy of
   * all that is made then. Undefined in browsers.
   *
   * @throws GraupelError `ERR_STATE_UNREACHABLE`
   */
  refuseSnapshot?(): void
  /**
   * The memory in which all threads keep the states of the js engine, or why it cannot be reached from this
   * thread.
   */
  stateMemory(): SharedArrayBuffer | ArrayBuffer | { unreachable: string }
  /** Memory for generators with `state: 'thread'`, in a thread that cannot reach the shared memory. */
  threadMemory(): SharedArrayBuffer | ArrayBuffer
  /**
   * Claims keep other processes of this host away from nodes that the js engine counts; undefined in
   * browsers.
   */
  readonly claims: Claims | undefined
  /** A sign that other processes run the same program, such as `node:cluster`. */
  siblingProcesses(): string | undefined
  /** The name of a system error, such as `ENOSPC`, if the platform has names. */
  systemErrorName(error: number): string | undefined
  /** Calls back before this thread ends by itself. */
  atExit(callback: () => void): void
  /** Calls back before the process ends by itself; only in its main thread. */
  atProcessExit(callback: () => void): void
  /** The parent of the folder of pages; empty for the default. @throws RangeError `ERR_OPTION_INVALID` */
  stateFolder(): string
  /** A path that does not depend on the current folder. */
  absolutePath(path: string): string
  /** AES of `node:crypto` for a key of 16, 24 or 32 bytes; undefined in browsers. */
  readonly blockCipher: Aes | undefined
  /** Whether the hypervisor announces that it can copy this machine with its memory (VMGENID). */
  canBeCopied(): boolean
  /** Loads the native engine. It is tried once, and the answer is kept. */
  loadNative(): NativeLoad
  warn(message: string, code: string): void
  /**
   * Warns once in a process, of what is a fault in production only: not if a test runner has started the
   * process.
   */
  warnOnce(message: string, code: string): void
  /** A sign that this process is in a container that has its own folder of pages; `undefined` if none. */
  containerSign(): string | undefined
  channel(name: string): Channel | undefined
  /** Prints a line for debugging. `undefined` in browsers, and without `NODE_DEBUG=graupel`. */
  readonly debug?: Debug | undefined
  /** Wraps a core, so that it prints its reservations; `undefined` as {@link debug} is. */
  traced?(core: Core, engine: string, spec: CoreSpec): Core | undefined
  /** Puts the thread to sleep; false if the thread may not sleep. */
  sleep(ms: number): boolean
  /** Milliseconds since 1970 by the system's clock, even if a test has replaced `Date`. */
  wallMs(): number
  /** Calls back after `ms`, or after a turn of the event loop for 0; the result cancels that. */
  later(callback: () => void, ms: number): () => void
  /**
   * Makes a random UUID of version 4 without the platform's `crypto`, which Node loads when it is first used.
   * Undefined if the system has none.
   */
  systemUuid?(): string | undefined
  /** Names this process among the processes of a fleet, for people. */
  processName(): string
}
