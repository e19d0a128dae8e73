// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import type { EngineKind } from '../engine/choose.js'
import type { LeaseStats } from '../engine/source/shared-lease.js'
import type { DecodedId, Field, GivenId, GivenTags, IsNarrow, Layout, TagOf, TagValues } from '../layout/index.js'
import type { IdArray } from '../state/engine.js'

/**
 * A generator of ids, made by {@link createGenerator}: a {@link BaseGenerator}, with layouts of at most 53
 * bits also a {@link NarrowGenerator}, and with tags a {@link TagGenerator}. If TypeScript does not know the
 * layout, `nextNumber` is optional.
 *
 * @example
 * const ids = createGenerator({ node: 7 })
 * const text = ids.nextString()
 * ids.decode(text).node // 7
 */
export type IdGenerator<F extends readonly Field[] = readonly Field[]> = BaseGenerator<F> & NumbersOf<F> & TagsOf<F>

/**
 * The result of {@link createGenerator}: an {@link IdGenerator}; or, if a tag of the layout has to be chosen,
 * a {@link TagGenerator} without calls that make ids.
 */
export type GeneratorOf<F extends readonly Field[]> =
  string extends TagOf<F>
    ? IdGenerator<F>
    : [TagOf<F, 'tag'>] extends [never]
      ? IdGenerator<F>
      : TagGenerator<F> & Omit<BaseGenerator<F>, MakingCall>

/** The calls that make ids. @internal */
export type MakingCall = 'next' | 'nextString' | 'nextAsync' | 'fill' | 'fillAsync' | 'take' | typeof Symbol.iterator

/** The type of `with`, which layouts with tags have. @internal */
export type TagsOf<F extends readonly Field[]> =
  string extends TagOf<F>
    ? { with?(tags: GivenTags<F>): unknown }
    : [TagOf<F>] extends [never]
      ? unknown
      : TagGenerator<F>

/**
 * The member that only generators of layouts with tags have.
 *
 * @example
 * const layout = defineLayout({
 *   name: 'rows',
 *   epochMs: Date.UTC(2024, 0, 1),
 *   tickMs: 1,
 *   fields: [['timestamp', 41], ['worker', 8], ['shard', 6, 'tag'], ['sequence', 8]],
 * })
 * const ids = createGenerator({ node: 7, layout })
 * const shard = ids.with({ shard: 5 })
 * ids.decode(shard.next()).tags // { shard: 5 }
 */
export interface TagGenerator<F extends readonly Field[] = readonly Field[]> {
  /**
   * Returns a view: a generator whose ids have these tags. All views of a generator share its state, its
   * lease and its runs, so their ids are distinct even without the tags, and each slot is later than the one
   * before. Tags that have a default may be left out.
   *
   * @throws TypeError, RangeError `ERR_OPTION_INVALID` by the name of the tag; GraupelError `ERR_CLOSED`.
   */
  with(this: void, tags: GivenTags<F>): GeneratorView<F>
}

/**
 * A view of a generator, made by {@link TagGenerator.with}. Its `stats()` count its own ids and waits.
 * `close()` closes it alone; if its generator is closed, all views are.
 */
export type GeneratorView<F extends readonly Field[] = readonly Field[]> = BaseGenerator<F> &
  NumbersOf<F> &
  TagGenerator<F> & {
    /** The tags of its ids; frozen. */
    readonly tags: Readonly<TagValues<F>>
  }

/** The type of `nextNumber`, which depends on the layout. @internal */
export type NumbersOf<F extends readonly Field[]> = [IsNarrow<F>] extends [true]
  ? NarrowGenerator
  : [IsNarrow<F>] extends [false]
    ? WideGenerator
    : // Without the type of `this`, so that a wide generator is one of these.
      { nextNumber?(): number }

/** TypeScript refuses the call, and shows the reason as the type of `this`. @internal */
interface WideGenerator {
  nextNumber(this: 'ids of this layout have more than 53 bits; use next() or nextString(), or layouts.js53'): never
}

/**
 * The members that only generators of layouts of at most 53 bits have.
 *
 * @example
 * const ids = createGenerator({ node: 7, layout: layouts.js53 })
 * Number.isSafeInteger(ids.nextNumber()) // true
 */
export interface NarrowGenerator {
  /**
   * Makes one id as a number, which holds it exactly.
   *
   * @throws RangeError `ERR_NUMBER_UNSAFE` for a layout of more than 53 bits; otherwise as `next`.
   */
  nextNumber(this: void): number
}

/**
 * The members of every generator. All calls can be passed as functions: `texts.map(ids.decode)`.
 * `console.log` and `JSON.stringify` show layout, node, engine and state.
 *
 * @example
 * const { nextString } = createGenerator({ node: 7 })
 * nextString().length // 19
 */
