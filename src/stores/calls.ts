import { GraupelError, isGraupelError, reasonOf, show } from '../core/errors.js'
import { type Clock, endWithin, sleep } from '../core/timing.js'
import type { Store, StoreEntry } from './store.js'

/** The outcome of a write. */
export type Written =
  | { readonly landed: true; readonly version: string }
  /** Another write came first; `found` is the record that it left. */
  | { readonly landed: false; readonly found: StoreEntry | undefined }

/**
 * Milliseconds between two attempts at a call. They double each time; `pause` subtracts up to half at random.
 */
const firstPauseMs = 10
const maxPauseMs = 500

/** The parts of a clock that calls of a store use. */
export type CallClock = Pick<Clock, 'monotonicMs' | 'later' | 'random'>

/** The range of a Date (ECMAScript 21.4.1.1). */
const maxDateMs = 8.64e15

/**
 * Calls a store with a deadline, checks its answers, and finds out whether a write has landed. Neither an
 * error nor a conflict tells: clients hang on dead connections, and resend writes that were applied already.
 * Only the record tells.
 */
export class StoreCalls {
  readonly store: Store
  readonly #clock: CallClock
  readonly #callTimeoutMs: number

  /** @param callTimeoutMs - How long one call of the store may take. */
  constructor(store: Store, clock: CallClock, callTimeoutMs: number) {
    this.store = store
    this.#clock = clock
    this.#callTimeoutMs = callTimeoutMs
  }

  /**
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`; the reason of the
   * signal.
   */
  read(key: string, signal?: AbortSignal): Promise<StoreEntry | undefined> {
    return this.#read(key, signal)
  }

