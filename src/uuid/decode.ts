import { blockText, isUuidText, loadUuid, uuidText } from '../codec/uuid.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { type Instant, toMs } from '../core/moment.js'
import {
  type Checked,
  composeId,
  type DecodedTags,
  decode,
  type Field,
  genuineLayout,
  type Layout,
  type NodeFieldOf,
} from '../layout/index.js'
import { countedOf, endMs, UuidBits } from './bits.js'

/** The variant of a UUID (RFC 9562, section 4.1). Only UUIDs of variant `'rfc'` have a version. */
export type UuidVariant = 'ncs' | 'rfc' | 'microsoft' | 'future'

/**
 * The parts of a UUID, as {@link decodeUuid} returns them.
 *
 * @example
 * decodeUuid('f81d4fae-7dec-11d0-a765-00a0c91e6bf6').version // 1
 */
export interface DecodedUuid {
  /** The definition that the rest of its bits follows. */
  variant: UuidVariant
  /** The version, 0 to 15, if the variant is `'rfc'`. */
  version?: number
  /** The time, to the millisecond, of versions 1, 6 and 7; with a layout also of version 8. */
  timestamp?: Date
  /** The same moment in milliseconds since 1970. */
  timestampMs?: number
}

/** The parts of a UUID that a generator with this layout has made. */
export type DecodedIdUuid<F extends readonly Field[] = readonly Field[]> = DecodedTags<F> & IdUuidFacts<F>

/** The parts of UUIDs of every layout. */
export interface IdUuidFacts<F extends readonly Field[] = readonly Field[]> extends Required<DecodedUuid> {
  /** All node fields as one number, the first field the most significant. */
  node: number
  /** The node fields by their names. */
  fields: { [K in NodeFieldOf<F>]: number }
  /** The number of the UUID in its tick and node, from 0. */
  sequence: number
  /** The id of the same time, node and sequence. */
  id: bigint
}

/** The UUID that {@link load} has read. */
export const block: DataView = /* @__PURE__ */ (() => new DataView(new ArrayBuffer(16)))()

/**
 * Whether a value is the text of a UUID: 32 digits of hex in either case, with hyphens, as 8-4-4-4-12. Any
 * version and variant. Never throws.
 *
 * @example
 * isUuid('019A8F2E-6B1C-7000-8070-ABCDEF012345') // true
 * isUuid('{019a8f2e-6b1c-7000-8070-abcdef012345}') // false
 */
export function isUuid<V>(value: V): value is V & Checked<V, string>
export function isUuid(value: unknown): boolean {
  return isUuidText(value)
}

/**
 * Returns the UUID that people paste, in its usual form: in either case, in braces, or behind `urn:uuid:`.
 * Returns `undefined` for another text.
 *
 * @internal
 */
export function pastedUuid(text: string): string | undefined {
  const [, plain, braced] = /^(?:urn:uuid:)?(.{36})$|^\{(.{36})\}$/i.exec(text) ?? []
  const uuid = plain ?? braced
  return isUuidText(uuid) ? uuid.toLowerCase() : undefined
}

/**
 * Reads a UUID, and returns it in its usual form: small letters, hyphens, no braces. Accepts either case,
 * braces around the text, and 16 bytes, the most significant first. Nothing else is skipped or converted.
 *
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 * @example
 * parseUuid('{019A8F2E-6B1C-7000-8070-ABCDEF012345}') // '019a8f2e-6b1c-7000-8070-abcdef012345'
 */
export function parseUuid(uuid: string | Uint8Array): string {
  load(uuid)
  return blockText(block)
}

/**
 * Returns the 16 bytes of a UUID, the most significant first, as `BINARY(16)` keeps them. Reads what {@link
 * parseUuid} reads.
 *
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 * @example
 * uuidBytes('019a8f2e-6b1c-7000-8070-abcdef012345').length // 16
 */
export function uuidBytes(uuid: string | Uint8Array): Uint8Array {
  load(uuid)
  return new Uint8Array(block.buffer.slice(0))
}

/**
 * Takes a UUID apart. Without a layout, it reads every UUID. With a layout, it reads UUIDs that a generator
 * of the layout made, and returns their node, sequence and id too. Nothing in a UUID tells which layout it
 * has, or whether another program made it: a UUID of {@link createRandomUuidGenerator} has no layout.
 *
 * @param uuid - Its text, in either case, with or without braces; or 16 bytes.
 * @param layout - The layout of the generator. A number is the index of a callback, and is ignored.
 * @throws TypeError, RangeError `ERR_ID_INVALID`, also for a UUID that no generator of the layout makes;
 * TypeError, RangeError `ERR_LAYOUT_INVALID`.
 * @example
 * decodeUuid('017f22e2-79b0-7cc3-98c4-dc0c0c07398f').timestamp.toISOString() // '2022-02-22T19:22:22.000Z'
 */
