import { rangeError, show, typeError } from '../core/errors.js'
import { type Resolved, type Rows, readRow, readTable } from '../core/options.js'
import { endpointsFrom, fetcher, globalFetch, milliseconds, nameOfNumbers, part, whole } from '../core/readers.js'
import { abortSignal } from '../core/signal.js'
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

export const connectRows = {
  url: {},
  urls: {},
  token: { read: tokenOfUser },
  layout: {},
  segment: { read: nameOfSegment },
  count: {},
  // The service allows no more (`--max-count`).
  maxCount: { read: whole, least: 1, most: 16_777_216, byDefault: 65_536 },
  prefetchAt: { read: part, byDefault: 0.5 },
  batchMs: { read: milliseconds, least: 1, most: 86_400_000, byDefault: 1000 },
  maxAgeMs: { read: milliseconds, least: 1, most: Infinity },
  callTimeoutMs: { read: milliseconds, least: 1, most: 600_000, byDefault: 5000 },
  retries: { read: whole, most: 100, byDefault: 4 },
  maxWaitMs: { read: milliseconds, least: 1, most: 86_400_000, byDefault: 10_000 },
  fetch: { read: fetcher, byDefault: globalFetch },
  signal: { read: abortSignal },
} satisfies Rows<ConnectOptions>

type Read = Resolved<ConnectOptions, typeof connectRows>

/** Options that were checked, with their defaults. */
export interface ResolvedOptions extends Omit<Read, 'urls' | 'layout' | 'count' | 'maxAgeMs'> {
  readonly urls: readonly string[]
  readonly layout: Layout | undefined
  readonly count: number
  readonly maxAgeMs: number
}

/**
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function checkConnectOptions(options: ConnectOptions | SegmentConnectOptions): ResolvedOptions {
  const read = readTable(options as ConnectOptions, connectRows, "{ url: 'http://127.0.0.1:4728' }")
  const { segment, maxCount } = read
  if (segment !== undefined && read.layout !== undefined) {
    throw typeError('ERR_OPTION_INVALID', 'layout and segment are both given; numbers of a segment have no layout')
  }
  const layout = segment === undefined ? genuineLayout(read.layout ?? layouts.twitter) : undefined
  if (layout !== undefined) checkMakesIds(layout)
  // The name is a part of each URL.
  if (layout?.name.isWellFormed() === false) {
    throw typeError('ERR_LAYOUT_INVALID', `the layout's name is ${show(layout.name)}; pass well-formed text`)
  }
  return {
    ...read,
    urls: urlsOf(read),
    layout,
    count: readRow('count', read.count, { read: whole, least: 1, most: maxCount, byDefault: Math.min(1000, maxCount) }),
    maxAgeMs: read.maxAgeMs ?? (segment === undefined ? 300_000 : Infinity),
  }
}

function nameOfSegment(name: string, value: unknown): string {
  const segment = nameOfNumbers(name, value)
  if (segment !== '.' && segment !== '..') return segment
  throw rangeError(
    'ERR_OPTION_INVALID',
    `segment is ${show(segment)}, which a URL takes for a folder; use another name`,
  )
}

function tokenOfUser(_: string, token: unknown): Token {
  if (typeof token === 'function') return token as Token
  checkToken(token)
  return token
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

function urlsOf({ url, urls }: Read): string[] {
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
