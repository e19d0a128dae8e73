import { platform } from '#platform'
import { closedError, GraupelError, rangeError, showTime, typeError } from '../core/errors.js'
import { type Clock, onAbort } from '../core/timing.js'
import {
  checkOrder,
  checkTags,
  type DecodedId,
  decode,
  type Field,
  type GivenId,
  type GivenTags,
  type Layout,
  type layouts,
  missingTag,
  requiredTag,
  shiftTags,
  type TagValues,
  usualAheadMs,
} from '../layout/index.js'
import { FetchedNumbers } from '../numbers/fetched.js'
import { Numbers } from '../numbers/numbers.js'
import { Prefetcher } from '../numbers/prefetcher.js'
import { Queue } from '../numbers/queue.js'
import { type MoreNumbers, noNumbers } from '../numbers/source.js'
import { Batches } from './batches.js'
import type { BaseClient, ClientOf, ClientStats, IdClient, NumberClient } from './id-client.js'
import {
  type ConnectOptions,
  checkConnectOptions,
  type ResolvedOptions,
  type SegmentConnectOptions,
} from './options.js'
import type { Batch } from './runs.js'
import type { Server } from './server.js'
import { Service } from './service.js'
import { TaggedNumbers } from './tagged.js'

/** The batches and requests of a client, which its views share. */
class Shared {
  readonly batches: Batches
  readonly service: Service
  readonly prefetcher: Prefetcher<Batch>
  readonly more: FetchedNumbers
  readonly clock: Clock
  readonly #options: ResolvedOptions

  constructor(options: ResolvedOptions, clock: Clock) {
    const { count, maxCount, batchMs, maxWaitMs } = options
    const batches = new Batches(options, clock, () => this.prefetcher.ask())
    const service = new Service(options, clock, batches)
    this.#options = options
    this.clock = clock
    this.batches = batches
    this.service = service
    this.prefetcher = new Prefetcher({
      name: nameOf(options),
      clock,
      stock: batches,
      rule: { least: count, most: maxCount, batchMs },
      fetch: (wanted, signal) => this.#fetch(wanted, signal),
      add: (batch, perMs) => batches.add(batch, perMs),
      drop: (batch) => batches.drop(batch),
      isRepeated: false,
      maxWaitMs,
      late: () => service.late(),
    })
    this.more = new FetchedNumbers(batches, this.prefetcher, (failure) => this.#emptyError(failure))
  }

  async #fetch(wanted: number, signal: AbortSignal): Promise<Batch> {
    // A request takes some 40 µs to begin: a timer, signals, `fetch`. The call that asks for ids, which may
    // be `next()`, does not wait.
    await undefined
    signal.throwIfAborted()
    const count = Math.min(this.#options.maxCount, Math.max(this.batches.batchSize, wanted))
    return this.service.fetch(count, signal, (batch, server) => this.#checkAge(batch, server))
  }

  /**
   * Refuses ids that are too old already. A call that waits would find nothing, and ask again without an end.
   */
  #checkAge(batch: Batch, { url }: Server): void {
    const { maxAgeMs } = this.#options
    const ageMs = this.batches.ageOf(batch)
    if (ageMs < maxAgeMs) return
    this.batches.drop(batch)
    throw new GraupelError(
      'ERR_SERVICE_UNAVAILABLE',
      `${url} took ${Math.round(ageMs)} ms to answer, and ids are dropped after maxAgeMs (${maxAgeMs}); raise maxAgeMs`,
    )
  }

  #emptyError(failure: Error | undefined): unknown {
    // Only now, because the caller learns from this error that the next ids may be smaller.
    if ((failure as GraupelError | undefined)?.code === 'ERR_CLOCK_SKEW') this.batches.forget()
    if (failure !== undefined) return againOf(failure)
    return new GraupelError(
      'ERR_EMPTY',
      `${nameOf(this.#options)} has no id ready: the next ids come in a later turn of the event loop; await nextAsync()`,
    )
  }
}

