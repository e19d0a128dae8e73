import type { TextEncoding } from 'graupel'
import type { Answer } from './documentation.js'
import { contentTypes, hasTexts, headersOf, mediaTypes, type Representation } from './media.js'
import { oneOf, type Parameter, representationOf } from './parameters.js'
import { Problem } from './problems.js'

const representations = ['json', 'text', 'bytes', 'runs', 'runs-json'] as const
/** The texts of a number of 64 bits. */
export const textEncodings = ['decimal', 'hex', 'base32', 'base58', 'base62'] as const satisfies readonly TextEncoding[]

/** How numbers of 64 bits are sent. @typeParam E - The names of their texts. */
export interface Form<E extends string> {
  readonly representation: Representation
  readonly encoding: E | 'decimal'
}

/**
 * Makes the parameter `format`.
 *
 * @param what - The numbers, in the plural: `ids`.
 * @param encodings - The names of their texts, beginning with `decimal`.
 */
export function formatOf<E extends string>(what: string, encodings: readonly E[]): Parameter<E | Representation> {
  return oneOf(
    `how ${what} are written; ${representations.join(', ')} choose the representation if a client cannot set Accept`,
    [...encodings, ...representations],
    encodings[0],
  )
}

const isRepresentation = (format: string): format is Representation =>
  representations.some((representation) => representation === format)

/** Returns the form that `format` and `Accept` ask for. @throws Problem */
export function formOf<E extends string>(format: E | Representation | undefined, accept: string | undefined): Form<E> {
  if (format !== undefined && isRepresentation(format)) return { representation: format, encoding: 'decimal' }
  const representation = representationOf(accept, representations)
  if (format === undefined) return { representation, encoding: 'decimal' }
  if (hasTexts(representation)) return { representation, encoding: format }
  throw new Problem(
    'ERR_OPTION_INVALID',
    `format is ${JSON.stringify(format)}, and Accept asks for ${representation}, a form without it; leave one of them out`,
  )
}

export type HeadersByForm = Readonly<Record<Representation, Readonly<Record<string, string>>>>

const littleEndian = { 'graupel-byte-order': 'little-endian' } as const

/** Returns the headers of answers with numbers. @param more - Headers that every form has in addition. */
export function headersWith(more: Readonly<Record<string, string>> = {}): HeadersByForm {
  return {
    json: { ...headersOf(contentTypes.json), ...more },
    text: { ...headersOf(contentTypes.text), ...more },
    bytes: { ...headersOf(contentTypes.bytes), ...more, ...littleEndian },
    runs: { ...headersOf(contentTypes.runs), ...more, ...littleEndian },
    'runs-json': { ...headersOf(contentTypes['runs-json']), ...more },
  }
}

/**
 * Describes an answer with numbers of 64 bits.
 *
 * @param noun - A number in the singular, `id`. The property of the JSON is its plural.
 * @param headers - Headers that the answer has in addition, with their descriptions.
 */
export function numbersAnswer(
  noun: 'id' | 'number',
  maxCount: number,
  examples: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const key = `${noun}s`
  const numbers = { type: 'array', minItems: 1, maxItems: maxCount, items: { type: 'string' } }
  const whole = { type: 'integer', minimum: 1, maximum: 2 ** 32 - 1 }
  const run = {
    type: 'object',
    required: ['first', 'count', 'stride'],
    properties: { first: { type: 'string' }, count: whole, stride: whole },
  }
  const article = noun === 'id' ? 'an' : 'a'
  return {
    description: `The ${key}`,
    headers: {
      ...headers,
      'Graupel-Byte-Order': `the order of the bytes of ${article} ${noun} if they are sent as bytes or runs: little-endian`,
    },
    content: {
      [mediaTypes.json]: {
        schema: { type: 'object', required: [key], properties: { [key]: numbers } },
        example: { [key]: examples },
      },
      [mediaTypes.text]: {
        schema: { type: 'string', description: `one ${noun} a line` },
        example: `${examples.join('\n')}\n`,
      },
      [mediaTypes.bytes]: {
        schema: {
          type: 'string',
          format: 'binary',
          description: `8 bytes for each ${noun}, the least significant first`,
        },
      },
      [mediaTypes.runs]: {
        schema: {
          type: 'string',
          format: 'binary',
          description: `16 bytes for each run of consecutive ${key}: first (8), count (4) and stride (4), the least significant first`,
        },
      },
      [mediaTypes['runs-json']]: {
        schema: {
          type: 'object',
          required: ['runs'],
          properties: { runs: { type: 'array', minItems: 1, items: run } },
        },
        example: { runs: [{ first: examples[0], count: examples.length, stride: 1 }] },
      },
    },
  }
}
