import {
  createGenerator,
  decode,
  defineLayout,
  defineSerial,
  encodeId,
  isId,
  type Layout,
  layouts,
  timestampMsOf,
} from 'graupel'
import { defineKind } from 'graupel/kind'
import { uuidOf } from 'graupel/uuid'
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

describe('a number', () => {
  const { js53 } = layouts
  const ids = createGenerator({ node: 3, layout: js53, namespace: 'is-id', clock: () => Date.UTC(2030, 0, 1) })
  const number = ids.nextNumber()
  const id = BigInt(number)
  const order = defineKind({ prefix: 'ord', layout: js53 })
  const hidden = defineKind({ prefix: 'ord', layout: js53, keys: { a: Uint8Array.from({ length: 16 }, (_, i) => i) } })
  const serial = defineSerial({ pattern: '{yyyyMMddHHmmssSSS}-{node}-{sequence}', layout: js53 })
  /** Every function that takes an id of a layout. */
  const calls: [string, (id: number, layout?: Layout) => unknown][] = [
    ['decode', (id, layout = js53) => decode(id as never, layout)],
    ['timestampMsOf', (id, layout = js53) => timestampMsOf(id as never, layout)],
    ['encodeId', (id, layout = js53) => encodeId(id as never, 'base62', layout)],
    ['encodeId to decimal', (id, layout = js53) => encodeId(id as never, 'decimal', layout)],
    ['encodeId to bytes', (id, layout = js53) => encodeId(id as never, 'bytes', layout)],
    ['uuidOf', (id, layout = js53) => uuidOf(id as never, layout)],
    ['decode of a generator', (id) => ids.decode(id)],
    ['text of a kind', (id) => order.text(id)],
    ['text of an opaque kind', (id) => hidden.text(id)],
    ['format of a serial', (id) => serial.format(id as never)],
  ]

  it.each(calls)('is an id of at most 53 bits for %s', (_, call) => {
    for (const one of [number, 0, -0, 2 ** 32 - 1, 2 ** 32, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER]) {
      expect(call(one)).toEqual(call(BigInt(one) as never))
    }
    expect(isId(number, js53)).toBe(true)
    expect(number).toBe(Number(id))
  })

  it.each(calls.slice(0, -4))('is refused by %s for a layout of more bits', (_, call) => {
    expect(caught(() => call(number, layouts.twitter))).toMatchObject({
      name: 'TypeError',
      code: 'ERR_ID_INVALID',
      message: `the id is ${number} (number); pass a bigint or a string of decimal digits: a number cannot hold 64 bits, the last digits may be lost already`,
    })
  })

  it.each([1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is refused if it is %d', (wrong) => {
    expect(isId(wrong, js53)).toBe(false)
    for (const [, call] of calls) {
      expect(caught(() => call(wrong))).toMatchObject({
        name: 'RangeError',
        code: 'ERR_ID_INVALID',
        message: `the id is ${wrong}; as a number it is whole, from 0 to 2^53 - 1`,
      })
    }
  })

  it('has to fit the layout as other ids do', () => {
    const narrow = defineLayout({
      name: 'narrow',
      epochMs: 0,
      tickMs: 1000,
      fields: [
        ['timestamp', 30],
        ['sequence', 2],
      ],
    })
    expect([isId(2 ** 32 - 1, narrow), isId(2 ** 32, narrow)]).toEqual([true, false])
    expect(() => decode(2 ** 32, narrow)).toThrow(
      "the id 4294967296 has 33 bits; ids of layout 'narrow' have at most 32",
    )
  })

  it('is no id without a layout, or with a layout of more than 53 bits', () => {
    const wide = defineLayout({
      name: 'wide',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 42],
        ['sequence', 12],
      ],
    })
    expect([isId(number), isId(number, wide), isId(number, layouts.twitter)]).toEqual([false, false, false])
    expect(() => encodeId(number as never, 'base62')).toThrow('(number); pass a bigint')
  })
})

describe('encodeId with a layout', () => {
  it('refuses an id that is too wide for it, as parseId does', () => {
    expect(encodeId(2n ** 53n - 1n, 'hex', layouts.js53)).toBe('001fffffffffffff')
    expect(() => encodeId(2n ** 53n, 'hex', layouts.js53)).toThrow('has 54 bits')
    expect(caught(() => encodeId(1n, 'hex', 'js53' as never)).code).toBe('ERR_LAYOUT_INVALID')
  })
})
