import { show, typeError } from '../core/errors.js'
import { type Resolved, type Rows, readOptions, readRow, readRows } from '../core/options.js'
import { milliseconds, nameOfNumbers, part, whole, whole64 } from '../core/readers.js'
import { abortSignal } from '../core/signal.js'
import type { LeafAllocStore } from '../stores/leaf-alloc.js'
import { callTimeoutRow, storeOfUser } from '../stores/options.js'
import type { Store } from '../stores/store.js'
import type { SegmentHandle } from './handle.js'
import { maxStride, type Range } from './range.js'
import { type Steps, usualMaxStep } from './supply.js'

/**
 * The options of {@link createSegmentGenerator}. Every one is checked, and a name that does not exist is
 * refused.
 *
 * @example
 * const orders = await createSegmentGenerator({ store, name: 'orders', start: 1000, step: 100 })
 * orders.next() // 1000n
 * orders.close()
 */
export interface SegmentOptions {
  /**
   * The store of the segments: the result of a function of `graupel/stores/…`, a store of your own, or
   * `leafAllocStore(pool)`.
   */
  store: Store | LeafAllocStore
  /**
   * The name of the things that are numbered, such as `orders`: 1 to 128 characters, and at most 240 when it
   * is percent-encoded. With Leaf's table, the `biz_tag`.
   */
  name: string
  /**
   * The first number of a new name: 0 to `max`. A name that has numbers continues, or begins here if `start`
   * is higher. @default 1
   */
  start?: number | bigint
  /** No number is larger; at most 2^64 - 1. @default 2^63 - 1, which signed columns hold */
  max?: number | bigint
  /**
   * Every number n has n mod `stride` = `offset` mod `stride`, so that several stores side by side have
   * numbers of their own, as with `auto_increment_increment` of MySQL: 1 to 65 535.
   *
   * @default 1
   */
  stride?: number
  /**
   * The remainder of every number: 0 to `stride`. Required with a `stride` above 1, and refused without
   * `stride`. @default 0
   */
  offset?: number
  /**
   * How many numbers are fetched first: 1 to 2^53 - 1. With Leaf's table, the step of the row. @default 1000
   */
  step?: number
  /** The fewest that are fetched at once: 1 up to `step`. @default step */
  minStep?: number
  /** The most that are fetched at once: from `step` up to 2^53 - 1. @default 2^24, or step if that is more */
  maxStep?: number
  /**
   * How long a segment should last: milliseconds, 1 to 86 400 000. The step is doubled if a segment lasted
   * less, and halved if it lasted twice as long.
   *
   * @default 900 000
   */
  batchMs?: number
  /**
   * The part of a segment that is used before the next segment is fetched: 0 to 1. It is fetched sooner if
   * the rest would last for less than five calls. @default 0.8
   */
  prefetchAt?: number
  /**
   * How many numbers are skipped if the store may have forgotten numbers that were given: 0 to 2^63 - 1.
   *
   * @default 64 * maxStep
   */
  failoverGap?: number | bigint
  /** How long one call of the store may take: milliseconds, 1 to 600 000. @default 2000 */
  callTimeoutMs?: number
  /** Cancels the creation, which then rejects with the signal's reason. */
  signal?: AbortSignal
}

/** The options in another thread of the process. */
export interface SegmentHandleOptions {
  /** The handle of a generator in another thread. */
  handle: SegmentHandle
}

const maxSigned = 0x7fff_ffff_ffff_ffffn
const maxUnsigned = 0xffff_ffff_ffff_ffffn
const usualStep = 1000
/** The longest step. */
const most = Number.MAX_SAFE_INTEGER
/** The rest of a segment has to last for this many calls of the store. */
const leadCalls = 5

