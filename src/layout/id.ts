import { rangeError, show, typeError } from '../core/errors.js'
import { halves, high, low, two32, whole } from '../core/typed-array.js'
import { genuineLayout } from './define.js'
import type { Field, GivenId, Layout } from './layout.js'

/** Exists in types alone. */
declare const checked: unique symbol

/**
 * The type that a guard gives a value. If the type of the value was known, it has a mark: a guard for a plain
 * `string` would mean that no other value is a string. @internal
 */
export type Checked<V, Of> = unknown extends V ? Of : Of & { readonly [checked]: true }

/**
 * Whether {@link decode} takes a value as an id: a bigint from 0 to 2^64 - 1, or its decimal digits as
 * `String()` writes them. With a layout, also whether it has no more bits than ids of the layout. With a
 * layout of at most 53 bits, such as `layouts.js53`, a number is an id, too. No value throws.
 *
 * A sign, a space and a leading zero are refused: `Number` would read them, and other code may not.
 *
 * @param value - Anything, such as a parameter of a request.
 * @param layout - The layout that ids have to fit. A number is the index of a callback, and is ignored.
 * @throws TypeError `ERR_LAYOUT_INVALID` if `layout` is not a layout.
 * @example
 * isId('175928847299117063', layouts.discord) // true
 * Array.of('7', '-7').filter(isId) // ['7']
 * isId('0175928847299117063') // false
 */
export function isId<V, F extends readonly Field[] = readonly Field[]>(
  value: V,
  layout?: Layout<F>,
): value is V & Checked<V, GivenId<F>>
export function isId(value: unknown, index: number): value is bigint | string
export function isId<F extends readonly Field[]>(value: unknown, layout?: Layout<F> | number): boolean {
  if (layout === undefined || typeof layout === 'number') return load(value)
  layout = genuineLayout(layout)
  return load(value, layout) && fits(layout)
}

/**
 * Writes an id to {@link halves}. @throws TypeError, RangeError `ERR_ID_INVALID` for anything but an id, or
 * for an id that is too wide for the layout. @internal
 */
export function loadId<F extends readonly Field[]>(id: unknown, layout: Layout<F>): void {
  if (!load(id, layout)) throw refusal(id, layout)
  if (!fits(layout)) {
    const value = whole[0] as bigint
    throw rangeError(
      'ERR_ID_INVALID',
      `the id ${value} has ${value.toString(2).length} bits; ids of layout '${layout.name}' have at most ${layout.bits}`,
    )
  }
}

/**
 * A bigint from 0 to 2^64 - 1, given as such or in decimal digits. @throws TypeError, RangeError
 * `ERR_ID_INVALID`. @internal
 */
export function toId(id: unknown): bigint {
  if (!load(id)) throw refusal(id)
  return whole[0] as bigint
}

/**
 * Writes an id to {@link halves}; returns `false` for any other value. This function alone defines what an id
 * is.
 *
 * @param layout - The layout that the id has to fit. Numbers are ids only with a layout.
 */
function load(id: unknown, layout?: Pick<Layout, 'bits'>): boolean {
  if (typeof id === 'string') return loadDigits(id)
  if (typeof id === 'number') {
    if (!isNarrow(layout) || !Number.isSafeInteger(id) || id < 0) return false
    halves[high] = id / two32
    halves[low] = id
    return true
  }
  if (typeof id !== 'bigint' || BigInt.asUintN(64, id) !== id) return false
  whole[0] = id
  return true
}

/** 20 digits do not fit a number: the last nine are counted apart. */
const lastDigits = 9

/** A loop without remainders, because a regular expression and `BigInt()` take four times as long. */
function loadDigits(text: string): boolean {
  const { length } = text
  if (length === 0 || length > 20 || (length > 1 && text.charCodeAt(0) === zero)) return false
  const cut = Math.max(0, length - lastDigits)
  let above = 0
  let below = 0
  for (let i = 0; i < cut; i++) {
    const digit = text.charCodeAt(i) - zero
    if (digit < 0 || digit > 9) return false
    above = above * 10 + digit
  }
  for (let i = cut; i < length; i++) {
    const digit = text.charCodeAt(i) - zero
    if (digit < 0 || digit > 9) return false
    below = below * 10 + digit
  }
  // Computes above * 10^9 + below by parts of `above`, so that no product reaches 2^53; first in units of
  // 2^22, then of 2^32.
  const aboveUpper = Math.floor(above / 2 ** 22)
  const lower = (above - aboveUpper * 2 ** 22) * 1e9 + below
  const upper = aboveUpper * 1e9
  const upperHigh = Math.floor(upper / 2 ** 10)
  const rest = (upper - upperHigh * 2 ** 10) * 2 ** 22 + lower
  const carry = Math.floor(rest / two32)
  if (upperHigh + carry >= two32) return false
  halves[high] = upperHigh + carry
  halves[low] = rest - carry * two32
  return true
}

/** The character '0'. */
const zero = 48

/**
 * Whether the id in {@link halves} has no more bits than ids of the layout. Shifts, because a power takes
 * four times as long as all the rest.
 */
function fits<F extends readonly Field[]>({ bits }: Layout<F>): boolean {
  if (bits >= 64) return true
  const upper = halves[high] as number
  return bits >= 32 ? upper >>> (bits - 32) === 0 : upper === 0 && (halves[low] as number) >>> bits === 0
}

/** Whether numbers hold the ids of a layout. */
function isNarrow(layout: Pick<Layout, 'bits'> | undefined): boolean {
  return layout !== undefined && layout.bits <= 53
}

/** Why a value is no id. */
function refusal(id: unknown, layout?: Pick<Layout, 'bits'>): Error {
  if (typeof id === 'bigint' || (typeof id === 'string' && /^[1-9][0-9]{19}$/.test(id))) {
    const shown = typeof id === 'bigint' ? show(id) : id
    return rangeError('ERR_ID_INVALID', `the id is ${shown}; an id lies between 0 and 2^64 - 1`)
  }
  if (typeof id === 'string') {
    return rangeError(
      'ERR_ID_INVALID',
      `the id is ${show(id)}; in decimal an id is 1 to 20 digits 0-9 without sign, space or leading zero`,
    )
  }
  if (typeof id === 'number' && isNarrow(layout)) {
    return rangeError('ERR_ID_INVALID', `the id is ${show(id)}; as a number it is whole, from 0 to 2^53 - 1`)
  }
  const hint = typeof id === 'number' ? ': a number cannot hold 64 bits, the last digits may be lost already' : ''
  return typeError(
    'ERR_ID_INVALID',
    `the id is ${show(id)} (${typeof id}); pass a bigint or a string of decimal digits${hint}`,
  )
}
