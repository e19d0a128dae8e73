import { platform } from '#platform'
import { GraupelError, show } from '../core/errors.js'
import { publish } from '../core/events.js'
import { readOptions } from '../core/options.js'
import { type CallClock, callWithin, StoreCalls } from '../stores/calls.js'
import type { LeafAllocStore } from '../stores/leaf-alloc.js'
import { tokenAt } from '../stores/token.js'
import { Fetcher, type FetcherClock } from './fetcher.js'
import { checkHandle, makeHandle, type SegmentHandle } from './handle.js'
import { SegmentMemory } from './memory.js'
import { Numbers } from './numbers.js'
import {
  checkSegmentOptions,
  isLeafAlloc,
  type SegmentChoice,
  type SegmentHandleOptions,
  type SegmentOptions,
} from './options.js'
import type { SegmentGenerator } from './segment-generator.js'
import type { Segment, SegmentSource } from './source.js'
import { StoreSource } from './store-source.js'
import { hasChannels, RemoteSupply, ServingThread } from './thread-channel.js'

/**
 * Makes numbers of segments: ranges that are taken from a store, one while the one before is used (docs/numbers.md). No number is given
 * twice; those that a process has left when it ends are given to no other.
 *
 * @param options - `store` and `name` are required; {@link SegmentOptions} describes all. In another thread, the `handle` alone.
 * @throws TypeError `ERR_OPTION_UNKNOWN`; TypeError, RangeError `ERR_OPTION_INVALID`; RangeError `ERR_SEGMENT_OVERFLOW`; GraupelError
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`, `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; the reason of `signal`.
 * @example
 * const orders = await createSegmentGenerator({ store: memoryStore(), name: 'orders' })
 * orders.next() // 1n
 * orders.close()
 */
export async function createSegmentGenerator(
  options: SegmentOptions | SegmentHandleOptions,
): Promise<SegmentGenerator> {
  if (Object.hasOwn(Object(options), 'handle')) return follow(options as SegmentHandleOptions)
  const choice = checkSegmentOptions(options as SegmentOptions)
  choice.signal?.throwIfAborted()
  return begin(choice)
}

async function begin(choice: SegmentChoice): Promise<SegmentGenerator> {
  const { name, range, steps, callTimeoutMs, signal } = choice
  const memory = SegmentMemory.make(range.stride)
  let serving: ServingThread | undefined
  const { monotonicMs, random, later, background } = platform
  const clock = { monotonicMs, random, later, background }
  const source = sourceOf(choice, clock)
  const fetcher = new Fetcher({
    name,
    source,
    memory,
    steps,
    clock,
    onNews: (failure) => {
      if (failure !== undefined) publish('segments', { type: 'failed', store: source.name, name, error: failure })
      serving?.tell(failure)
    },
  })
  await fetcher.begin(signal)

  let handle: SegmentHandle | undefined
  const { max, stride } = range
  const share = () => {
    if (!hasChannels()) throw unshareable()
    if (handle === undefined) {
      const channel = `graupel segments ${crypto.randomUUID()}`
      handle = makeHandle({ name, store: source.name, max, stride, callTimeoutMs, channel, memory: memory.memory })
      serving = new ServingThread(channel, fetcher)
    }
    return handle
  }
  const supply = {
    ask: () => fetcher.ask(),
    arrival: () => fetcher.arrival(),
    get failure() {
      return fetcher.failure
    },
    close: () => {
      fetcher.close()
      serving?.close()
    },
  }
  return new Numbers({ name, store: source.name, max, stride, memory, supply, isShared: false, share })
}

/** @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_OPTION_INVALID`; GraupelError `ERR_STATE_UNREACHABLE` */
function follow(options: SegmentHandleOptions): SegmentGenerator {
  const { handle } = readOptions(options, ['handle'], '{ handle }')
  checkHandle(handle)
  if (!hasChannels()) throw unshareable()
  const { name, store, max, stride } = handle
  const memory = new SegmentMemory(handle.memory, stride)
  const supply = new RemoteSupply(handle, memory, platform.later)
  return new Numbers({ name, store, max, stride, memory, supply, isShared: true, share: () => handle })
}

function sourceOf(choice: SegmentChoice, { monotonicMs, random, background }: FetcherClock): SegmentSource {
  const { store, name, range, failoverGap, callTimeoutMs } = choice
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

/** A table of the user's own may answer anything, and a segment without numbers would be fetched again without end. */
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

function unshareable(): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    'this platform has no memory that threads share, or no BroadcastChannel; create a generator in each thread',
  )
}
