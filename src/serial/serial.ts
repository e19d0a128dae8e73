import { rangeError, show, typeError } from '../core/errors.js'
import { composeId, type DecodedId, decode, type Field, type GivenId, type Layout } from '../layout/index.js'
import type { Unit, UnitTexts } from '../pattern/calendar.js'
import type { Lifetime } from './lifetime.js'
import type { NumberPart, SerialPart } from './parts.js'

/**
 * Writes ids as texts of one pattern, and reads them: a {@link BaseSerial}, whose `format` also takes numbers
 * if the layout has at most 53 bits.
 *
 * @example
 * const { format } = defineSerial({ pattern: '{yyyyMMddHHmmssSSS}-{node}-{sequence}', layout: layouts.js53 })
 * format(7) === format(7n) // true
 */
export type Serial<F extends readonly Field[] = readonly Field[]> = BaseSerial<F> & FormatOf<F>

/** The type of `format`, which depends on the layout. @internal */
interface FormatOf<F extends readonly Field[]> {
  readonly format: (id: GivenId<F>) => string
}

/**
 * The members of every serial. Made by {@link defineSerial}; frozen. Its calls can be passed as functions.
 *
 * @example
 * const pattern = '{yyyyMMddHHmmssSSS}-{node}-{sequence}'
 * const { format, sortable } = defineSerial({ pattern, layout: layouts.twitter })
 * format('1541815603606036480') // '20220628160740105-0378-0000'
 * sortable // true
 */
export interface BaseSerial<F extends readonly Field[] = readonly Field[]> {
  /**
   * Writes the text of an id.
   *
   * @param id - A bigint, or the id in decimal digits; of the serial's layout. A number, if this layout has
   * at most 53 bits.
   * @throws TypeError, RangeError `ERR_ID_INVALID` for anything but an id, or for an id that is too wide for
   * the layout.
   */
  readonly format: (id: bigint | string) => string
  /**
   * Reads the id of a text. Nothing is trimmed, skipped or filled up: `format` of the id gives the same text.
   *
   * @throws TypeError, RangeError `ERR_ID_INVALID` for a text that `format` makes of no id.
   */
  readonly parse: (text: string) => bigint
  /**
   * Whether texts, compared character by character, are ordered as their ids are: true if the pattern has
   * time, node and sequence in the same order as the layout, the largest unit of time first.
   */
  readonly sortable: boolean
  /** How many characters every text has. */
  readonly length: number
  /** The pattern, as it was given. */
  readonly pattern: string
  /** The layout of the ids. */
  readonly layout: Layout<F>
  /** The zone of date and time, as it was given; `'UTC'` if none was. */
  readonly timeZone: string
}

/** The text of an id, by parts that were checked. */
export function format(id: bigint | string, parts: readonly SerialPart[], layout: Layout, lifetime: Lifetime): string {
  const decoded = decode(id, layout)
  const time = lifetime.textsOf(decoded.timestampMs)
  let text = ''
  for (const part of parts) {
    if (part.kind === 'literal') text += part.literal
    else if (part.kind === 'unit') text += time[part.unit]
    else text += String(numberOf(part, decoded)).padStart(part.width, '0')
  }
  return text
}

function numberOf({ kind, placeholder }: NumberPart, { sequence, node, fields, tags }: DecodedId): number {
  if (kind === 'tag') return tags?.[placeholder] as number
  if (kind === 'sequence') return sequence
  return kind === 'node' ? node : (fields[placeholder] as number)
}

/** The id of a text, by parts that were checked. */
export function parse(text: string, parts: readonly SerialPart[], layout: Layout, lifetime: Lifetime): bigint {
  const time: Partial<Record<Unit, string>> = {}
  const fields: Record<string, number> = {}
  const tags: Record<string, number> = {}
  let node: number | undefined
  let sequence = 0
  let at = 0
  for (const part of parts) {
    const piece = text.slice(at, at + part.width)
    if (part.kind === 'literal') {
      if (piece !== part.literal)
        throw textError(text, `has ${show(piece)} at ${position(at)} in place of ${show(part.literal)}`)
    } else if (!/^[0-9]+$/.test(piece)) {
      throw textError(
        text,
        `has ${show(piece)} at ${position(at)}, where ${part.width} digits of ${nameOf(part)} stand`,
      )
    } else if (part.kind === 'unit') {
      time[part.unit] = piece
    } else {
      const value = Number(piece)
      if (value >= 2 ** part.bits) {
        throw textError(text, `has ${piece} for ${nameOf(part)}, which is at most ${2 ** part.bits - 1}`)
      }
      if (part.kind === 'sequence') sequence = value
      else if (part.kind === 'node') node = value
      else if (part.kind === 'tag') tags[part.placeholder] = value
      else fields[part.placeholder] = value
    }
    at += part.width
  }
  const timestampMs = lifetime.tickWith(time as Partial<UnitTexts>)
  if (typeof timestampMs === 'string') throw textError(text, timestampMs)
  return composeId({ timestampMs, node: node ?? fields, sequence, tags }, layout)
}

/** @throws TypeError, RangeError `ERR_ID_INVALID` unless it is text of that length */
export function checkText(text: unknown, length: number, pattern: string): asserts text is string {
  if (typeof text !== 'string') {
    throw typeError(
      'ERR_ID_INVALID',
      `the serial is ${show(text)} (${typeof text}); pass the text that format() returned`,
    )
  }
  if (text.length !== length) {
    throw textError(text, `has ${text.length} characters, and those of the pattern ${show(pattern)} have ${length}`)
  }
}

function textError(text: string, fault: string): RangeError {
  return rangeError(
    'ERR_ID_INVALID',
    `the serial ${show(text)} ${fault}; pass a text that this pattern and layout make`,
  )
}

function position(index: number): string {
  return `character ${index + 1}`
}

function nameOf(part: Exclude<SerialPart, { kind: 'literal' }>): string {
  return `{${part.kind === 'unit' ? part.unit : part.placeholder}}`
}
