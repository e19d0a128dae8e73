import { alphabet, digits64, read128, readDigits, write128, writeDigits } from '../codec/base32.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { bufferGetter, byteOffsetGetter, isBytes, lengthGetter, whole } from '../core/typed-array.js'
import { type Layout, loadId } from '../layout/index.js'

/** How a kind writes what stands after its prefix. */
export interface Form<Id, Given> {
  /** Digits of every text. */
  readonly digits: number
  /** Writes character codes. @throws TypeError, RangeError `ERR_ID_INVALID` */
  write(given: Given, codes: number[], at: number): void
  /** Reads the digits from this character on. @throws RangeError `ERR_ID_INVALID` */
  read(text: string, at: number): Id
}

/** Ids of a layout. Their texts sort as the ids do. */
export function idForm(layout: Layout): Form<bigint, bigint | string> {
  return {
    digits: digits64,
    write(id, codes, at) {
      loadId(id, layout)
      writeDigits(codes, at)
    },
    read(text, at) {
      if (readDigits(text, at) !== 0) throw digitsError(text, at, 64)
      const id = whole[0] as bigint
      loadId(id, layout)
      return id
    },
  }
}

/** UUIDs in the form of TypeID. */
export function uuidForm(): Form<string, string | Uint8Array> {
  const block = new DataView(new ArrayBuffer(16))
  return {
    digits: 2 * digits64,
    write(uuid, codes, at) {
      if (isBytes(uuid)) write128(viewOf(uuid), codes, at)
      else {
        loadUuid(uuid, block)
        write128(block, codes, at)
      }
    },
    read(text, at) {
      if (!read128(text, at, block)) throw digitsError(text, at, 128)
      return uuidText(block)
    },
  }
}

/** Why these digits are refused. */
export function digitsError(text: string, at: number, bits: number): RangeError {
  const digits = text.slice(at)
  const other = [...digits].find((digit) => !alphabet.includes(digit))
  const fault = other === undefined ? `more than ${bits} bits` : `the character ${show(other)}`
  return rangeError(
    'ERR_ID_INVALID',
    `the digits ${show(digits)} of the text have ${fault}; a text has ${bits} bits in the digits ${alphabet}`,
  )
}

function viewOf(bytes: Uint8Array): DataView {
  const length = lengthGetter.call(bytes)
  if (length !== 16) throw rangeError('ERR_ID_INVALID', `there are ${length} bytes; a UUID has exactly 16`)
  return new DataView(bufferGetter.call(bytes), byteOffsetGetter.call(bytes), 16)
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

function loadUuid(text: unknown, block: DataView): void {
  if (typeof text !== 'string') {
    throw typeError(
      'ERR_ID_INVALID',
      `the UUID is ${show(text)} (${typeof text}); pass its text, or a Uint8Array of 16`,
    )
  }
  if (!uuidPattern.test(text)) {
    throw rangeError('ERR_ID_INVALID', `the UUID is ${show(text)}; pass 32 digits of hex, as 8-4-4-4-12 with hyphens`)
  }
  const hex = text.replaceAll('-', '')
  for (let i = 0; i < 4; i++) block.setUint32(4 * i, Number.parseInt(hex.slice(8 * i, 8 * i + 8), 16))
}

function uuidText(block: DataView): string {
  let hex = ''
  for (let i = 0; i < 4; i++)
    hex += block
      .getUint32(4 * i)
      .toString(16)
      .padStart(8, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
