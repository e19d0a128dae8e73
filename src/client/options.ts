import { rangeError, show, typeError } from '../core/errors.js'
import {
  callTimeoutFrom,
  checkName,
  checkSignal,
  endpointsFrom,
  fetchFrom,
  millisecondsFrom,
  prefetchAtFrom,
  readOptions,
  wholeFrom,
} from '../core/options.js'
import { checkMakesIds, type Field, genuineLayout, type Layout, layouts } from '../layout/index.js'

import type { Answer } from './answer.js'

/** The token of the service, or a function that gives a token for each request. */
export type Token = string | (() => string | Promise<string>)

/**
 * The part of `fetch` that a client uses: `fetch` of Node or a browser, or a function of your own that calls
 * it.
 */
export type ClientFetch = (
  url: string,
  init: {
    readonly method: 'GET'
    readonly headers: Record<string, string>
    readonly redirect: 'manual'
    readonly cache?: 'no-store'
    readonly credentials?: 'omit'
    readonly signal: AbortSignal
  },
) => Promise<Answer>

/** The options that clients of ids and of numbers have in common. */
export interface CommonOptions {
  /** The URL of the service: `http` or `https`, with a path if a proxy serves it below a path. */
  url?: string
  /** Several servers of one service, in place of `url`. The client begins with a random server. */
  urls?: readonly string[]
  /**
   * Goes to the service as `Authorization: Bearer …`. A function is called for each request, and once more if
   * the answer is 401.
   */
  token?: Token
  /**
   * How many ids the first batch has, and the smallest: 1 to `maxCount`. @default 1000, or `maxCount` if that
   * is less
   */
  count?: number
  /**
   * How many ids the largest batch has: 1 to 16 777 216. If the service allows fewer, the client asks for
   * fewer. @default 65 536
   */
  maxCount?: number
  /** The part of a batch that is used before the next batch is requested: 0 to 1. @default 0.5 */
  prefetchAt?: number
  /**
   * How long a batch should last, in milliseconds: 1 to 86 400 000. If a batch lasts less, the next batch is
   * larger. @default 1000
   */
  batchMs?: number
  /**
   * The age at which ids are dropped, in milliseconds from 1. @default 300 000; Infinity for numbers of a
   * segment
   */
  maxAgeMs?: number
  /**
   * How long one request and its answer may take, in milliseconds: 1 to 600 000. Longer than the 4 s after
   * which the service refuses a request whose store does not answer.
   *
   * @default 5000
   */
  callTimeoutMs?: number
  /**
   * How often a failed request is tried again, on the next server if there are several: 0 to 100. @default 4
   */
  retries?: number
  /**
   * How long `connect`, `nextAsync` and `fillAsync` wait until ids come, in milliseconds: 1 to 86
   * 400 000. @default 10 000
   */
  maxWaitMs?: number
  /** Does the requests. @default the global `fetch` */
  fetch?: ClientFetch
  /** Cancels `connect`. */
  signal?: AbortSignal
}

/**
 * The options of {@link connect} for ids.
 *
 * @example
 * const ids = await connect({ url: 'http://127.0.0.1:4728', count: 500, callTimeoutMs: 1000 })
 * ids.close()
 */
export interface ConnectOptions<F extends readonly Field[] = readonly Field[]> extends CommonOptions {
  /** The layout of the ids. The service must have a layout of this name. @default layouts.twitter */
  layout?: Layout<F>
  /** Ids have no segment; {@link SegmentConnectOptions} has one. */
  segment?: undefined
}

/** The options of {@link connect} for the numbers of a segment. */
export interface SegmentConnectOptions extends CommonOptions {
  /** The name of the segment: 1 to 128 characters. */
  segment: string
  /** Numbers of a segment have no layout. */
  layout?: undefined
}

/** Options that were checked, with their defaults. */
export interface ResolvedOptions {
  readonly urls: readonly string[]
  readonly token: Token | undefined
  readonly layout: Layout | undefined
  readonly segment: string | undefined
  readonly count: number
  readonly maxCount: number
  readonly prefetchAt: number
  readonly batchMs: number
  readonly maxAgeMs: number
  readonly callTimeoutMs: number
  readonly retries: number
  readonly maxWaitMs: number
  readonly fetch: ClientFetch
  readonly signal: AbortSignal | undefined
}

