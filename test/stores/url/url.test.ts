import { describe, expect, it } from 'vitest'
import { GraupelError } from '../../../src/core/errors.js'
import { StoreUrl } from '../../../src/stores/url/url.js'

const failure = (message: string, cause?: unknown) => new GraupelError('ERR_STORE_UNAVAILABLE', message, { cause })

describe('the message of an error of a store', () => {
  const url = new StoreUrl('postgres://user:pw@h/p')

  it.each<[string, unknown, string]>([
    ['keeps words that quote nobody', failure('powpw() cannot be called'), 'powpw() cannot be called'],
    [
      'covers the words of a cause',
      failure('pw of graupel: no pw; try pw', new Error('no pw')),
      'pw of graupel: no ***; try pw',
    ],
    [
      'covers the words of a cause of a cause',
      failure('pw 1 (pw 2 (no pw))', failure('pw 2 (no pw)', new Error('no pw'))),
      'pw 1 (pw 2 (no ***))',
    ],
    ['covers all that may be words of a cause', failure('pw: no pw', new Error('no pw by anybody')), '***: no ***'],
    ['covers the error of a client', new Error('no pw'), 'no ***'],
    ['covers a text', 'no pw', "'no ***'"],
  ])('%s', (_, error, shown) => {
    expect(url.messageOf(error)).toBe(shown)
  })

  it('shows the place of the store as it is', () => {
    const own = new StoreUrl('postgres://postgres:postgres@127.0.0.1:1/postgres')
    expect(own.hide(`${own.shown} says: no postgres at ${own.text}`)).toBe(
      `${own.shown} says: no *** at ***://***@127.0.0.1:1/***`,
    )
  })
})
