import { encodeId, encodings, parseId, type TextEncoding } from '../codec/index.js'
import { rangeError, show, typeError } from '../core/errors.js'

/** Numbers of a width as text of one length. */
export interface DigitWriter {
  /** Digits of every text. */
  readonly length: number
  write(value: bigint): string
  /** @throws RangeError `ERR_ID_INVALID` unless `write` writes it so. */
  read(digits: string): bigint
}

/** @throws TypeError `ERR_ENCODING_UNKNOWN` */
export function checkEncoding(encoding: unknown): asserts encoding is TextEncoding {
  const texts = encodings.filter((one) => one !== 'bytes')
  if (texts.includes(encoding as TextEncoding)) return
  throw typeError(
    'ERR_ENCODING_UNKNOWN',
    `the encoding is ${show(encoding)}; that of a mask is one of ${texts.map(show).join(', ')}`,
  )
}

/** The encodings of ids, with as many digits as the greatest number of the width has; decimal has leading zeros here, too. */
export function digitWriter(bits: number, encoding: TextEncoding): DigitWriter {
  const greatest = 2n ** BigInt(bits) - 1n
  const zeros = encodeId(0n, encoding)
  const zero = zeros.charAt(0)
  const wide = encodeId(greatest, encoding)
  const length = wide.length - [...wide].findIndex((digit) => digit !== zero)
  const write = (value: bigint) => encodeId(value, encoding).padStart(length, zero).slice(-length)

  function read(digits: string): bigint {
    const value = parseId(
      encoding === 'decimal' ? digits.replace(/^0+(?=.)/, '') : digits.padStart(zeros.length, zero),
      encoding,
    )
    if (value > greatest) {
      throw rangeError('ERR_ID_INVALID', `the digits ${show(digits)} stand for ${value}; this mask has ${bits} bits`)
    }
    // Encodings that people type are read in both cases. Here one id has one text, so that texts can be compared.
    const written = write(value)
    if (written !== digits) {
      throw rangeError('ERR_ID_INVALID', `the digits ${show(digits)} are not as a mask writes them: ${show(written)}`)
    }
    return value
  }

  return { length, write, read }
}