export interface BaseGenerator<F extends readonly Field[] = readonly Field[]> extends Iterable<bigint>, Disposable {
  /** The fields of its ids and their widths. */
  readonly layout: Layout<F>
  /** Its node: all node fields as one number, the first field the most significant. */
  readonly node: number
  /** The engine that makes the ids. All generators of the node in this process have the same one. */
  readonly engine: EngineKind
  /** The memory of the last id, as in `stats()`. */
  readonly state: string
  /**
   * Makes one id. Blocks if the policy says to wait, for at most `maxWaitMs` milliseconds at a time.
   *
   * @throws GraupelError `ERR_CLOCK_ROLLBACK`, `ERR_SEQUENCE_OVERFLOW`, `ERR_CLOCK_BEFORE_EPOCH`,
   * `ERR_LAYOUT_EXPIRED`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CLONED`, `ERR_CLOSED`; `ERR_CLOCK_SKEW` after
   * an observed id; `ERR_STATE_UNREACHABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT` if
   * the memory of the node was deleted or replaced; TypeError, RangeError `ERR_CLOCK_INVALID`; TypeError
   * `ERR_OPTION_INVALID` if a function `onRollback` returns no action. With a lease also `ERR_LEASE_EXPIRED`;
   * `ERR_NODES_EXHAUSTED`, `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT` if the lease has ended by that error;
   * `ERR_STATE_FULL` if the lease has moved to another node. Nothing is issued then.
   */
  next(this: void): bigint
  /** Makes one id in decimal digits, as JSON and JavaScript clients need it. Blocks and throws as `next`. */
  nextString(this: void): string
  /**
   * Makes one id without blocking the event loop. It waits until a full tick has passed, however long that
   * is. After a step back of the clock it rejects if `next` would throw, except that it always waits for one
   * tick. Calls get their ids in the order in which they were made.
   */
  nextAsync(this: void): Promise<bigint>
  /**
   * Fills an array with ids in ascending order, and returns it. If the ids of a tick are used up, it waits
   * for the next tick, each time for at most `maxWaitMs` milliseconds. With `onRollback: 'reuse'` the order
   * is given up.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the
   * front hold ids.
   */
  fill<A extends IdArray>(this: void, array: A): A
  /**
   * Fills an array without blocking the event loop, which gets a turn after each 16 384 ids. It waits as
   * `nextAsync` does. Do not use the array before the promise settles.
   *
   * @throws as `fill`; the promise rejects.
   */
  fillAsync<A extends IdArray>(this: void, array: A): Promise<A>
  /** Makes `count` ids, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`. */
  take(this: void, count: number): bigint[]
  /** Decodes an id of this generator's layout. @throws TypeError, RangeError `ERR_ID_INVALID`. */
  decode(this: void, id: GivenId<F>): DecodedId<F>
  /**
   * Lets the next ids be larger than an id that this thread has received: whatever the clocks say, every id
   * that the thread makes on this node afterwards is larger. Other threads and processes follow with their
   * next reservation. docs/order.md says when that is needed, and what it costs.
   *
   * An id of the future leads the next ids ahead of the clock, by at most `maxAheadMs`. With `onRollback:
   * 'wait'` they wait instead; with `'reuse'` the order is given up.
   *
   * @param id - An id of this generator's layout, of any node; the layout begins with the timestamp.
   * @returns The id, as a bigint.
   * @throws TypeError, RangeError `ERR_ID_INVALID`, `ERR_CLOCK_INVALID`; GraupelError `ERR_CLOCK_SKEW` for an
   * id more than `maxAheadMs` ahead of the clock, `ERR_LAYOUT_EXPIRED` if the layout has no larger id,
   * `ERR_CLOCK_BEFORE_EPOCH`, `ERR_STATE_UNAVAILABLE`, `ERR_CLOSED`; RangeError `ERR_LAYOUT_INVALID` for a
   * layout whose ids do not sort by time. Nothing has changed then.
   */
  observe(this: void, id: GivenId<F>): bigint
  /**
   * Counts what this generator has done; after `close()`, what it had done by then.
   *
   * @throws the error of a `clock` function; GraupelError `ERR_CLOSED` if that has failed in `close()`.
   */
  stats(this: void): Stats
  /**
   * Closes the generator. Later calls throw `ERR_CLOSED`, and waiting ones reject with it. Closing twice does
   * nothing.
   */
  close(this: void): void
}

/**
 * The result of {@link BaseGenerator.stats}. It counts the work of this generator alone.
 *
 * @example
 * const ids = createGenerator({ node: 7 })
 * ids.take(3)
 * ids.stats().issued // 3
 */
export interface Stats {
  /** The engine that was chosen. */
  engine: EngineKind
  /**
   * The memory of the last id: `'host'`, `'process'`, `'thread'`, `'lease'`, or the path of the state file.
   */
  state: string
  /** Ids made. */
  issued: number
  /** Waits, for the clock or for the disk. */
  waits: number
  /** Milliseconds spent in waits. For calls that do not block, milliseconds by which they were put off. */
  waitedMs: number
  /** Steps back of the clock that were met. */
  rollbacks: number
  /** Ticks that were found used up. */
  overflows: number
  /** Ids of others that were observed. */
  observed: number
  /** Observed ids that were above the node's next id, so that the next id had to rise. */
  raised: number
  /** Ids that were refused because they were more than `maxAheadMs` ahead of the clock. */
  refused: number
  /**
   * Milliseconds by which the last id on this node, of all generators, is ahead of the clock, or an observed
   * id; 0 if neither is.
   */
  aheadMs: number
  /**
   * With a state file or a lease, ids stay before this time, in milliseconds since 1970, until it is renewed;
   * otherwise `null`.
   */
  ceilingMs: number | null
  /** With a lease: its node, its ceiling and its renewals. */
  lease?: LeaseStats
}
