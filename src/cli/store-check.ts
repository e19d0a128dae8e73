import { setImmediate } from 'node:timers/promises'
import { platform } from '#platform'
import { endWithin, sleep } from '../core/timing.js'
import { leaseRows } from '../lease/options.js'
import type { StoreCalls } from '../stores/calls.js'
import { newScratchFolder } from '../stores/record.js'
import type { Store } from '../stores/store.js'
import { storeContract } from '../stores/testing.js'
import { type Check, durabilityOf, messageOf, type Result, serverOf } from './checks.js'
import type { OpenStore } from './store.js'

/** How many reads, and how many writes, are timed. */
const rounds = 21
/** How long one rule of the contract may take. */
const ruleMs = 30_000
/** How long a write whose outcome is not known may be under way. */
const lateMs = 1000
/**
 * How many calls in a row may fail before no further record is removed: a silent store takes 2 s for each.
 */
const mostFailures = 3

/** How many characters the longest name of a check has. */
export const nameWidth = 'conditions'.length

/** The results of all checks, and the line about records that could not be removed, if there are any. */
interface Checked {
  readonly checks: readonly Check[]
  readonly left: Check | undefined
}

/** The store has failed. It has not given an answer that breaks a rule. */
class StoreFailure extends Error {}

/**
 * Checks a store by scratch records, and removes them. If the store fails, the rest of the checks is left
 * out.
 *
 * @param signal - Ends the checks. The scratch records are removed then, too.
 * @param ended - Is called with each check as soon as it has ended.
 * @param limitMs - How long one rule of the contract may take.
 */
export async function checkStore(
  { calls }: OpenStore,
  signal: AbortSignal,
  ended: (check: Check) => Promise<unknown>,
  limitMs = ruleMs,
): Promise<Checked> {
  const scratch = new Scratch(calls, signal)
  const checks: Check[] = []
  let isOver = false
  const add = async (check: Check) => {
    checks.push(check)
    await ended(check)
  }
  /** Returns whether the check is not bad. */
  const run = async (check: string, work: () => Promise<Result>): Promise<boolean> => {
    if (isOver || signal.aborted) return false
    try {
      await add({ check, ...(await work()) })
    } catch (error) {
      // An interrupted check has no result.
      if (signal.aborted) return false
      isOver = error instanceof StoreFailure || Object(error).code === 'ERR_STORE_UNAVAILABLE'
      await add({ check, state: 'bad', text: messageOf(error) })
    }
    return checks.at(-1)?.state !== 'bad'
  }
  // The rules write some hundred records, so the store has to remove one record first.
  const isRemovable = await run('conditions', () => conditions(scratch.store))
  if (isRemovable) await run('contract', () => contract(scratch.store, limitMs))
  await run('clock', () => clock(calls))
  if (isRemovable) await run('round trip', () => roundTrip(scratch.store))
  await run('durability', () => durabilityOf(calls))
  await run('server', () => serverOf(calls))
  const names = await scratch.remove()
  if (names.length === 0) return { checks, left: undefined }
  const text = `could not remove ${names.join(', ')}; remove these records by hand`
  const left: Check = { check: 'left', state: 'bad', text }
  if (!signal.aborted) await add(left)
  return { checks, left }
}

/** A store that notes the keys that are written, so that their records can be removed. */
class Scratch {
  readonly store: Store
  readonly #calls: StoreCalls
  readonly #keys = new Set<string>()
  /** The calls under way, with the keys that they write. */
  readonly #running = new Map<Promise<unknown>, string | undefined>()
  /** Whether a write may land later. */
  #isLate = false
  /** Whether the records are removed. A rule that was given up may go on, and its next call is refused. */
  #isOver = false