/** Names a client in messages. */
function nameOf({ urls }: ResolvedOptions): string {
  return `the id client of ${urls.join(', ')}`
}

/** The class behind {@link connect}. @internal */
class Client extends Numbers implements BaseClient {
  readonly #options: ResolvedOptions
  readonly #shared: Shared
  /** The client and the tags of a view. */
  readonly #viewed: { readonly client: Client; readonly tags: TagValues } | undefined
  /** The numbers of a view. */
  readonly #tagged: TaggedNumbers | undefined
  /** The first tag that has to be chosen, if none is. */
  readonly #missing: string | undefined

  constructor(
    options: ResolvedOptions,
    shared: Shared,
    viewed?: { readonly client: Client; readonly tags: TagValues },
  ) {
    const { layout } = options
    const missing = viewed ? undefined : layout && requiredTag(layout)
    const { batches } = shared
    const tagged = viewed && layout && new TaggedNumbers(batches, shiftTags(layout, viewed.tags))
    super('IdClient', missing === undefined ? (tagged ?? batches) : noNumbers)
    this.#options = options
    this.#shared = shared
    this.#viewed = viewed
    this.#tagged = tagged
    this.#missing = missing
  }

  /** Waits for the first ids. @throws GraupelError as `nextAsync` */
  async begin(): Promise<void> {
    const shared = this.#shared
    await shared.prefetcher.arrival(1, shared.clock.monotonicMs())
    if (!shared.batches.left) throw shared.service.late()
  }

  get layout(): Layout {
    return this.#options.layout as Layout
  }

  get tags(): TagValues | undefined {
    return this.#viewed?.tags
  }

  get with(): (tags: GivenTags) => Client {
    return Numbers.made(this, 'with', (of) => (tags) => of.#view(tags))
  }

  #view(given: GivenTags): Client {
    const { layout, segment } = this.#options
    if (layout === undefined) throw typeError('ERR_OPTION_INVALID', `numbers of the segment '${segment}' have no tags`)
    const tags = Object.freeze(checkTags(layout, given, 'the view'))
    return new Client(this.#options, this.#shared, { client: this.#ownerIfOpen(), tags })
  }

  get decode(): (id: bigint | string) => DecodedId<readonly Field[]> {
    return Numbers.made(this, 'decode', (of) => (id) => {
      const { layout, segment } = of.#options
      if (layout !== undefined) return decode(id, layout)
      throw typeError('ERR_OPTION_INVALID', `numbers of the segment '${segment}' have no layout to decode`)
    })
  }

  get observe(): (id: GivenId) => bigint {
    return Numbers.made(this, 'observe', (of) => (id) => of.#observe(id))
  }

  #observe(given: GivenId): bigint {
    const { layout, segment } = this.#options
    if (layout === undefined) {
      throw typeError('ERR_OPTION_INVALID', `numbers of the segment '${segment}' have no time, so none is observed`)
    }
    this.#ownerIfOpen()
    checkOrder(layout)
    const { timestampMs, node } = decode(given, layout)
    const id = BigInt(given)
    const { batches } = this.#shared
    const { serviceMs } = batches
    const aheadMs = timestampMs - serviceMs
    // The service has the same bound.
    const maxAheadMs = usualAheadMs(layout)
    if (id > batches.observed && aheadMs > maxAheadMs) {
      throw new GraupelError(
        'ERR_CLOCK_SKEW',
        `the id ${id} of node ${node} has the time ${showTime(timestampMs)}, and the clock of the service shows at most ${showTime(serviceMs)}; its ids run ahead by up to ${maxAheadMs} ms. Compare the clocks of the hosts, and observe only ids that you trust`,
        { retryAfterMs: Math.ceil(aheadMs - maxAheadMs) },
      )
    }
    batches.observe(id)
    return id
  }

  /** Returns the client of a view, or this client. @throws GraupelError `ERR_CLOSED` */
  #ownerIfOpen(): Client {
    const owner = this.#viewed?.client ?? this
    if (this.isClosed || owner.isClosed) throw closedError(this.object())
    return owner
  }

