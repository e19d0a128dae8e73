import { describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/core/errors.js'
import { endpointsFrom, millisecondsFrom, oneOf, prefetchAtFrom, textFrom, wholeFrom } from '../../src/core/options.js'

describe('a check of an option', () => {
  it('gives the value, or the default if there is none', () => {
    expect([millisecondsFrom('waitMs', 1.5, 7), millisecondsFrom('waitMs', undefined, 7)]).toEqual([1.5, 7])
    expect([wholeFrom('step', 3, 1, 1, 3), wholeFrom('step', undefined, 1, 1, 3)]).toEqual([3, 1])
    expect([prefetchAtFrom(0, 0.5), prefetchAtFrom(undefined, 0.5)]).toEqual([0, 0.5])
    expect([textFrom('name', 'a', 'b', 9), textFrom('name', undefined, 'b', 9)]).toEqual(['a', 'b'])
    expect([oneOf('reset', 'day', ['day'], 'day'), oneOf('reset', undefined, ['day', 'never'], 'never')]).toEqual([
      'day',
      'never',
    ])
    expect(endpointsFrom('url', ['http://a:1/x//', 'https://b'], '')).toEqual(['http://a:1/x', 'https://b'])
  })

  it.each([
    [() => millisecondsFrom('waitMs', '5', 7), TypeError, "waitMs is '5' (string); pass milliseconds as a number"],
    [() => millisecondsFrom('waitMs', Number.NaN, 7), RangeError, 'waitMs is NaN; pass milliseconds from 0 up'],
    [() => millisecondsFrom('waitMs', 0, 7, 1, 9), RangeError, 'waitMs is 0; pass milliseconds from 1 to 9'],
    [() => wholeFrom('step', 1n, 1, 1, 3), TypeError, 'step is 1n (bigint); pass a whole number'],
    [() => wholeFrom('step', 1.5, 1, 1, 3), RangeError, 'step is 1.5; pass a whole number from 1 to 3'],
    [() => prefetchAtFrom(-0.1, 1), RangeError, 'prefetchAt is -0.1; pass a part of a batch, from 0 to 1'],
    [() => textFrom('name', undefined, undefined, 9), TypeError, 'name is undefined (undefined); pass a string'],
    [() => textFrom('name', null, 'b', 9), TypeError, 'name is null (object); pass a string'],
    [() => textFrom('name', '', 'b', 9), RangeError, "name is ''; pass 1 to 9 characters of well-formed text"],
    [
      () => textFrom('name', '\ud800', 'b', 9),
      RangeError,
      "name is '\ud800'; pass 1 to 9 characters of well-formed text",
    ],
    [() => oneOf('reset', 'week', ['day', 'never'], 'never'), TypeError, "reset is 'week'; pass one of 'day', 'never'"],
    [() => endpointsFrom('url', [], ''), RangeError, 'url is an empty array; pass one endpoint or more'],
    [
      () => endpointsFrom('url', 'ftp://a', ''),
      TypeError,
      /^url is a text; pass the text of a URL that begins with http:/,
    ],
    [
      () => endpointsFrom('url', new URL('http://a'), ''),
      TypeError,
      /^url is a URL object, whose text is its href; pass the text of a URL/,
    ],
    [() => endpointsFrom('url', 'http://a?b', 'do not'), RangeError, /^url has a user, .* a fragment; do not$/],
  ])('refuses %s', (check, type, message) => {
    const failure = (() => {
      try {
        return check()
      } catch (error) {
        return error
      }
    })() as Error & { option?: string }
    expect(failure).toBeInstanceOf(type)
    expect(failure).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
    expect(failure.message.startsWith(`${failure.option} `)).toBe(true)
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
