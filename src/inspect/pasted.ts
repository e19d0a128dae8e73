import { kindText } from '../kind/form.js'
import { pastedUuid } from '../uuid/decode.js'
import { addressedId } from './addresses.js'
import { otherIdOf } from './other-ids.js'
import type { Part } from './part.js'
import { readShortcode } from './shortcode.js'

/** Matches eight pairs of hex digits with separators, or after PostgreSQL's `\x`. */
export const bytePairs: RegExp =
  /^\[?(?:\\x(?:[0-9a-f]{2}){8}|(?:(?:0x)?[0-9a-f]{2}[\s:,-]+){7}(?:0x)?[0-9a-f]{2})\]?$/i

/** Matches eight numbers in the form in which a Uint8Array is printed. */
export const byteNumbers: RegExp = /^\[?\s*(?:\d{1,3}\s*,\s*){7}\d{1,3}\s*\]?$/

/** Tells one id in bytes from a line with several ids. */
function isBytes(line: string): boolean {
  return bytePairs.test(line) || byteNumbers.test(line)
}

/**
 * The most characters that are read as one JSON text. A longer one is read as lines, because parsing cannot
 * pause.
 */
const maxJson = 1_000_000

/**
 * The properties of JSON and the columns that have ids: the names of the id service, and names that end with
 * "id".
 */
export const idName: RegExp = /^(?:numbers|counts|uuids?)$|(?:^i|_i|I)[dD]s?$/

