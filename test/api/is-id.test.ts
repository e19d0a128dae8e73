import { decode, isId, layouts, timestampMsOf } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const largest = 2n ** 64n - 1n

/** Throws at everything that is done with it. */
const hostile = new Proxy(() => {}, {
  ...Object.fromEntries(
    Object.getOwnPropertyNames(Reflect).map((trap) => [
      trap,
      () => {
        throw new Error(trap)
      },
    ]),
  ),
})

describe('isId', () => {
  it.each<[string, unknown]>([
    ['a bigint', 175928847299117063n],
    ['its digits', '175928847299117063'],
    ['zero', 0n],
    ['zero in digits', '0'],
    ['one digit', '7'],
    ['nine digits', '999999999'],
    ['ten digits', '1000000000'],
    ['the largest', largest],
    ['the largest in digits', String(largest)],
  ])('is true for %s', (_, value) => {
    expect(isId(value)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['one too large', largest + 1n],
    ['one too large in digits', String(largest + 1n)],
    ['20 digits that are far too large', '9'.repeat(20)],
    ['21 digits', `1${'0'.repeat(20)}`],
    ['a negative bigint', -1n],
    ['a minus', '-1'],
    ['a plus', '+1'],
    ['a leading zero', '01'],
    ['zeros', '00'],
    ['a space before', ' 1'],
    ['a line break after', '1\n'],
    ['no digits', ''],
    ['a comma', '1,000'],
    ['a point', '1.0'],
    ['an exponent', '1e3'],
    ['a literal', '1n'],
    ['hexadecimal', '0x1f'],
    ['digits of another script', '١٢٣'],
    ['a number', 7],
    ['a number that is none', Number.NaN],
    ['undefined', undefined],
    ['null', null],
    ['a boolean', true],
    ['a symbol', Symbol('1')],
    ['a String', Object('1')],
    ['a BigInt object', Object(1n)],
    ['an array with an id', ['1']],
    ['an object that says a number', { toString: () => '1', valueOf: () => 1n }],
    ['a proxy that throws', hostile],
  ])('is false for %s', (_, value) => {
    expect(isId(value)).toBe(false)
    expect(isId(value, layouts.discord)).toBe(false)
    expect(caught(() => decode(value as never, layouts.discord)).code).toBe('ERR_ID_INVALID')
    expect(caught(() => timestampMsOf(value as never, layouts.discord)).code).toBe('ERR_ID_INVALID')
  })

  it('is false for ids with more bits than the layout has', () => {
    expect(isId(2n ** 63n - 1n, layouts.twitter)).toBe(true)
    expect(isId(2n ** 63n, layouts.twitter)).toBe(false)
    expect(isId(String(2n ** 53n), layouts.js53)).toBe(false)
    expect(isId(largest, layouts.mastodon)).toBe(true)
  })

  it('refuses a layout that is no layout, for any value', () => {
    for (const layout of [null, 'twitter', {}, { ...layouts.twitter }]) {
      for (const value of ['1', 'x', hostile]) {
        expect(caught(() => isId(value, layout as never)).code).toBe('ERR_LAYOUT_INVALID')
      }
    }
  })
})

describe('timestampMsOf', () => {
  it('refuses a value that is no layout', () => {
    for (const layout of [undefined, null, 'twitter', { ...layouts.twitter }]) {
      expect(caught(() => timestampMsOf(1n, layout as never)).code).toBe('ERR_LAYOUT_INVALID')
    }
  })
})