export const segmentRows = {
  store: { read: storeOrTable, isRequired: true },
  name: { read: nameOfNumbers, isRequired: true },
  start: {},
  max: { read: whole64, most: maxUnsigned, byDefault: maxSigned },
  stride: { read: whole, least: 1, most: maxStride },
  offset: {},
  step: { read: whole, least: 1 },
  minStep: {},
  maxStep: {},
  batchMs: { read: milliseconds, least: 1, most: 86_400_000, byDefault: 900_000 },
  prefetchAt: { read: part, byDefault: 0.8 },
  failoverGap: {},
  callTimeoutMs: callTimeoutRow,
  signal: { read: abortSignal },
} satisfies Rows<SegmentOptions>

type Read = Resolved<SegmentOptions, typeof segmentRows>

/** The options of segments, checked, with their defaults. */
export interface ResolvedOptions extends Pick<Read, 'store' | 'name' | 'callTimeoutMs' | 'signal'> {
  readonly range: Range
  readonly steps: Steps
  readonly failoverGap: bigint
}

export function isLeafAlloc(store: unknown): store is LeafAllocStore {
  return typeof (store as Partial<LeafAllocStore> | null)?.takeSegment === 'function'
}

function storeOrTable(name: string, value: unknown): Store | LeafAllocStore {
  return isLeafAlloc(value) ? value : storeOfUser(name, value)
}

/** @throws TypeError, RangeError by the codes that {@link createSegmentGenerator} lists. */
export function checkSegmentOptions(options: SegmentOptions): ResolvedOptions {
  const own = readOptions(options, Object.keys(segmentRows), '{ store, name }')
  if (isLeafAlloc(own.store)) refuseForLeaf(own)
  const read = readRows(own, segmentRows)
  const { store, name, callTimeoutMs, signal } = read
  const steps = readSteps(read)
  const gap = { read: whole64, most: maxSigned, byDefault: 64n * BigInt(steps.most ?? usualMaxStep) }
  const failoverGap = readRow('failoverGap', read.failoverGap, gap)
  return { store, name, range: readRange(read), steps, failoverGap, callTimeoutMs, signal }
}

/** Refuses the options of the range: a row of Leaf's table has its own range. */
function refuseForLeaf(options: SegmentOptions): void {
  for (const key of ['start', 'max', 'stride', 'offset', 'failoverGap'] as const) {
    if (options[key] === undefined) continue
    throw typeError(
      'ERR_OPTION_INVALID',
      `${key} is ${show(options[key])}, and the numbers of leafAllocStore() are those of its table; leave it out`,
    )
  }
}

function readRange({ start, max, stride, offset }: Read): Range {
  const width = stride ?? 1
  if (width > 1 && offset === undefined) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `stride is ${width}, and no offset is given; pass a different one for each store, so that their numbers are, too`,
    )
  }
  // Two stores with offsets 0 and 1 and a forgotten stride would give the same numbers.
  if (stride === undefined && offset !== undefined) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `offset is ${show(offset)}, and no stride is given; pass how many stores number side by side`,
    )
  }
  return {
    start: readRow('start', start, { read: whole64, most: max, byDefault: max < 1n ? 0n : 1n }),
    max,
    stride: width,
    offset: readRow('offset', offset, { read: whole, most: width, byDefault: 0 }),
  }
}

function readSteps({ store, step, minStep, maxStep, batchMs, prefetchAt, callTimeoutMs }: Read): Steps {
  const first = step ?? usualStep
  const isOfTable = isLeafAlloc(store) && step === undefined
  const least = readRow('minStep', minStep, { read: whole, least: 1, most: isOfTable ? most : first, byDefault: first })
  const longest = readRow('maxStep', maxStep, {
    read: whole,
    least: isOfTable ? (minStep ?? 1) : first,
    byDefault: Math.max(usualMaxStep, least, first),
  })
  return {
    first: isOfTable ? undefined : first,
    least: isOfTable && minStep === undefined ? undefined : least,
    most: isOfTable && maxStep === undefined ? undefined : longest,
    batchMs,
    prefetchAt,
    leadMs: leadCalls * callTimeoutMs,
  }
}
