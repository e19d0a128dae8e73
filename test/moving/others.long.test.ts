import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { load } from './packages.ts'

// Checks docs/comparison.md about ids that are no Snowflake ids.

// A time after the real time, which the packages saw when they were loaded.
const now = Date.now() + 86_400_000
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
})
afterEach(() => vi.useRealTimers())

const { v4, v7 } = load('uuid')
const { uuidv7 } = load('uuidv7')
const { ulid, monotonicFactory } = load('ulid')
const { nanoid } = load('nanoid')

const times = (count: number, make: () => string) => Array.from({ length: count }, () => make())
const ascends = (texts: readonly string[]) =>
  texts.every((text, index) => index === 0 || text > (texts[index - 1] ?? ''))

it.each([
  ['UUID v7 of uuid', v7, 36],
  ['UUID v7 of uuidv7', uuidv7, 36],
  ['UUID v4 of uuid', v4, 36],
  ['UUID v4 of Node', () => crypto.randomUUID(), 36],
  ['ULID', ulid, 26],
  ['ULID of monotonicFactory', monotonicFactory(), 26],
  ['nanoid', nanoid, 21],
])('%s has the length in the document', (_, make: () => string, length) => {
  expect(make().length).toBe(length)
})

describe('UUID v7', () => {
  it.each([
    ['uuid', v7],
    ['uuidv7', uuidv7],
  ])('of %s ascends within a millisecond, and while the clock is five seconds behind', (_, make: () => string) => {
    const ids = times(1000, make)
    vi.setSystemTime(now - 5000)
    expect(ascends([...ids, ...times(1000, make)])).toBe(true)
  })

  it('tells its time', () => {
    vi.setSystemTime(now + 3_600_000)
    expect(Number.parseInt(v7().replaceAll('-', '').slice(0, 12), 16)).toBe(now + 3_600_000)
  })
})

describe('ULID', () => {
  it('ascends within a millisecond only with monotonicFactory', () => {
    // The chance that 100 random ids are in order is 1 in 100!.
    expect(ascends(times(100, () => ulid()))).toBe(false)
    expect(ascends(times(1000, monotonicFactory()))).toBe(true)
  })

  it('continues with monotonicFactory when the clock is set back, and sorts too early without it', () => {
    const make = monotonicFactory()
    const [first = '', plain] = [make(), ulid()]
    vi.setSystemTime(now - 5000)
    expect(make() > first).toBe(true)
    expect(ulid() < plain).toBe(true)
  })

  it('lets the next id of a millisecond be guessed with monotonicFactory', () => {
    const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
    const value = (text: string) => [...text].reduce((sum, digit) => sum * 32n + BigInt(digits.indexOf(digit)), 0n)
    const make = monotonicFactory()
    const first = value(make())
    expect(value(make())).toBe(first + 1n)
  })
})

it('nanoid and UUID v4 are in no order', () => {
  expect(ascends(times(100, () => nanoid()))).toBe(false)
  expect(ascends(times(100, () => crypto.randomUUID()))).toBe(false)
})
