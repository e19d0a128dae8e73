import { type ErrorCode, parseId, type TextEncoding } from '../index.js'
import { readShortcode } from '../inspect/shortcode.js'
import type { Mask, MaskBits } from '../mask/index.js'
import { type Flag, quote, UsageError } from './arguments.js'
import { keysIn } from './key-file.js'
import { textEncodings } from './values.js'

/** The flags of a command that reads ids hidden by a mask. */
export const maskFlags = {
  'mask-key-file': { value: 'FILE', help: 'reveal ids that a mask has hidden; FILE has the keys, one a line' },
  'mask-bits': { value: 'BITS', choices: ['64', '63', '53'], help: 'the width of the mask (64)' },
} as const satisfies Record<string, Flag>

type Values = { readonly [K in keyof typeof maskFlags | 'format']?: string }

/** An id of the command line or the input. */
export interface GivenId {
  readonly id: bigint
  /** The text that was given, and the name of the key that revealed it; absent if the id was not hidden. */
  readonly masked?: { readonly text: string; readonly key: string }
}

/** Returns the function that reads an id, and reveals it if the flags name keys. @throws UsageError */
export async function idReader(values: Values): Promise<(text: string) => GivenId> {
  const { 'mask-key-file': file, 'mask-bits': bits } = values
  if (file === undefined) {
    if (bits !== undefined) {
      throw new UsageError(
        'ERR_OPTION_INVALID',
        '--mask-bits is for --mask-key-file; give both, or leave --mask-bits out',
      )
    }
    const encoding = values.format as TextEncoding | undefined
    return (text) => ({
      id: encoding === undefined ? decimalId(text) : parseId(withoutZeros(text, encoding), encoding),
    })
  }
  const encoding = (values.format ?? 'base62') as TextEncoding
  const { createMask } = await import('../mask/index.js')
  const keys = keysIn(file, '--mask-key-file')
  try {
    return revealer(createMask({ keys, encoding, bits: Number(bits ?? '64') as MaskBits }))
  } catch (error) {
    const { code, message } = error as Error & { code: ErrorCode }
    throw new UsageError(code, `--mask-key-file is ${quote(file)}: ${message}`)
  }
}

/**
 * Reads a number, or a shortcode of Instagram that has a sign among its characters.
 *
 * @throws UsageError that names the formats in which the text is an id, if it is none in decimal, or if its
 * leading zeros may be those of another format
 */
function decimalId(text: string): bigint {
  try {
    return parseId(text, 'decimal')
  } catch (error) {
    const formats = textEncodings.filter((encoding) => canRead(withoutZeros(text, encoding), encoding))
    const post = readShortcode(text)
    if (formats.length === 0) {
      if (post === undefined) throw error
      return post
    }
    if (formats.join() === 'decimal') return parseId(withoutZeros(text, 'decimal'), 'decimal')
    const ofPost = post === undefined ? '' : '; for a shortcode of Instagram give the address of its post'
    throw new UsageError(
      'ERR_ID_INVALID',
      `${(error as Error).message}; for another format give --format ${formats.join(' or ')}${ofPost}`,
    )
  }
}

/** Removes the leading zeros of a decimal column of fixed width. */
function withoutZeros(text: string, encoding: TextEncoding): string {
  return encoding === 'decimal' ? text.replace(/^0+(?=\d+$)/, '') : text
}

function canRead(text: string, encoding: TextEncoding): boolean {
  try {
    parseId(text, encoding)
    return true
  } catch {
    return false
  }
}

/** @throws GraupelError `ERR_ID_INVALID`, `ERR_KEY_INVALID` */
function revealer(mask: Mask): (text: string) => GivenId {
  const [first = '', ...others] = mask.keyNames
  const digits = mask.hideString(0n).length - first.length
  return (text) => {
    // A number from hide(), which bears no name of a key.
    if (mask.encoding === 'decimal' && /^\d+$/.test(text)) {
      if (text.length === digits && others.includes('')) {
        throw new UsageError(
          'ERR_ID_INVALID',
          `the masked id '${text}' bears no name, and both the current key '${first}' and the key without a name may have hidden it; give a file with one of the two`,
        )
      }
      return { id: mask.reveal(withoutZeros(text, 'decimal')), masked: { text, key: first } }
    }
    return { id: mask.revealString(text), masked: { text, key: text.slice(0, -digits) } }
  }
}
