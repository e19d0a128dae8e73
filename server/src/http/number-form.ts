import type { TextEncoding } from 'graupel'
import type { Answer } from './documentation.js'
import { contentTypes, headersOf, mediaTypes, type Representation } from './media.js'
import { oneOf, type Parameter, representationOf } from './parameters.js'
import { Problem } from './problems.js'

const representations = ['json', 'text', 'bytes'] as const
/** The texts of a number of 64 bits. */
export const textEncodings = ['decimal', 'hex', 'base32', 'base58', 'base62'] as const satisfies readonly TextEncoding[]

type Format = (typeof textEncodings)[number] | Representation

/** How numbers of 64 bits are sent. */
export interface Form {
  readonly representation: Representation
  readonly encoding: TextEncoding
}

/** Makes the parameter `format`. @param what - The numbers, in the plural: `ids`. */
export function formatOf(what: string): Parameter<Format> {
  return oneOf(
    `how ${what} are written; json, text and bytes choose the representation if a client cannot set Accept`,
    [...textEncodings, ...representations],
    'decimal',
  )
}

const named: Readonly<Record<Representation, Form>> = {
  json: { representation: 'json', encoding: 'decimal' },
  text: { representation: 'text', encoding: 'decimal' },
  bytes: { representation: 'bytes', encoding: 'decimal' },
}

/** Returns the form that `format` and `Accept` ask for. @throws Problem */
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

/** Returns the headers of answers with numbers. @param more - Headers that every form has in addition. */
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
  const article = noun === 'id' ? 'an' : 'a'
  return {
    description: `The ${key}`,
    headers: {
      ...headers,
      'Graupel-Byte-Order': `the order of the bytes of ${article} ${noun} if they are sent as bytes: little-endian`,
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