  async #read(key: string, signal: AbortSignal | undefined, withinMs?: number): Promise<StoreEntry | undefined> {
    const entry = await this.#call('read', signal, (own) => this.store.read(key, own), withinMs)
    return this.#checkEntry('read', key, entry)
  }

  /** @throws as `read` */
  async list(folder: string, signal?: AbortSignal): Promise<StoreEntry[]> {
    const found: unknown = await this.#call('list', signal, (own) => this.store.list(folder, own))
    if (!Array.isArray(found)) throw this.#invalid('list', found, 'an array of records')
    return found.map((entry) => {
      const checked = this.#checkEntry('list', undefined, entry)
      if (checked?.key.startsWith(folder)) return checked
      throw this.#invalid('list', entry, `a record whose key begins with ${show(folder)}`)
    })
  }

  /**
   * Reads the clock of the server that has a key; `undefined` if the store has no clock.
   *
   * @param withinMs - After how many milliseconds the call is given up. @throws as `read`
   */
  async nowMs(signal?: AbortSignal, key?: string, withinMs?: number): Promise<number | undefined> {
    if (this.store.nowMs === undefined) return undefined
    const nowMs: unknown = await this.#call('nowMs', signal, (own) => this.store.nowMs?.(own, key), withinMs)
    if (typeof nowMs === 'number' && Math.abs(nowMs) <= maxDateMs) return nowMs
    throw this.#invalid('nowMs', nowMs, 'milliseconds since 1970')
  }

  /** @throws as `read` */
  async incarnation(signal?: AbortSignal, key?: string): Promise<string> {
    const name: unknown = await this.#call('incarnation', signal, (own) => this.store.incarnation?.(own, key))
    if (typeof name === 'string' && name !== '') return name
    throw this.#invalid('incarnation', name, 'a text')
  }

  /** Describes where the records are; `undefined` if the store does not say it. @throws as `read` */
  async place(signal?: AbortSignal): Promise<string | undefined> {
    if (this.store.place === undefined) return undefined
    const place: unknown = await this.#call('place', signal, (own) => this.store.place?.(own))
    if (typeof place === 'string' && place !== '') return place
    throw this.#invalid('place', place, 'a text')
  }

  /** Says what an operator should change about the server; nothing if the store cannot. @throws as `read` */
  async advice(signal?: AbortSignal): Promise<string[]> {
    if (this.store.advice === undefined) return []
    const advice: unknown = await this.#call('advice', signal, (own) => this.store.advice?.(own))
    if (Array.isArray(advice) && advice.every((text) => typeof text === 'string')) return advice
    throw this.#invalid('advice', advice, 'an array of texts')
  }

  /**
   * Removes a scratch record, and returns whether it was removed; `undefined` if the store cannot remove.
   *
   * @throws as `read`. The outcome is then not known.
   */
  async remove(key: string, expected: string, signal?: AbortSignal): Promise<boolean | undefined> {
    if (this.store.remove === undefined) return undefined
    const removed: unknown = await this.#call('remove', signal, (own) => this.store.remove?.(key, expected, own))
    if (typeof removed === 'boolean') return removed
    throw this.#invalid('remove', removed, 'true or false')
  }

  /**
   * Writes a value that no other write has, and returns after an answered write. A record with this value
   * proves that an attempt has landed, but not that the store keeps it: PostgreSQL shows a commit whose
   * replica has not confirmed it. So the value is then written again over this record, and the later answer
   * confirms both writes.
   *
   * @param expected - As in {@link Store.write}. Each attempt expects this version, or the version of an
   * earlier attempt that has landed.
   * @param withinMs - After how many milliseconds the call is given up, whatever it waits for.
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` if the outcome is not known by then; `ERR_STORE_INVALID`;
   * the reason of the signal.
   */
  async write(
    key: string,
    value: string,
    expected: string | undefined,
    withinMs: number,
    signal?: AbortSignal,
  ): Promise<Written> {
    const untilMs = this.#clock.monotonicMs() + withinMs
    const leftMs = () => untilMs - this.#clock.monotonicMs()
    let cause: unknown
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        const version: unknown = await this.#call(
          'write',
          signal,
          (own) => this.store.write(key, value, expected, own),
          leftMs(),
        )
        if (typeof version === 'string' && version !== '') return { landed: true, version }
        if (version !== undefined) throw this.#invalid('write', version, 'the new version, or undefined')
      } catch (error) {
        signal?.throwIfAborted()
        if (isFinal(error)) throw error
        cause = error
      }
      // A timer has whole milliseconds.
      if (leftMs() < 1) throw this.#unknown(key, cause)
      try {
        const found = await this.#read(key, signal, leftMs())
        if (found?.value === value) expected = found.version
        // The version from before does not prove that the write has failed, because the write may be under
        // way. So it is repeated.
        else if (found?.version !== expected) return { landed: false, found }
      } catch (error) {
        signal?.throwIfAborted()
        if (isFinal(error)) throw error
        cause = error
      }
      if (leftMs() <= pauseMs) throw this.#unknown(key, cause)
      await this.pause(pauseMs, signal)
    }
  }

  /**
   * Waits for half of a time, and for a random part of the rest, so that processes that began together drift
   * apart.
   */
  pause(ms: number, signal?: AbortSignal): Promise<void> {
    return this.wait(ms * (0.5 + this.#clock.random() / 2), signal)
  }

  /** Waits for a time. @throws the reason of the signal */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return sleep(this.#clock, ms, signal)
  }

  #call<T>(
    call: string,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T> | undefined,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<T | undefined> {
    const timeoutMs = Math.min(this.#callTimeoutMs, Math.max(0, withinMs))
    return callWithin({ call, store: this.store.name }, this.#clock, timeoutMs, signal, run)
  }

  #checkEntry(name: string, key: string | undefined, entry: unknown): StoreEntry | undefined {
    if (entry === undefined && key !== undefined) return undefined
    const of = entry as Partial<StoreEntry> | null
    const isEntry =
      typeof of === 'object' &&
      typeof of?.key === 'string' &&
      typeof of.value === 'string' &&
      typeof of.version === 'string' &&
      of.version !== ''
    if (isEntry && (key === undefined || of.key === key)) return of as StoreEntry
    throw this.#invalid(name, entry, 'a record { key, value, version } of three texts')
  }

  #unknown(key: string, cause: unknown): GraupelError {
    const { message = 'its answers did not tell in time' } = Object(cause) as Partial<Error>
    // The message of a call that failed ends with the remedy.
    const why = message.replace(/; try again$/, '')
    return new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `the store '${this.store.name}' may or may not have written ${show(key)}: ${why}; try again`,
      { cause },
    )
  }

  #invalid(name: string, answer: unknown, rule: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_INVALID',
      `${name}() of the store '${this.store.name}' answered ${show(answer)}; it has to answer ${rule}`,
    )
  }
}

/** Names a call of a store, for messages. */
export interface CallName {
  readonly call: string
  readonly store: string
}

/**
 * Makes one call of a store. The call ends by the deadline or the signal, even if the client hangs.
 *
 * @throws GraupelError `ERR_STORE_UNAVAILABLE`; an error of this package from the call; the reason of the
 * signal.
 */
export function callWithin<T>(
  { call, store }: CallName,
  clock: Pick<Clock, 'later'>,
  callTimeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T> | undefined,
): Promise<T | undefined> {
  const failure = (reason: string, cause?: unknown) =>
    new GraupelError('ERR_STORE_UNAVAILABLE', `${call}() of the store '${store}' ${reason}; try again`, { cause })
  return endWithin<T | undefined>(
    clock,
    callTimeoutMs,
    signal,
    run,
    () => failure(`did not answer within ${Math.ceil(callTimeoutMs)} ms`),
    // Errors of this package have a remedy in their message.
    (error) => (isGraupelError(error) ? error : failure(`failed: ${reasonOf(error)}`, error)),
  )
}

/** Whether another attempt would fail, too. */
function isFinal(error: unknown): boolean {
  const { code } = error as GraupelError
  return code === 'ERR_STORE_INVALID' || code === 'ERR_STORE_UNSAFE'
}

/** Adds the place of a store to an error of one of its calls, which does not name the store. @internal */
export function located(error: unknown, { shown }: { readonly shown: string }): unknown {
  const { code, message } = Object(error)
  if (code === 'ERR_STORE_UNAVAILABLE' && !message.includes(shown)) (error as Error).message = `${shown}: ${message}`
  return error
}
