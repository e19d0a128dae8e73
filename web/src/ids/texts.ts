import { kindText } from '../../../src/kind/form.ts'
import { isBytes } from './encodings.ts'

/** A text of a paste that may be an id. */
export interface IdText {
  readonly text: string
  /** The line of the paste, counted from 1. */
  readonly line: number
  /** The position in the paste at which the line ends. */
  readonly end: number
}

/**
 * The most characters that are read as one JSON text. A longer one is read as lines, because parsing cannot
 * pause.
 */
const maxJson = 1_000_000

/** The properties of JSON that have ids: those of the id service, and those that end with "id". */
const idProperty = /^(?:numbers|counts|uuids?)$|(?:^i|_i|I)[dD]s?$/

/** One number with separators between its thousands, of at least 16 digits. */
const grouped = /^\d{1,3}([,._'’\s])\d{3}(?:\1\d{3}){4,5}$/

/**
 * Splits a paste: one id a line, or several with spaces, commas or semicolons between them, also in quotes,
 * brackets, JSON or URLs.
 */
export function* textsOf(text: string): Generator<IdText> {
  const ofJson = idsOfJson(text)
  if (ofJson !== undefined) {
    for (const one of ofJson) yield { text: one, line: 1, end: text.length }
    return
  }
  let line = 0
  for (let start = 0; start < text.length; ) {
    line++
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const whole = text.slice(start, end).trim()
    start = end + 1
    for (const part of partsOf(whole)) yield { text: part, line, end }
  }
}

function partsOf(line: string): string[] {
  if (/^[0-9A-Za-z]+$/.test(line)) return [bare(line)]
  if (isBytes(line)) return [line]
  if (grouped.test(line)) return [line.replace(/\D/g, '')]
  const ofJson = idsOfJson(line)
  if (ofJson !== undefined) return ofJson
  return line
    .replace(/\w+\(\d+\)/g, ' ')
    .split(/[\s,;]+/)
    .map((part) => part.replace(/^[[{'"`(]+|[\]}'"`)]+$/g, ''))
    .map((part) => idOfUrl(part) ?? bare(part))
    .filter((part) => part !== '')
}

/**
 * Removes the `n` that JavaScript prints after a bigint, and the prefix of a kind. A TypeID keeps its prefix,
 * which tells it from a ULID.
 */
function bare(text: string): string {
  const [, , digits] = kindText.exec(text) ?? []
  return digits?.length === 13 ? digits : text.replace(/^(\d+)n$/, '$1')
}

/**
 * Returns the id that an address leads to: a tweet, or a Discord message, whose id stands behind the ids of
 * its server and channel.
 */
function idOfUrl(text: string): string | undefined {
  return /^https?:/i.test(text) ? text.match(/(?<=\/)\d{15,20}\b/g)?.at(-1) : undefined
}

/** Returns the ids of an object or an array in JSON; `undefined` if the text is no JSON, or has no ids. */
function idsOfJson(text: string): string[] | undefined {
  const trimmed = text.length > maxJson ? '' : text.trim()
  if (!/^[[{]/.test(trimmed) || isBytes(trimmed)) return undefined
  let value: unknown
  try {
    // Numbers become texts, because JSON.parse rounds them.
    value = JSON.parse(trimmed.replace(/(?<=[[,:]\s*)\d{16,20}(?=\s*[,\]}])/g, '"$&"'))
  } catch {
    return undefined
  }
  const found = [...idsIn(value, Array.isArray(value))]
  return found.length === 0 ? undefined : found
}

/** @param isId - Whether a text or a number at this place is an id. */
function* idsIn(value: unknown, isId: boolean): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* idsIn(one, isId)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) yield* idsIn(one, idProperty.test(name))
  } else if (isId && (typeof value === 'string' || typeof value === 'number')) yield bare(String(value))
}
