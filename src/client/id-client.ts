// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import type { MakingCall, NarrowGenerator, NumbersOf } from '../generator/id-generator.js'
import type { DecodedId, Field, GivenId, GivenTags, Layout, TagOf, TagValues } from '../layout/index.js'
import type { IdArray } from '../state/engine.js'
import type { ServerStats } from './server.js'

/**
 * Hands out ids of a service, made by {@link connect}: a {@link BaseClient} and a {@link LayoutClient}. With
 * layouts of at most 53 bits it also has `nextNumber()`, which is optional if TypeScript does not know the
 * layout.
 *
 * @example
 * const ids = await connect({ url: 'http://127.0.0.1:4728' })
 * const text = ids.nextString()
 * ids.decode(text).sequence >= 0 // true
 * ids.close()
 */
export type IdClient<F extends readonly Field[] = readonly Field[]> = BaseClient &
  LayoutClient<F> &
  NumbersOf<F> &
  ClientTagsOf<F>

/**
 * The result of {@link connect} for ids: an {@link IdClient}; or, if a tag of the layout has to be chosen, a
 * {@link TagClient} without calls that hand out ids.
 */
export type ClientOf<F extends readonly Field[]> =
  string extends TagOf<F>
    ? IdClient<F>
    : [TagOf<F, 'tag'>] extends [never]
      ? IdClient<F>
      : TagClient<F> & LayoutClient<F> & Omit<BaseClient, MakingCall>

/** The type of `with`, which layouts with tags have. @internal */
type ClientTagsOf<F extends readonly Field[]> =
  string extends TagOf<F> ? { with?(tags: GivenTags<F>): unknown } : [TagOf<F>] extends [never] ? unknown : TagClient<F>

/**
 * The member that only clients of layouts with tags have.
 *
 * @example
 * const layout = defineLayout({
 *   name: 'rows', // the service has a layout of this name and these fields
 *   epochMs: Date.UTC(2024, 0, 1),
 *   tickMs: 1,
 *   fields: [['timestamp', 41], ['worker', 8], ['shard', 6, 'tag'], ['sequence', 8]],
 * })
 * async function insert(shard = 5) {
 *   const ids = await connect({ url: 'http://127.0.0.1:4728', layout })
 *   return ids.with({ shard }).nextAsync() // ids.decode(id).tags is { shard }
 * }
 */
export interface TagClient<F extends readonly Field[] = readonly Field[]> {
  /**
   * Returns a view: a client whose ids have these tags. All views of a client share its batches and its
   * requests, so ids are ready for each of them, and are distinct even without the tags. Tags that have a
   * default may be left out.
   *
   * @throws TypeError, RangeError `ERR_OPTION_INVALID` by the name of the tag; GraupelError `ERR_CLOSED`.
   */
  with(this: void, tags: GivenTags<F>): ClientView<F>
}

/**
 * A view of a client, made by {@link TagClient.with}. Its `stats()` and its `observe()` are those of the
 * client. `close()` closes it alone; if its client is closed, all views are.
 */
export type ClientView<F extends readonly Field[] = readonly Field[]> = BaseClient &
  LayoutClient<F> &
  NumbersOf<F> &
  TagClient<F> & {
    /** The tags of its ids; frozen. */
    readonly tags: Readonly<TagValues<F>>
  }

/**
 * Hands out numbers of a segment, made by {@link connect} with `segment`. `nextNumber` throws
 * `ERR_NUMBER_UNSAFE` above 2^53 - 1.
 */
export type NumberClient = BaseClient & NarrowGenerator

/** The members that clients of ids have, and clients of numbers have not. */
export interface LayoutClient<F extends readonly Field[] = readonly Field[]> {
  /** The fields of its ids and their widths. */
  readonly layout: Layout<F>
  /** Decodes an id of this layout. @throws TypeError, RangeError `ERR_ID_INVALID`. */
  decode(this: void, id: bigint | string): DecodedId<F>
  /**
   * Lets the next ids be larger than an id that this program has received, whatever the clocks of the hosts
   * say (docs/order.md). Drops the fetched ids that are not larger, and every later request asks for ids
   * above it. Does not wait.
   *
   * @param id - An id of this client's layout, of any node; the layout begins with the timestamp.
   * @returns The id, as a bigint.
   * @throws TypeError, RangeError `ERR_ID_INVALID`; GraupelError `ERR_CLOCK_SKEW` for an id more than 1000
   * ms, or two ticks, ahead of the clock of the service, `ERR_CLOSED`; RangeError `ERR_LAYOUT_INVALID` for a
   * layout whose ids do not sort by time. Nothing has changed then. A later call for ids throws
   * `ERR_CLOCK_SKEW` if the service refuses the id, which is forgotten then.
   */
  observe(this: void, id: GivenId<F>): bigint
}

/**
 * The members of every client. Its calls are the calls of an IdGenerator, and can be passed as functions. No
 * id is handed out twice.
 */
export interface BaseClient extends Iterable<bigint>, Disposable {
  /**
   * Hands out one id that was fetched. Does not wait.
   *
   * @throws GraupelError `ERR_EMPTY` if the next ids are on their way; `ERR_SERVICE_UNAVAILABLE`,
   * `ERR_SERVICE_REFUSED`, `ERR_SERVICE_INVALID` if they could not be fetched, which starts another attempt;
   * `ERR_CLOCK_SKEW` if the service has refused an observed id; `ERR_CLOSED`.
   */
  next(this: void): bigint
  /** Hands out one id in decimal digits. @throws as `next` */
  nextString(this: void): string
  /**
   * Hands out one id, and waits for the service if none is left. Calls get their ids in the order in which
   * they were made.
   *
   * @throws GraupelError `ERR_SERVICE_UNAVAILABLE`, `ERR_SERVICE_REFUSED`, `ERR_SERVICE_INVALID`,
   * `ERR_CLOCK_SKEW` as `next`; `ERR_CLOSED`
   */
  nextAsync(this: void): Promise<bigint>
  /**
   * Fills an array, and returns it.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the
   * front hold ids.
   */
  fill<A extends IdArray>(this: void, array: A): A
  /**
   * Fills an array, and waits for the service. Do not use the array before the promise settles. @throws as
   * `fill` and `nextAsync`
   */
  fillAsync<A extends IdArray>(this: void, array: A): Promise<A>
  /**
   * Hands out `count` ids, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`.
   */
  take(this: void, count: number): bigint[]
  /** Counts what this client has done and has left. */
  stats(this: void): ClientStats
  /**
   * Closes the client and ends its requests. The ids that are left are never used. Later calls throw
   * `ERR_CLOSED`, and waiting calls reject with it.
   */
  close(this: void): void
}

/** The result of {@link BaseClient.stats}. */
export interface ClientStats {
  /** Ids that were handed out. */
  issued: number
  /** Ids that can be handed out without the service. */
  left: number
  /**
   * Ids that were fetched and dropped: they were too old, not above an observed id, or came after `close()`.
   */
  dropped: number
  /** How many ids the next request asks for. It asks for fewer if the service allows fewer. */
  count: number
  /** Batches that have come. */
  batches: number
  /** Requests that were sent, to all servers. */
  requests: number
  /** Requests that have failed. */
  failures: number
  /** Why the last batch could not be fetched; empty after a batch that was. */
  failure: string
  /** The counts of each server. */
  servers: ServerStats[]
}
