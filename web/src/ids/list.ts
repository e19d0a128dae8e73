import { kindText } from '../../../src/kind/form.ts'
import { likelyEncodings, readAnyId, readId, type Writing } from './encodings.ts'
import { allColumns, columnOf, tableIn, textsOf } from './texts.ts'
import { Told, type Trouble } from './trouble.ts'
import { uuidIn } from './uuids.ts'

/** Number of faulty texts that are shown. */
const shownTroubles = 8

/** Number of texts that are read to find the encoding of all. */
const sampleTexts = 50

/** The ids of a paste, and the texts in it that are no ids. */
export interface IdList {
  readonly ids: BigUint64Array
  /** The UUIDs of a paste that has no ids, in small letters. Among ids, a UUID is a fault. */
  readonly uuids: readonly string[]
  /** The encoding of the ids; `undefined` if there are no ids. */
  readonly encoding: Writing | undefined
  /** Other encodings in which the first texts can be read. */
  readonly otherEncodings: readonly Writing[]
  readonly troubles: readonly { readonly line: number; readonly trouble: Trouble }[]
  readonly troubleCount: number
  /** The first decimal text that looks as if JavaScript has rounded it; `undefined` if there is none. */
  readonly rounded: string | undefined
  /** The preset of all ids, if the text around them says so. */
  readonly layout: string | undefined
  /** The columns of a table; empty for another paste. */
  readonly columns: readonly string[]
  /** The column that was read. */
  readonly column: string
}

/**
 * Reads all ids of a paste, and yields its progress.
 *
 * @param chosen - The encoding of all ids, or '' to find it out.
 * @param column - The column of a table that is read, as {@link textsOf} has it.
 */
export function* readList(text: string, chosen: Writing | '', nowMs: number, column = ''): Generator<number, IdList> {
  const common = chosen === '' ? commonEncodings(text, nowMs, column) : [chosen]
  const encoding = common[0]
  let ids = new BigUint64Array(64)
  let count = 0
  const troubles: { line: number; trouble: Trouble }[] = []
  let troubleCount = 0
  let first: Writing | undefined
  let rounded: string | undefined
  const uuids: string[] = []
  const uuidTroubles: typeof troubles = []
  const presets = new Set<string | undefined>()
  for (const { text: given, line, end, layout, fault } of textsOf(text, nowMs, column)) {
    if (((count + troubleCount + uuids.length) & 255) === 255) yield end / text.length
    if (fault !== undefined) {
      troubleCount++
      if (troubles.length < shownTroubles) troubles.push({ line, trouble: fault })
      continue
    }
    const one = withoutPrefix(given)
    const uuid = chosen === '' ? uuidIn(one) : undefined
    if (uuid !== undefined) {
      uuids.push(uuid)
      if (uuids.length <= shownTroubles)
        uuidTroubles.push({ line, trouble: { key: 'troubleUuid', values: { text: one } } })
      continue
    }
    try {
      const read = readOne(one, chosen, encoding, nowMs)
      first ??= read.encoding
      if (rounded === undefined && isRounded(one)) rounded = one
      if (count === ids.length) {
        const larger = new BigUint64Array(count * 2)
        larger.set(ids)
        ids = larger
      }
      ids[count++] = read.id
      presets.add(read.encoding === 'shortcode' ? 'instagram' : layout)
    } catch (error) {
      if (!(error instanceof Told)) throw error
      troubleCount++
      if (troubles.length < shownTroubles) troubles.push({ line, trouble: error.trouble })
    }
  }
  const table = tableIn(text)
  const read = {
    ids: ids.subarray(0, count),
    encoding: encoding ?? first,
    otherEncodings: common.slice(1),
    rounded,
    layout: presets.size === 1 ? [...presets][0] : undefined,
    columns: table?.names ?? [],
    column: table === undefined || column === allColumns ? column : (table.names[columnOf(table, column)] as string),
  }
  if (count === 0 || uuids.length === 0) return { ...read, uuids, troubles, troubleCount }
  const all = [...troubles, ...uuidTroubles].sort((a, b) => a.line - b.line).slice(0, shownTroubles)
  return { ...read, uuids: [], troubles: all, troubleCount: troubleCount + uuids.length }
}

/** Removes the prefix of a kind. A TypeID keeps its prefix, which tells it from a ULID. */
function withoutPrefix(text: string): string {
  const [, , digits] = kindText.exec(text) ?? []
  return digits?.length === 13 ? digits : text
}

/**
 * Whether a decimal text is what JavaScript prints for a number above 2^53: the 16 or 17 digits that tell the
 * number from others, and zeros. One id in a hundred looks like that by chance.
 */
function isRounded(text: string): boolean {
  return /^[1-9]\d{14,17}00$/.test(text) && String(Number(text)) === text
}

function readOne(text: string, chosen: Writing | '', common: Writing | undefined, nowMs: number) {
  if (chosen !== '') return { id: readId(text, chosen), encoding: chosen }
  if (common !== undefined) {
    try {
      return { id: readId(text, common), encoding: common }
    } catch {
      // A mixed paste may have this id in another encoding.
    }
  }
  return readAnyId(text, nowMs)
}

/**
 * Returns the encodings in which all of the first ids can be read. The likeliest for the first id comes
 * first.
 */
function commonEncodings(text: string, nowMs: number, column: string): Writing[] {
  let common: Writing[] | undefined
  let sampled = 0
  for (const { text: one, fault } of textsOf(text, nowMs, column)) {
    if (++sampled > sampleTexts) break
    const own = fault === undefined ? likelyEncodings(withoutPrefix(one), nowMs) : []
    if (own.length === 0) continue
    common = common === undefined ? own : common.filter((encoding) => own.includes(encoding))
  }
  return common ?? []
}