const optionNames = [
  'url',
  'urls',
  'token',
  'layout',
  'segment',
  'count',
  'maxCount',
  'prefetchAt',
  'batchMs',
  'maxAgeMs',
  'callTimeoutMs',
  'retries',
  'maxWaitMs',
  'fetch',
  'signal',
] as const satisfies (keyof ConnectOptions)[]

/** The service allows no more (`--max-count`). */
const maxMaxCount = 16_777_216

/**
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function checkConnectOptions(options: ConnectOptions | SegmentConnectOptions): ResolvedOptions {
  options = readOptions(options, optionNames, "{ url: 'http://127.0.0.1:4728' }")
  const { token, segment, signal, prefetchAt, fetch } = options
  checkSignal(signal)
  if (token !== undefined && typeof token !== 'function') checkToken(token)
  if (segment !== undefined) checkName(segment, 'segment')
  if (segment === '.' || segment === '..') {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `segment is ${show(segment)}, which a URL takes for a folder; use another name`,
    )
  }
  if (segment !== undefined && options.layout !== undefined) {
    throw typeError('ERR_OPTION_INVALID', 'layout and segment are both given; numbers of a segment have no layout')
  }
  const maxCount = wholeFrom('maxCount', options.maxCount, 65_536, 1, maxMaxCount)
  const layout = segment === undefined ? genuineLayout(options.layout ?? layouts.twitter) : undefined
  if (layout !== undefined) checkMakesIds(layout)
  return {
    urls: urlsOf(options),
    token,
    layout,
    segment,
    count: wholeFrom('count', options.count, Math.min(1000, maxCount), 1, maxCount),
    maxCount,
    prefetchAt: prefetchAtFrom(prefetchAt, 0.5),
    batchMs: millisecondsFrom('batchMs', options.batchMs, 1000, 1, 86_400_000),
    maxAgeMs: millisecondsFrom('maxAgeMs', options.maxAgeMs, segment === undefined ? 300_000 : Infinity, 1, Infinity),
    callTimeoutMs: callTimeoutFrom(options.callTimeoutMs, 5000),
    retries: wholeFrom('retries', options.retries, 4, 0, 100),
    maxWaitMs: millisecondsFrom('maxWaitMs', options.maxWaitMs, 10_000, 1, 86_400_000),
    fetch: fetchFrom(fetch) as ClientFetch,
    signal,
  }
}

/**
 * @throws TypeError, RangeError `ERR_OPTION_INVALID` for what cannot stand in a header. The token is not
 * shown.
 */
export function checkToken(token: unknown): asserts token is string {
  if (typeof token !== 'string') {
    throw typeError('ERR_OPTION_INVALID', `token is ${show(token)}; pass a text, or a function that returns one`)
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      'token is empty, or has spaces, line breaks or other characters that no header may have; pass it without them',
    )
  }
}

function urlsOf({ url, urls }: CommonOptions): string[] {
  if (url !== undefined && urls !== undefined) {
    throw typeError('ERR_OPTION_INVALID', 'url and urls are both given; pass one of them')
  }
  if (url === undefined && urls === undefined) {
    throw typeError('ERR_OPTION_INVALID', 'no url is given; pass the URL of the service, such as http://127.0.0.1:4728')
  }
  if (Array.isArray(url) || (urls !== undefined && !Array.isArray(urls))) {
    throw typeError('ERR_OPTION_INVALID', 'url is one text, and urls is an array of texts')
  }
  const rule = 'pass the scheme, the host, the port and a path, and the credentials as token'
  const all = endpointsFrom(url === undefined ? 'urls' : 'url', url ?? urls, rule)
  const twice = all.find((one, i) => all.indexOf(one) !== i)
  if (twice !== undefined) {
    throw rangeError('ERR_OPTION_INVALID', `urls has ${show(twice)} twice; pass each server once`)
  }
  return all
}
