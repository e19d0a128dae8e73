import { platform } from '#platform'
import { GraupelError, show } from '../core/errors.js'
import { readOptions } from '../core/options.js'
import type { PrefetcherClock } from '../numbers/prefetcher.js'
import { publish } from '../platform/events.js'
import { type CallClock, callWithin, StoreCalls } from '../stores/calls.js'
import type { LeafAllocStore } from '../stores/leaf-alloc.js'
import { tokenAt } from '../stores/record.js'
import { checkHandle } from './handle.js'
import {
  checkSegmentOptions,
  isLeafAlloc,
  type ResolvedOptions,
  type SegmentHandleOptions,
  type SegmentOptions,
} from './options.js'
import type { Segment, SegmentSource } from './range.js'
import { type SegmentGenerator, SegmentNumbers } from './segment-generator.js'
import { StoreSource } from './store-source.js'
import { LocalSupply } from './supply.js'
import { checkShareable, RemoteSupply } from './thread-channel.js'

/**
 * Creates a generator of numbers from segments: ranges of a store, of which the next is fetched while the
 * present range is used (docs/numbers.md). No number is given twice. The numbers that are left when a process
 * ends are never used.
 *
 * @param options - `store` and `name` are required; {@link SegmentOptions} describes all. In another thread,
 * pass only the `handle`.
 * @throws TypeError `ERR_OPTION_UNKNOWN`; TypeError, RangeError `ERR_OPTION_INVALID`; RangeError
 * `ERR_SEGMENT_OVERFLOW`; GraupelError `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`,
 * `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; `ERR_STATE_UNREACHABLE` while `node --build-snapshot` runs, and
 * for a handle where `handle` throws it; the reason of `signal`.
 * @example
 * const orders = await createSegmentGenerator({ store, name: 'orders' })
 * orders.next() // 1n
 * orders.close()
 */
export async function createSegmentGenerator(
  options: SegmentOptions | SegmentHandleOptions,
): Promise<SegmentGenerator> {
  const given: Partial<SegmentHandleOptions & SegmentOptions> = Object(options)
  if (Object.hasOwn(given, 'handle')) {
    const { handle, ...others } = given
    if (handle !== undefined || others.store === undefined) return follow(options as SegmentHandleOptions)
    // Beside a store, a handle that is undefined is not given.
    return createSegmentGenerator(others as SegmentOptions)
  }
  const resolved = checkSegmentOptions(options as SegmentOptions)
  resolved.signal?.throwIfAborted()
  return begin(resolved)
}

async function begin(options: ResolvedOptions): Promise<SegmentGenerator> {
  const { name, range, steps, callTimeoutMs, signal } = options
  const { max, stride } = range
  const { monotonicMs, random, later, background } = platform
  const clock = { monotonicMs, random, later, background }
  const source = makeSource(options, clock)
  const onNews = (failure: Error | undefined) => {
    if (failure !== undefined) publish('segments', { type: 'failed', store: source.name, name, error: failure })
  }
  const supply = await LocalSupply.begin(source, { name, max, stride, steps, callTimeoutMs, onNews }, clock, signal)
  return new SegmentNumbers({ name, store: source.name, max, stride }, supply, clock)
}

/** @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_OPTION_INVALID`; GraupelError `ERR_STATE_UNREACHABLE` */
function follow(options: SegmentHandleOptions): SegmentGenerator {
  const { handle } = readOptions(options, ['handle'], '{ handle }')
  checkHandle(handle)
  checkShareable()
  const { monotonicMs, later } = platform
  return new SegmentNumbers(handle, new RemoteSupply(handle, later), { monotonicMs, later })
}

/** Makes the source of segments that the options describe. It fetches nothing yet. */
export function makeSource(
  options: ResolvedOptions,
  { monotonicMs, random, background }: PrefetcherClock,
): SegmentSource {
  const { store, name, range, failoverGap, callTimeoutMs } = options
  // The process may end while no call waits for the store. The fetcher keeps it alive while a call waits.
  const clock = { monotonicMs, random, later: background }
  if (isLeafAlloc(store)) return leafSource(store, name, clock, callTimeoutMs)
  return new StoreSource(new StoreCalls(store, clock, callTimeoutMs), {
    segments: name,
    range,
    failoverGap,
    writeMs: 2 * callTimeoutMs,
    monotonicMs,
    newToken: () => tokenAt(monotonicMs()),
    onGap: (from, count) => publish('segments', { type: 'skipped', store: store.name, name, from, count }),
  })
}

function leafSource(table: LeafAllocStore, tag: string, clock: CallClock, callTimeoutMs: number): SegmentSource {
  const { name } = table
  return {
    name,
    take: async (count, signal) => {
      const call = { call: 'takeSegment', store: name }
      const taken = await callWithin(call, clock, callTimeoutMs, signal, (own) => table.takeSegment(tag, count, own))
      return checkSegment(taken, name)
    },
  }
}

/** Checks the answer of a table of the user. A segment without numbers would be fetched again without end. */
function checkSegment(taken: unknown, store: string): Segment {
  const { first, count } = Object(taken) as Partial<Segment>
  const isFine =
    typeof first === 'bigint' &&
    Number.isSafeInteger(count) &&
    (count as number) >= 1 &&
    first >= 0n &&
    first + BigInt(count as number) <= 2n ** 63n
  if (isFine) return { first, count: count as number }
  throw new GraupelError(
    'ERR_STORE_INVALID',
    `takeSegment() of the store '${store}' answered ${show(taken)} with first ${show(first)} and count ${show(count)}; it has to answer numbers from 0 to 2^63 - 1, a bigint and how many`,
  )
}
