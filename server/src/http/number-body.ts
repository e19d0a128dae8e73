import { endianness } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { encodeId, type TextEncoding } from 'graupel'
import { type Frame, writeDecimals } from './number-text.js'
import type { Representation } from './representation.js'

/** Numbers that are written before the event loop has a turn; they take about half a millisecond. */
const sliceLength = 16_384

/**
 * The body of an answer with numbers of 64 bits.
 *
 * @param key - The property of the JSON that has them: `ids`.
 */
export async function bodyOf(
  numbers: BigUint64Array,
  representation: Representation,
  encoding: TextEncoding,
  key: string,
): Promise<Buffer> {
  if (representation === 'bytes') return littleEndian(numbers)
  const { start, between, end } = representation === 'text' ? lines : json(key)
  if (numbers.length <= sliceLength) return write(numbers, encoding, { start, between, end })
  const parts: Buffer[] = []
  for (let from = 0; from < numbers.length; from += sliceLength) {
    if (from > 0) await turn()
    const to = Math.min(numbers.length, from + sliceLength)
    const frame = { start: from === 0 ? start : between, between, end: to === numbers.length ? end : '' }
    parts.push(write(numbers.subarray(from, to), encoding, frame))
  }
  return Buffer.concat(parts)
}

/** The body of an answer with one number. */
export function bodyOfOne(
  number: bigint,
  representation: Representation,
  encoding: TextEncoding,
  key: string,
): string | Buffer {
  if (representation === 'bytes') return littleEndian(BigUint64Array.of(number))
  const text = encoding === 'decimal' ? number.toString() : encodeId(number, encoding)
  return representation === 'text' ? `${text}\n` : `{"${key}":["${text}"]}`
}

const lines: Frame = { start: '', between: '\n', end: '\n' }

function json(key: string): Frame {
  return { start: `{"${key}":["`, between: '","', end: '"]}' }
}

function write(numbers: BigUint64Array, encoding: TextEncoding, frame: Frame): Buffer {
  if (encoding === 'decimal') return writeDecimals(numbers, frame)
  const texts = Array.from(numbers, (number) => encodeId(number, encoding))
  return Buffer.from(`${frame.start}${texts.join(frame.between)}${frame.end}`, 'latin1')
}

/** The same memory, where the machine has them in that order already. */
function littleEndian(numbers: BigUint64Array): Buffer {
  const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  return endianness() === 'LE' ? bytes : bytes.swap64()
}