  constructor(calls: StoreCalls, stopped: AbortSignal) {
    this.#calls = calls
    const { store } = calls
    // A call that has begun is not cancelled, because its outcome would not be known.
    const begin = async <T>(call: () => Promise<T>, written?: string): Promise<T> => {
      // A client of SQLite never waits, so no signal of the system would be heard.
      await setImmediate()
      stopped.throwIfAborted()
      if (this.#isOver) throw new StoreFailure('the check is over')
      const running = call()
      this.#running.set(running, written)
      try {
        return await running
      } catch (cause) {
        throw new StoreFailure(messageOf(cause), { cause })
      } finally {
        this.#running.delete(running)
      }
    }
    const { nowMs, incarnation } = store
    this.store = {
      name: store.name,
      durable: store.durable,
      read: (key, signal) => begin(() => store.read(key, signal)),
      list: (folder, signal) => begin(() => store.list(folder, signal)),
      write: (key, value, expected, signal) => {
        this.#keys.add(key)
        return begin(() => store.write(key, value, expected, signal), key).catch((error) => {
          if (!stopped.aborted && !signal?.aborted) this.#isLate = true
          throw error
        })
      },
      ...(store.remove && {
        remove: (key, expected, signal) => begin(async () => removeBy(store, key, expected, signal)),
      }),
      ...(nowMs && { nowMs: (signal, key) => nowMs.call(store, signal, key) }),
      ...(incarnation && { incarnation: (signal, key) => incarnation.call(store, signal, key) }),
      // Without add(), because nothing removes a sum. Leases, segments and counters do not use it.
    }
  }

  /** Removes all records. Returns the keys that may still have one. */
  async remove(): Promise<string[]> {
    this.#isOver = true
    const pause = () => sleep(platform, lateMs)
    if (this.#running.size > 0) {
      await Promise.race([Promise.allSettled(this.#running.keys()), pause()])
      this.#isLate ||= this.#running.size > 0
    }
    let left = await this.#removeAll([...this.#keys])
    if (this.#isLate || left.length > 0) {
      await pause()
      left = await this.#removeAll([...this.#keys])
    }
    const written = [...this.#running.values()].filter((key) => key !== undefined)
    return [...new Set([...left, ...written])]
  }

  async #removeAll(keys: readonly string[]): Promise<string[]> {
    const left: string[] = []
    let failures = 0
    for (const key of keys) {
      if (failures >= mostFailures) {
        left.push(key)
        continue
      }
      try {
        const found = await this.#calls.read(key)
        const isGone = found === undefined || (await this.#calls.remove(key, found.version)) === true
        failures = 0
        if (!isGone) left.push(key)
      } catch {
        failures++
        left.push(key)
      }
    }
    return left
  }
}

async function removeBy(store: Store, key: string, expected: string, signal: AbortSignal | undefined) {
  return store.remove?.(key, expected, signal) ?? false
}

/**
 * Proves that the store refuses what it has to refuse. Some servers accept a condition, and write anyway.
 */
async function conditions(store: Store): Promise<Result> {
  const key = `${newScratchFolder()}conditions`
  const first = await store.write(key, 'first', undefined)
  if (first === undefined) throw new Error('a write of a key without a record was refused')
  const refused = async (what: string, expected: string | undefined) => {
    if ((await store.write(key, what, expected)) === undefined) return
    throw new Error(`${what} was accepted, so two processes would have one node: do not use this store`)
  }
  await refused('a second create of a key', undefined)
  const second = await store.write(key, 'second', first)
  if (second === undefined) throw new Error('a write over the present version was refused')
  await refused('a write over an old version', first)
  if (store.remove === undefined)
    throw new Error(`the store '${store.name}' has no remove(), so a check would leave records`)
  if (!(await store.remove(key, second))) throw new Error('a scratch record was not removed')
  return { state: 'ok', text: 'a second create, and a write over an old version, were refused' }
}

async function contract(store: Store, limitMs: number): Promise<Result> {
  const cases = storeContract(async () => store)
  for (const { name, run } of cases) {
    try {
      const late = () => new StoreFailure(`no answer within ${limitMs / 1000} s`)
      await endWithin(platform, limitMs, undefined, run, late)
    } catch (error) {
      if (error instanceof StoreFailure) {
        throw new StoreFailure(`the store failed during the rule '${name}': ${error.message}`)
      }
      throw new Error(`the rule '${name}' is broken: ${messageOf(error)}`)
    }
  }
  return { state: 'ok', text: `all ${cases.length} rules hold` }
}

async function clock(calls: StoreCalls): Promise<Result> {
  const [beforeMs, startMs] = [Date.now(), performance.now()]
  const nowMs = await calls.nowMs()
  if (nowMs === undefined) return { state: 'note', text: "it has no clock, so leases use the host's" }
  const tookMs = performance.now() - startMs
  const aheadMs = Math.round(nowMs - (beforeMs + tookMs / 2))
  const text = `${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} this host's, known to ${Math.ceil(tookMs / 2)} ms`
  const mostMs = leaseRows.maxClockSkewMs.byDefault
  if (Math.abs(aheadMs) - tookMs / 2 <= mostMs) return { state: 'ok', text }
  return { state: 'bad', text: `${text}; leases allow ${mostMs} ms: set the clocks by NTP, or pass maxClockSkewMs` }
}

async function roundTrip(store: Store): Promise<Result> {
  const key = `${newScratchFolder()}time`
  let version: string | undefined
  const [reads, writes] = [[], []] as [number[], number[]]
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now()
    version = await store.write(key, `${round}`, version)
    const writtenMs = performance.now()
    await store.read(key)
    writes.push(writtenMs - startMs)
    reads.push(performance.now() - writtenMs)
  }
  const text = `a read takes ${median(reads)} ms, a write ${median(writes)} ms (medians of ${rounds})`
  return { state: 'ok', text }
}

function median(times: readonly number[]): string {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number).toFixed(1)
}
