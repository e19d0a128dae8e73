import { describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/core/errors.js'
import { type Row, readRow, readTable } from '../../src/core/options.js'
import { choice, endpointsFrom, milliseconds, part, text, whole, whole64 } from '../../src/core/readers.js'

describe('a row of a table of options', () => {
  it('gives the value, or the default if there is none', () => {
    const pairs: [unknown, Row][] = [
      [1.5, { read: milliseconds, byDefault: 7 }],
      [3, { read: whole, least: 1, most: 3, byDefault: 1 }],
      [0, { read: part, byDefault: 0.5 }],
      ['a', { read: text, most: 9, byDefault: 'b' }],
      ['day', { read: choice, choices: ['day', 'never'], byDefault: 'never' }],
      [null, { byDefault: 'b' }],
    ]
    for (const [value, row] of pairs) {
      expect([readRow('x', value, row), readRow('x', undefined, row)]).toEqual([value, row.byDefault])
    }
    expect(readRow('waitMs', undefined, { read: milliseconds })).toBeUndefined()
    expect([7, 7n].map((value) => readRow('start', value, { read: whole64, most: 9n }))).toEqual([7n, 7n])
    expect(endpointsFrom('url', ['http://a:1/x//', 'https://b'], '')).toEqual(['http://a:1/x', 'https://b'])
  })

  it.each([
    [{ read: milliseconds }, '5', TypeError, "x is '5' (string); pass milliseconds as a number"],
    [{ read: milliseconds }, Number.NaN, RangeError, 'x is NaN; pass milliseconds from 0 up'],
    [{ read: milliseconds, least: 1, most: 9 }, 0, RangeError, 'x is 0; pass milliseconds from 1 to 9'],
    [{ read: whole, least: 1, most: 3 }, 1n, TypeError, 'x is 1n (bigint); pass a whole number'],
    [{ read: whole, least: 1, most: 3 }, 1.5, RangeError, 'x is 1.5; pass a whole number from 1 to 3'],
    [{ read: whole, least: 1 }, 0, RangeError, 'x is 0; pass a whole number from 1 to 9007199254740991'],
    [{ read: whole64, most: 9n }, '1', TypeError, "x is '1' (string); pass a bigint or a whole number"],
    [{ read: whole64, most: 9n }, 2 ** 53, RangeError, /^x is 9007199254740992; .* above 2\^53 - 1 as a bigint$/],
    [{ read: whole64, most: 9n }, 10n, RangeError, 'x is 10; pass a whole number from 0 to 9'],
    [{ read: part }, -0.1, RangeError, 'x is -0.1; pass a part of a batch, from 0 to 1'],
    [{ read: text, isRequired: true }, undefined, TypeError, 'x is undefined (undefined); pass a string'],
    [{ read: text }, null, TypeError, 'x is null (object); pass a string'],
    [{ read: text, most: 9 }, '', RangeError, "x is ''; pass 1 to 9 characters of well-formed text"],
    [{ read: text, most: 9 }, '\ud800', RangeError, "x is '\ud800'; pass 1 to 9 characters of well-formed text"],
    [{ read: choice, choices: ['a', 'b'] }, 'c', TypeError, "x is 'c'; pass one of 'a', 'b'"],
    [endpoint(), [], RangeError, 'x is an empty array; pass one endpoint or more'],
    [endpoint(), 'ftp://a', TypeError, /^x is a text; pass the text of a URL that begins with http:/],
    [endpoint(), new URL('http://a'), TypeError, /^x is a URL object, whose text is its href; pass the text of a URL/],
    [endpoint(), 'http://a?b', RangeError, /^x has a user, .* a fragment; do not$/],
  ] as [Row, unknown, typeof TypeError, string | RegExp][])('%o refuses %o', (row, value, type, message) => {
    const failure = (() => {
      try {
        return readRow('x', value, row)
      } catch (error) {
        return error
      }
    })() as Error & { option?: string }
    expect(failure).toBeInstanceOf(type)
    expect(failure).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      option: 'x',
    })
  })
})

function endpoint(): Row {
  return { read: (name, value) => endpointsFrom(name, value, 'do not') }
}

describe('a table of options', () => {
  const rows = { waitMs: { read: milliseconds, least: 1, byDefault: 5 }, name: {} }

  it('reads each option by its row', () => {
    expect(readTable({ name: 7 }, rows, '{ name }')).toEqual({ waitMs: 5, name: 7 })
  })

  it('refuses a name without a row, and lists the names in the order of the rows', () => {
    expect(() => readTable({ waitM: 7 }, rows, '{ name }')).toThrow(
      "there is no option 'waitM' (did you mean 'waitMs'?); the options are waitMs, name",
    )
  })
})

describe('the reason of a failure', () => {
  const fetchFailed = (cause: unknown) => Object.assign(new TypeError('fetch failed'), { cause })
  it.each([
    ['the message in one line, without a dot', new Error(' broken\n  pipe. '), 'broken pipe'],
    ['the cause of a fetch', fetchFailed(new Error('connect ECONNREFUSED')), 'connect ECONNREFUSED'],
    ['the message of a fetch without a cause', fetchFailed(undefined), 'fetch failed'],
    ['each of several', new AggregateError([new Error('a'), new Error('b'), new Error('a')]), 'a, b'],
    ['the code, if there is no message', Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
    ['what was thrown, if it is no error', 'no', "'no'"],
    ['nothing', undefined, 'undefined'],
  ])('is %s', (_, error, reason) => expect(reasonOf(error)).toBe(reason))

  it('is that the error cannot be read, if reading it throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(reasonOf(proxy)).toBe('an error that cannot be read')
  })
})