/** One number with separators between its thousands, of at least 16 digits. */
const grouped = /^\d{1,3}([,._'’\s])\d{3}(?:\1\d{3}){4,5}$/

/**
 * Matches a number, rounded or not, and a text as long as an id in an encoding. A word of small letters is a
 * word: one id of 6 000 in base62 has only such digits.
 */
const idForm =
  /^(?![A-Z]?[a-z]+$)(?:-?\d+(?:\.\d+)?(?:[eE]\+?\d+)?n?|0x[0-9A-Fa-f]+|(?:[0-9A-Za-z]{11}|[0-9A-Za-z]{13}|[0-9A-Za-z]{16}))$/

/**
 * Matches the ids in a longer text, which are those that nothing else looks like: addresses, mentions and
 * emoji of Discord, `ID_USER` of Instagram, UUIDs, and numbers of 15 to 20 digits without a sign.
 */
const embedded =
  /(?<address>https?:\/\/[^\s<>"'`()[\]{}]+)|<(?:@[!&]?|#|a?:\w+:|\/[^<>]+:)(?<discord>\d{15,20})>|(?<![0-9a-z])(?:(?<instagram>\d{15,20})_\d+|(?<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|(?<!\d\.)(?<!\B-)(?<number>\d{15,20}))(?![0-9a-z]|\.\d)/gi

/**
 * Splits a line: one id, or several with spaces, commas or semicolons between them, also in quotes, brackets
 * or JSON. If a word is no id, only the ids are taken that nothing else looks like, and a fault says so.
 */
export function partsOf(given: string, nowMs: number): Part[] {
  const line = plain(given).trim()
  if (/^[0-9A-Za-z]+$/.test(line)) return [{ text: bare(line) }]
  if (isBytes(line)) return [{ text: line }]
  if (grouped.test(line)) return [{ text: line.replace(/\D/g, '') }]
  const ofJson = idsOfJson(line, nowMs)
  if (ofJson !== undefined) return ofJson.map((text) => ({ text }))
  const words = line
    .replace(/\b\w+\(\d{1,14}\)/g, ' ')
    .split(/[\s,;]+/)
    .map((word) => bare(withoutBrackets(word)))
    .filter((word) => word !== '')
  if (words.every((word) => isWord(word, nowMs))) return words.map((text) => ({ text, ...layoutOf(text) }))
  const found = [...line.matchAll(embedded)].flatMap((match) => partOf(match) ?? [])
  const [first] = found
  if (first === undefined) {
    const [word = line, ...others] = words
    return others.length === 0 ? [{ text: word }] : [{ text: line, fault: { key: 'troubleNoIds' } }]
  }
  // An address or a mention is one thing, of which nothing is left out.
  if (first.whole === line && first.isUnit) return [first]
  const taken = found.filter(({ fault }) => fault === undefined).map(({ text }) => text)
  return [
    ...found,
    {
      text: line,
      fault: { key: 'troubleLeft', values: { text: shortened(line), taken: shortened(taken.join(', ')) } },
    },
  ]
}

function partOf({ 0: whole, groups = {} }: RegExpMatchArray): (Part & { whole: string; isUnit: boolean }) | undefined {
  const { address, discord, instagram, uuid, number } = groups
  if (address !== undefined) {
    const found = addressedId(address)
    return found && { ...found, whole, isUnit: true }
  }
  const text = discord ?? instagram ?? uuid ?? (number as string)
  const layout = discord === undefined ? instagram && 'instagram' : 'discord'
  return { text, ...(layout && { layout }), whole, isUnit: discord !== undefined }
}

/** Whether a word is an id, a UUID, a text of a kind, or an id that another library made. */
function isWord(word: string, nowMs: number): boolean {
  return (
    idForm.test(word) ||
    kindText.test(word) ||
    pastedUuid(word) !== undefined ||
    readShortcode(word) !== undefined ||
    otherIdOf(word, nowMs) !== undefined
  )
}

/** Only a shortcode of Instagram has a sign among its 11 characters. */
function layoutOf(word: string): { layout?: string } {
  return /[-_]/.test(word) && readShortcode(word) !== undefined ? { layout: 'instagram' } : {}
}

/** Removes what nobody sees, such as a byte order mark, and writes full-width characters as usual ones. */
function plain(text: string): string {
  return text
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
}

/** Removes brackets and quotes around a word, and the name of a function before them. */
function withoutBrackets(word: string): string {
  let end = word.length
  // A pattern would begin anew at each of many brackets.
  while (/[\]}'"`)]/.test(word[end - 1] ?? '')) end--
  return word.slice(0, end).replace(/^(?:\w+\(|[[{'"`(])+/, '')
}

/** Removes the `n` that JavaScript prints after a bigint. */
function bare(text: string): string {
  return text.replace(/^(\d+)n$/, '$1')
}

/** Shortens a text for a message. */
export function shortened(text: string): string {
  return text.length > 44 ? `${text.slice(0, 40)}…` : text
}

/**
 * Matches a text or a number of JSON. A text without an end goes to the end, and a number in the place of a
 * name to its colon.
 */
const jsonValue = /"(?:[^"\\]|\\.?)*(?:"|$)|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*:)?/gs

/**
 * Returns the ids of an object or an array in JSON; `undefined` if the text is no JSON, has no ids under
 * their names, or has ids inside longer texts, too. Such a text is searched as a line of a log is.
 */
export function idsOfJson(text: string, nowMs: number): string[] | undefined {
  const trimmed = text.length > maxJson ? '' : text.trim()
  if (!/^[[{]/.test(trimmed) || isBytes(trimmed)) return undefined
  let value: unknown
  try {
    // Numbers become texts, because JSON.parse rounds them.
    value = JSON.parse(trimmed.replace(jsonValue, (one) => (/^"|:$/.test(one) ? one : `"${one}"`)))
  } catch {
    return undefined
  }
  const found: string[] = []
  for (const [text, isId] of textsIn(value, Array.isArray(value))) {
    if (isId && isWord(text, nowMs)) found.push(text)
    else if ([...text.matchAll(embedded)].some((match) => match[0] !== text && partOf(match))) return undefined
  }
  return found.length === 0 ? undefined : found
}

/**
 * Yields the texts in a value, without recursion, because values may be nested deeply.
 *
 * @param isId - Whether a text at this place is an id.
 */
function* textsIn(value: unknown, isId: boolean): Generator<[text: string, isId: boolean]> {
  const left: [unknown, boolean][] = [[value, isId]]
  while (left.length > 0) {
    const [one, isId] = left.pop() as [unknown, boolean]
    if (typeof one !== 'object' || one === null) yield [bare(plain(String(one))), isId]
    else if (Array.isArray(one)) for (const inner of one.reverse()) left.push([inner, isId])
    else for (const [name, inner] of Object.entries(one).reverse()) left.push([inner, idName.test(name)])
  }
}
