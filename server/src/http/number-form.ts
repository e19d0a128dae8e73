import type { TextEncoding } from 'graupel'
import { headersOf } from './answer-headers.js'
import type { Answer } from './documentation.js'
import { oneOf, type Parameter } from './parameters.js'
import { Problem } from './problems.js'
import { contentTypes, mediaTypes, type Representation, representationOf } from './representation.js'

const representations = ['json', 'text', 'bytes'] as const
/** How a number of 64 bits is written as text. */
export const textEncodings = ['decimal', 'hex', 'base32', 'base58', 'base62'] as const satisfies readonly TextEncoding[]

type Format = (typeof textEncodings)[number] | Representation

/** How numbers of 64 bits are sent. */
export interface Form {
  readonly representation: Representation
  readonly encoding: TextEncoding
}

/** @param what - What is written: `ids`. */
export function formatOf(what: string): Parameter<Format> {
  return oneOf(
    `how ${what} are written; json, text and bytes choose the representation where a client cannot set Accept`,
    [...textEncodings, ...representations],
    'decimal',
  )
}

const named: Readonly<Record<Representation, Form>> = {
  json: { representation: 'json', encoding: 'decimal' },
  text: { representation: 'text', encoding: 'decimal' },
  bytes: { representation: 'bytes', encoding: 'decimal' },
}

/** @throws Problem */
export function formOf(format: Format | undefined, accept: string | undefined): Form {
  if (format === 'json' || format === 'text' || format === 'bytes') return named[format]
  const representation = representationOf(accept, representations)
  if (format === undefined) return named[representation]
  if (representation !== 'bytes') return { representation, encoding: format }
  throw new Problem(
    'ERR_OPTION_INVALID',
    `format is ${JSON.stringify(format)}, and Accept asks for bytes, which are no text; leave one of them out`,
  )
}

export type HeadersByForm = Readonly<Record<Representation, Readonly<Record<string, string>>>>

/** The headers of answers with numbers. @param more - Those that each of them has beside. */
export function headersWith(more: Readonly<Record<string, string>> = {}): HeadersByForm {
  return {
    json: { ...headersOf(contentTypes.json), ...more },
    text: { ...headersOf(contentTypes.text), ...more },
    bytes: { ...headersOf(contentTypes.bytes), ...more, 'graupel-byte-order': 'little-endian' },
  }
}

/**
 * Describes an answer with numbers of 64 bits.
 *
 * @param noun - One of them; its JSON has a property of the plural: `id`.
 * @param headers - Those that it has beside.
 */
export function numbersAnswer(
  noun: 'id' | 'number',
  maxCount: number,
  examples: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const key = `${noun}s`
  const numbers = { type: 'array', minItems: 1, maxItems: maxCount, items: { type: 'string' } }
  const article = noun === 'id' ? 'an' : 'a'
  return {
    description: `The ${key}`,
    headers: {
      ...headers,
      'Graupel-Byte-Order': `the order of the bytes of ${article} ${noun}, where they are sent as bytes: little-endian`,
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
    },
  }
}
