import { read128, write128 } from '../codec/base32.js'
import { blockText } from '../codec/uuid.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { block, load } from './decode.js'

/** 26 digits have room for 130 bits, so the first digit is at most 7. */
const ulidPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i

/** Whether a value is the text of a ULID. @internal */
export function isUlidText(value: unknown): value is string {
  return typeof value === 'string' && ulidPattern.test(value)
}

/**
 * Writes a UUID as a ULID: the same 16 bytes, as 26 digits of Crockford's base32 in capital letters. The ULID
 * of a UUID of version 7 has the same time, and sorts as the UUID does.
 *
 * @param uuid - Its text, in either case, with or without braces; or 16 bytes.
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 * @example
 * ulidOf('01890a5d-ac96-774b-bcce-b302099a8057') // '01H455VB4PEX5VSKNK084SN02Q'
 */
export function ulidOf(uuid: string | Uint8Array): string {
  load(uuid)
  const codes: number[] = []
  write128(block, codes, 0)
  return String.fromCharCode(...codes).toUpperCase()
}

/**
 * Reads a ULID as a UUID of the same 16 bytes. A ULID that another program made is a UUID of any version,
 * because its bits behind the time are random; columns of UUIDs hold it.
 *
 * @param ulid - 26 digits in either case. Letters that are no digits, such as `I` and `O`, are refused.
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 * @example
 * uuidOfUlid('01H455VB4PEX5VSKNK084SN02Q') // '01890a5d-ac96-774b-bcce-b302099a8057'
 */
export function uuidOfUlid(ulid: string): string {
  const rule = "pass 26 digits of Crockford's base32, of which the first is 0 to 7"
  if (typeof ulid !== 'string') {
    throw typeError('ERR_ID_INVALID', `the ULID is ${show(ulid)} (${typeof ulid}); ${rule}`)
  }
  if (!isUlidText(ulid)) throw rangeError('ERR_ID_INVALID', `the ULID is ${show(ulid)}; ${rule}`)
  read128(ulid.toLowerCase(), 0, block)
  return blockText(block)
}