  get stats(): () => ClientStats {
    return Numbers.made(this, 'stats', (of) => () => of.#stats())
  }

  #stats(): ClientStats {
    const { batches, prefetcher, service } = this.#shared
    return {
      issued: batches.taken,
      left: batches.left,
      dropped: batches.dropped,
      count: batches.batchSize,
      batches: batches.added,
      failure: prefetcher.failure?.message ?? '',
      ...service.stats(),
    }
  }

  toJSON() {
    const { urls, layout, segment } = this.#options
    const { tags } = this
    return { urls, ...(layout === undefined ? { segment } : { layout: layout.name }), ...(tags && { tags }) }
  }

  protected object(): string {
    return nameOf(this.#options)
  }

  protected get idLayout(): Layout | undefined {
    return this.#options.layout
  }

  protected queue(more: MoreNumbers): Queue {
    return new Queue(more, true, this.#shared.clock)
  }

  protected more(): MoreNumbers {
    const { layout } = this.#options
    if (this.#missing !== undefined && layout) throw missingTag(layout, this.#missing, this.object())
    return this.#shared.more
  }

  protected end(): void {
    this.#tagged?.close()
    if (this.#viewed !== undefined) return
    this.#shared.batches.clear()
    this.#shared.prefetcher.close()
  }
}

/** Copies a failure, so that each call that fails by it can add its own `filled`. */
function againOf(failure: Error): unknown {
  if (!(failure instanceof GraupelError)) {
    const { code, message } = Object(failure)
    // The function `token` may return a text that is refused.
    if (failure instanceof TypeError) return typeError(code, message)
    return failure instanceof RangeError ? rangeError(code, message) : failure
  }
  const { code, message, status, retryAfterMs } = failure
  return new GraupelError(code, message, {
    cause: failure.cause ?? failure,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

/**
 * Connects to an id service (`graupel-server`), and fetches ids ahead, so that calls do not wait for it
 * (docs/client.md). No id is handed out twice. The ids that are left when a client ends are never used.
 *
 * @param options - `url` or `urls` is required; {@link ConnectOptions} describes all. With `segment`, numbers
 * of that segment.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`;
 * RangeError `ERR_LAYOUT_DECODE_ONLY`; GraupelError `ERR_SERVICE_UNAVAILABLE`, `ERR_SERVICE_REFUSED`,
 * `ERR_SERVICE_INVALID`; `ERR_STATE_UNREACHABLE` while `node --build-snapshot` runs; the reason of `signal`.
 * @example
 * const ids = await connect({ url: 'http://127.0.0.1:4728' })
 * ids.next() // a bigint
 * ids.close()
 */
export function connect(options: SegmentConnectOptions): Promise<NumberClient>
export function connect<const F extends readonly Field[] = layouts.Twitter>(
  options: ConnectOptions<F>,
): Promise<ClientOf<F>>
export async function connect(options: ConnectOptions | SegmentConnectOptions): Promise<BaseOf> {
  return connectBy(options, platform)
}

type BaseOf = IdClient & NumberClient

/** Connects by clocks of a test. @internal */
export async function connectBy(options: ConnectOptions | SegmentConnectOptions, clocks: Clock): Promise<BaseOf> {
  const resolved = checkConnectOptions(options)
  const { signal } = resolved
  signal?.throwIfAborted()
  const client = new Client(resolved, new Shared(resolved, clocks))
  const cancel = onAbort(signal, () => client.close())
  try {
    await client.begin()
    return client as unknown as BaseOf
  } catch (error) {
    client.close()
    throw signal?.aborted ? signal.reason : error
  } finally {
    cancel()
  }
}
