import type { Layout, TextEncoding } from 'graupel'
import { shown } from '../failure.js'
import { heldCountOf, type Load, type NumberLoads } from '../http/load.js'
import { wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import type { RunRule } from '../http/runs.js'
import type { Source, TakingLog } from '../http/taking-log.js'
import type { Tokens } from '../http/tokens.js'
import type { Options } from '../options/table.js'
import { type Observe, readAfter } from '../routes/after.js'
import { maxCounts } from '../routes/counters.js'
import type { Decoder } from '../routes/decode.js'
import type { ServedLayouts } from '../routes/ids.js'
import { type GivenTags, readTags } from '../routes/tags.js'
import type { Service } from '../service.js'
import type { NumberForm } from './replies.js'

// Says which numbers a key stands for: ids of a layout, counts of a counter, or numbers of a segment.

/** The beginning of the keys of ids. The name of a layout follows. */
export const idPrefix = 'id:'

/** The objects that commands answer from. */
export interface Sources {
  readonly service: Service
  readonly options: Options
  readonly layouts: ServedLayouts
  readonly loads: NumberLoads
  readonly decode: Decoder
  /** The layouts of {@link decode}, by their names. */
  readonly readable: ReadonlyMap<string, Layout>
  /** `undefined` if the service needs no token. */
  readonly tokens: { readonly value: Tokens } | undefined
  /** `undefined` without `--log-ids`. */
  readonly takings: TakingLog | undefined
}

/** Numbers that a command asks for. */
export interface Demand {
  /** Equal demands of a read are answered by one call of `take`. */
  readonly key: string
  readonly load: Load
  readonly from: Source
  /** The strides of its numbers, which counts do not have. */
  readonly rule: RunRule
  readonly count: number
  /** Texts of counts are sent as they are unless it is `integer`. */
  readonly form: NumberForm
  /** Whether each number is larger than the one before. */
  readonly isAscending?: boolean
  /** Whether only the last of the numbers is sent, and they have to be consecutive. */
  readonly isBlock?: boolean
  /** The words that change its ids. Demands with other words are answered by other calls of `take`. */
  readonly wish?: string
  /**
   * Takes as many numbers as the array has elements, and returns the array, or the texts of counts.
   *
   * @param gone - Aborts when the client has left.
   */
  take(array: BigUint64Array<ArrayBuffer>, gone: () => AbortSignal): Promise<BigUint64Array | readonly string[]>
}

const noTags: GivenTags = new Map()
const consecutive: RunRule = { stride: 1, fixed: 0n }

/** @throws Problem, NameError */
export function demandOf(key: string, count: number, sources: Sources): Demand {
  if (key.startsWith(idPrefix)) return idsOf(key, count, sources)
  const { service, loads, options } = sources
  const { respCounters } = options
  if (respCounters !== undefined && key.startsWith(respCounters)) {
    service.counters.check(key)
    return {
      key: `counter:${key}`,
      load: loads.counters,
      from: { kind: 'counter', name: key },
      rule: consecutive,
      count,
      // With a pattern always text: the texts of a pattern such as `{count:6}` begin to look like integers.
      form: options.counters?.[key]?.pattern === undefined ? 'integer' : 'decimal',
      take: async ({ length }, gone) => (await service.counters.get(key)).take(length, gone()),
    }
  }
  service.segments.check(key)
  return {
    key: `segment:${key}`,
    load: loads.segments,
    from: { kind: 'segment', name: key },
    rule: { ...consecutive, stride: options.segments?.[key]?.stride ?? 1 },
    count,
    form: 'integer',
    take: async (array) => (await service.segments.get(key)).fillAsync(array),
  }
}

/** Returns the demand for a block of which the last number is sent, as Redis does. */
export function blockOf(key: string, text: string, sources: Sources): Demand {
  if (key.startsWith(idPrefix)) {
    throw new Problem('ERR_OPTION_INVALID', `INCRBY came with ${shown(key)}, and ids are no block; use ID.NEXT`)
  }
  const { respCounters, segments } = sources.options
  const isCounter = respCounters !== undefined && key.startsWith(respCounters)
  const count = wholeNumber('n', 1, isCounter ? maxCounts : heldCountOf(sources.options)).read('n', text)
  if (count > 1 && !isCounter && (segments?.[key]?.stride ?? 1) > 1) {
    throw new Problem(
      'ERR_OPTION_INVALID',
      `the segment ${shown(key)} has a stride, so its numbers are no block; use INCR`,
    )
  }
  return { ...demandOf(key, count, sources), isBlock: true }
}

/** The form of ids, the id that they have to be larger than, and their tags. */
export interface IdWish {
  /** @default 'decimal' */
  readonly form?: TextEncoding | undefined
  /** Written in this form. */
  readonly after?: string | undefined
  readonly tags?: GivenTags
}

export function idsOf(key: string, count: number, { layouts }: Sources, wish: IdWish = {}): Demand {
  const layout = layouts.get(key.slice(idPrefix.length))
  if (!key.startsWith(idPrefix) || layout === undefined) {
    const known = [...layouts.keys()].map((name) => idPrefix + name)
    throw new Problem(
      'ERR_NAME_UNKNOWN',
      `the key is ${shown(key)}, and only ids can be read; give ${known.join(', ')}`,
    )
  }
  const { source, load, numbers } = layout
  const from = { kind: 'id', name: source.layout.name } as const
  const { form = 'decimal', after, tags = noTags } = wish
  const bits = readTags(source.layout, tags, (tag) => `TAG ${tag}`)
  const observe: Observe | undefined = after === undefined ? undefined : readAfter('AFTER', after, form, source.layout)
  const take = (array: BigUint64Array<ArrayBuffer>) => {
    observe?.(source)
    return source.fill(array, bits)
  }
  // Ids of other layouts do not sort by time.
  const isAscending = source.layout.fields[0]?.[0] === 'timestamp'
  return { key, load, from, rule: numbers.runs, count, form, isAscending, wish: `${form} ${after} ${bits}`, take }
}