export function decodeUuid<F extends readonly Field[]>(uuid: string | Uint8Array, layout: Layout<F>): DecodedIdUuid<F>
export function decodeUuid(uuid: string | Uint8Array, index?: number): DecodedUuid
export function decodeUuid(uuid: string | Uint8Array, layout?: Layout | number): DecodedUuid | DecodedIdUuid {
  load(uuid)
  const variant = variantOf(block.getUint8(8))
  if (layout === undefined || typeof layout === 'number') {
    if (variant !== 'rfc') return { variant }
    const version = block.getUint8(6) >>> 4
    const timestampMs = timeOfVersion(version)
    return { variant, version, ...(timestampMs !== undefined && { timestamp: new Date(timestampMs), timestampMs }) }
  }
  const version = block.getUint8(6) >>> 4
  const id = loadedId(genuineLayout(layout))
  return { variant, version, ...decode(id, layout), id }
}

/**
 * Returns the least UUID of version 7 of a millisecond, for ranges in a query: `WHERE id >= uuidAt(from) AND
 * id < uuidAt(to)`. UUIDs of version 8 of the same time are above it, too.
 *
 * @param time - A Date, a `Temporal.Instant`, or milliseconds since 1970 from 0 to 2^48 - 1; fractions are
 * rounded down.
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 * @example
 * uuidAt(new Date('2022-02-22T19:22:22Z')) // '017f22e2-79b0-7000-8000-000000000000'
 */
export function uuidAt(time: Date | Instant | number): string {
  const ms = toMs(time)
  if (typeof ms !== 'number') {
    throw typeError(
      'ERR_ID_INVALID',
      `the time is ${show(time)} (${typeof time}); pass a Date, a Temporal.Instant, or milliseconds since 1970`,
    )
  }
  if (!(ms >= 0 && ms < endMs)) {
    throw rangeError('ERR_ID_INVALID', `the time is ${ms} ms; a UUID holds 0 to 2^48 - 1 milliseconds since 1970`)
  }
  const whole = Math.floor(ms)
  return uuidText(Math.floor(whole / 2 ** 16), ((whole % 2 ** 16) << 16) | 0x7000, 0x8000_0000, 0)
}

const written = /* @__PURE__ */ (() => new WeakMap<Layout, UuidBits>())()

/** The writer of a layout's ids. @throws RangeError `ERR_LAYOUT_INVALID` */
export function bitsOf(layout: Layout): UuidBits {
  const known = written.get(layout)
  if (known !== undefined) return known
  const bits = new UuidBits(layout, 7)
  written.set(layout, bits)
  return bits
}

/** Reads a UUID to {@link block}. */
export function load(uuid: unknown): void {
  const isBraced = typeof uuid === 'string' && uuid.length === 38 && uuid.startsWith('{') && uuid.endsWith('}')
  loadUuid(isBraced ? uuid.slice(1, -1) : uuid, block)
}

/**
 * The id of the UUID in {@link block}. @throws RangeError `ERR_ID_INVALID` if no generator of the layout
 * makes the UUID.
 */
export function loadedId(layout: Layout): bigint {
  bitsOf(layout)
  const version = block.getUint8(6) >>> 4
  const variant = variantOf(block.getUint8(8))
  const refuse = (what: string) =>
    rangeError('ERR_ID_INVALID', `the UUID ${show(blockText(block))} ${what}; pass one of layout '${layout.name}'`)
  if (variant !== 'rfc' || (version !== 7 && version !== 8)) {
    throw refuse(
      variant === 'rfc' ? `has version ${version}, and not 7 or 8` : `has variant '${variant}', and not 'rfc'`,
    )
  }
  const timestampMs = unixMs()
  const tick = (timestampMs - layout.epochMs) / layout.tickMs
  // All ticks of the field: `uuidOf` takes ids of other generators, which may use the last one.
  if (!(tick >= 0 && tick < 2 ** layout.timestamp.bits))
    throw refuse(`has the time ${timestampMs} ms, which the layout does not hold`)
  if (!Number.isInteger(tick)) throw refuse(`has the time ${timestampMs} ms, which is in the middle of a tick`)
  return composeId({ timestampMs, ...countedOf(layout, block.getUint32(4), block.getUint32(8)) }, layout)
}

function unixMs(): number {
  return block.getUint32(0) * 2 ** 16 + block.getUint16(4)
}

/** Milliseconds from 1582-10-15 to 1970-01-01. */
const gregorianMs = 12_219_292_800_000

/** The time of the UUID in {@link block}: RFC 9562, sections 5.1, 5.6 and 5.7. */
function timeOfVersion(version: number): number | undefined {
  if (version === 7) return unixMs()
  if (version !== 1 && version !== 6) return undefined
  const first = BigInt(block.getUint32(0))
  const middle = BigInt(block.getUint16(4))
  const last = BigInt(block.getUint16(6) & 0xfff)
  // Units of 100 ns: version 1 begins with their lowest 32 bits, version 6 with their highest.
  const units = version === 1 ? (last << 48n) | (middle << 32n) | first : (first << 28n) | (middle << 12n) | last
  return Number(units / 10_000n) - gregorianMs
}

function variantOf(byte: number): UuidVariant {
  if (byte < 0x80) return 'ncs'
  if (byte < 0xc0) return 'rfc'
  return byte < 0xe0 ? 'microsoft' : 'future'
}
