import type { TextEncoding } from 'graupel'
import { headersOf } from './answer-headers.js'
import { oneOf, type Parameter } from './parameters.js'
import { Problem } from './problems.js'
import { contentTypes, type Representation, representationOf } from './representation.js'

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
