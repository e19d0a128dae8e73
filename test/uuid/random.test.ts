import fc from 'fast-check'
import { testGenerator } from 'graupel/testing'
import {
  createRandomUuidGenerator,
  createUuidGenerator,
  decodeUuid,
  isUuid,
  parseUuid,
  type RandomUuidGenerator,
} from 'graupel/uuid'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { platform } from '#platform'
import { take } from '../../src/uuid/pool.js'
import { type LastUuid, randomUuids } from '../../src/uuid/random.js'
import { caught } from '../support/engines.js'

const pattern = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const noon = Date.UTC(2026, 0, 1, 12)
const fresh = (): LastUuid => ({ ms: Number.NEGATIVE_INFINITY, count: 0 })

/** A generator whose random words are the given ones, again and again. */
function scripted(clock: () => number, last: LastUuid, words: number[]) {
  let at = 0
  const taken = (count: number) => {
    at = at + count > words.length ? count : at + count
    return at - count
  }
  return randomUuids(clock, last, taken, Int32Array.from(words))
}

/** The count of a UUID: the 12 bits before the variant, and 20 of the 62 behind it. */
function countOf(uuid: string): number {
  const word = Number.parseInt(uuid.slice(19, 28).replace('-', ''), 16)
  return Number.parseInt(uuid.slice(15, 18), 16) * 2 ** 20 + Math.floor((word % 2 ** 30) / 2 ** 10)
}

it('makes the UUID of RFC 9562, appendix A.6, of its bits', () => {
  const last = { ms: 0x17f_22e2_79b0, count: 0xcc36_3136 | 0 }
  const { next } = scripted(() => 0x17f_22e2_79b0, last, [0x00c, 0x0c07_398f])
  expect(next()).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
})

it('begins the count of each millisecond with 31 random bits below a 0', () => {
  let now = noon
  const { next } = scripted(() => now++, fresh(), [-1, -1, -1])
  const [first, second] = [next(), next()]
  expect(first.slice(14)).toBe('77ff-bfff-ffffffffffff')
  expect(countOf(first)).toBe(0x7fff_ffff)
  expect(countOf(second)).toBe(0x7fff_ffff)
})

describe.each<[string, LastUuid, number, { ms: number; count: number }]>([
  ['the same millisecond', { ms: noon, count: 5 }, noon, { ms: noon, count: 6 }],
  ['a later one', { ms: noon, count: 5 }, noon + 1, { ms: noon + 1, count: 42 }],
  ['a clock that is 1 ms behind', { ms: noon, count: 5 }, noon - 1, { ms: noon, count: 6 }],
  ['a clock that is a year behind', { ms: noon, count: 5 }, noon - 366 * 86_400_000, { ms: noon, count: 6 }],
  ['a count past 31 bits', { ms: noon, count: 0x7fff_ffff }, noon, { ms: noon, count: 0x8000_0000 }],
  ['a count that is used up', { ms: noon, count: -1 }, noon, { ms: noon + 1, count: 42 }],
  ['a used up count, and the next ms', { ms: noon, count: -1 }, noon + 1, { ms: noon + 1, count: 42 }],
  ['a used up count, and a later ms', { ms: noon, count: -1 }, noon + 9, { ms: noon + 9, count: 42 }],
])('after a UUID, %s', (_, last, now, expected) => {
  it('gives the next time and count by every call', () => {
    for (const call of [
      (uuids: RandomUuidGenerator) => uuids.next(),
      (uuids: RandomUuidGenerator) => parseUuid(uuids.nextBytes()),
      (uuids: RandomUuidGenerator) => parseUuid(uuids.fill(new Uint8Array(16))),
      (uuids: RandomUuidGenerator) => uuids.take(1)[0] as string,
      ([uuid]: RandomUuidGenerator) => uuid as string,
    ]) {
      const uuid = call(scripted(() => now, { ...last }, [42, 42, 42]))
      expect({ ms: decodeUuid(uuid).timestampMs, count: countOf(uuid) }).toEqual(expected)
    }
  })
})

it('ascends whatever the clock does, with few counts left', () => {
  const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -100, max: 100 })), { minLength: 50 })
  const counts = fc.integer({ min: -40, max: -1 })
  fc.assert(
    fc.property(steps, counts, (steps, count) => {
      let now = noon
      const uuids = randomUuids(() => now, { ms: noon, count })
      const made: string[] = []
      for (const [i, step] of steps.entries()) {
        now += step
        made.push(...(i % 2 === 0 ? [uuids.next()] : uuids.take(3)))
      }
      expect(made).toEqual([...new Set(made)].sort())
      expect(made.every((uuid, i) => i === 0 || countOf(uuid) !== countOf(made[i - 1] as string))).toBe(true)
    }),
  )
})

it('makes a million UUIDs of one thread in order, by two generators and all calls', () => {
  const [one, other] = [createRandomUuidGenerator(), createRandomUuidGenerator()]
  const before = Date.now()
  const bytes = new Uint8Array(16 * 50)
  const faults: string[] = []
  let last = ''
  let made = 0
  const see = (uuid: string) => {
    if (!(uuid > last && pattern.test(uuid))) faults.push(`${last} ${uuid}`)
    last = uuid
    made++
  }
  while (made < 1e6) {
    see(one.next())
    see(parseUuid(other.nextBytes()))
    for (const uuid of other.take(49)) see(uuid)
    one.fill(bytes)
    for (let at = 0; at < bytes.length; at += 16) see(parseUuid(bytes.subarray(at, at + 16)))
  }
  expect(faults).toEqual([])
  const { timestampMs = 0 } = decodeUuid(last)
  expect(timestampMs).toBeGreaterThanOrEqual(before)
  expect(timestampMs).toBeLessThanOrEqual(Date.now() + 1)
})

it('uses no random word twice', () => {
  let words = 0
  const taken: number[] = []
  const take = (count: number) => {
    for (let i = 0; i < count; i++) taken.push(words + i)
    words += count
    return words - count
  }
  const seen: number[] = []
  const pool = new Proxy(new Int32Array(0), {
    get(_, name) {
      seen.push(Number(name))
      return Number(name)
    },
  })
  let now = noon
  const uuids = randomUuids(() => now++, fresh(), take, pool)
  uuids.next()
  uuids.take(3)
  uuids.fill(new Uint8Array(32))
  expect(seen).toEqual(taken)
  expect(new Set(seen).size).toBe(seen.length)
})

it('73 bits are random: as often 1 as 0, and independent of the UUID before', () => {
  const count = 100_000
  let now = noon
  // A millisecond for each, so that the count is new, too.
  const { next } = randomUuids(() => now++, fresh())
  const ones = new Uint32Array(128)
  const changes = new Uint32Array(128)
  let before = 0n
  for (let i = 0; i < count; i++) {
    const bits = BigInt(`0x${next().replaceAll('-', '')}`)
    for (let bit = 0; bit < 80; bit++) {
      ones[bit] = (ones[bit] as number) + Number((bits >> BigInt(bit)) & 1n)
      changes[bit] = (changes[bit] as number) + Number(((bits ^ before) >> BigInt(bit)) & 1n)
    }
    before = bits
  }
  // Bits from the lowest: 62 behind the variant, and 11 of the 12 behind the version, whose first bit is 0.
  const random = [...Array(62).keys(), ...Array.from({ length: 11 }, (_, i) => 64 + i)]
  expect(random).toHaveLength(73)
  // By Hoeffding's inequality and the union bound, a good source exceeds this once in 10^9 runs.
  const most = Math.sqrt((count / 2) * Math.log((2 * 2 * random.length) / 1e-9))
  for (const counts of [ones, changes]) {
    expect(random.filter((bit) => Math.abs((counts[bit] as number) - count / 2) > most)).toEqual([])
  }
  expect([62, 63, 75, 76, 79].map((bit) => ones[bit])).toEqual([0, count, 0, count, 0])
})

it('tells no node: without a layout, decodeUuid reads version and time', () => {
  const parts = decodeUuid(createRandomUuidGenerator().next())
  expect(Object.keys(parts).sort()).toEqual(['timestamp', 'timestampMs', 'variant', 'version'])
})

it('its calls can be passed as functions', () => {
  const { next, nextBytes, take } = createRandomUuidGenerator()
  const made = [...Array.from({ length: 2 }, next), ...Array.from({ length: 2 }, nextBytes).map(parseUuid), ...take(2)]
  expect(made).toEqual([...new Set(made)].sort())
  expect(made.every(isUuid)).toBe(true)
})

it('writes to a place of an array, and to nothing beside it', () => {
  const target = new Uint8Array(40).fill(9)
  expect(createRandomUuidGenerator().nextBytes(target, 11)).toBe(target)
  expect(pattern.test(parseUuid(target.subarray(11, 27)))).toBe(true)
  expect([...target.subarray(0, 11), ...target.subarray(27)]).toEqual(Array(24).fill(9))
  const part = new Uint8Array(target.buffer, 4, 32)
  expect(createRandomUuidGenerator().fill(part)).toBe(part)
  expect([...target.subarray(0, 4), ...target.subarray(36)]).toEqual(Array(8).fill(9))
})

it.each<[string, (uuids: RandomUuidGenerator) => unknown, string]>([
  ['an argument', () => (createRandomUuidGenerator as (given: object) => object)({ node: 7 }), 'ERR_OPTION_UNKNOWN'],
  ['15 bytes', (uuids) => uuids.fill(new Uint8Array(15)), 'ERR_ARRAY_INVALID'],
  ['shared memory', (uuids) => uuids.fill(new Uint8Array(new SharedArrayBuffer(16))), 'ERR_ARRAY_INVALID'],
  ['a place without room', (uuids) => uuids.nextBytes(new Uint8Array(20), 5), 'ERR_ARRAY_INVALID'],
  ['null', (uuids) => uuids.nextBytes(null as never), 'ERR_ARRAY_INVALID'],
  ['a count below 0', (uuids) => uuids.take(-1), 'ERR_OPTION_INVALID'],
  ['a node that is random', () => createUuidGenerator({ node: 'random' as never }), 'ERR_NODE_INVALID'],
])('refuses %s', (_, call, code) => {
  expect(caught(() => call(createRandomUuidGenerator()))).toMatchObject({ code })
})

it.each([-1, 2 ** 48, Number.NaN])('refuses a clock that shows %d ms, each time', (now) => {
  const uuids = randomUuids(() => now, fresh())
  for (const call of [uuids.next, uuids.nextBytes, () => uuids.take(1)]) {
    expect(caught(() => call())).toMatchObject({ code: 'ERR_CLOCK_INVALID' })
  }
})

it('refuses the time after the last one', () => {
  expect(caught(randomUuids(() => 0, { ms: 2 ** 48 - 1, count: -1 }).next)).toMatchObject({ code: 'ERR_CLOCK_INVALID' })
})

it('code for these calls takes generators of both kinds', () => {
  const twice = (uuids: RandomUuidGenerator) => uuids.take(2)
  expectTypeOf(createUuidGenerator).returns.toExtend<RandomUuidGenerator>()
  expect(twice(createUuidGenerator({ ids: testGenerator() }))).toHaveLength(2)
})

it('no random word is drawn while a startup snapshot is built, which would have all words of the pool', () => {
  const refuse = vi.spyOn(platform as { refuseSnapshot(): void }, 'refuseSnapshot').mockImplementation(() => {
    throw new Error('a snapshot')
  })
  // More words than the pool has.
  expect(() => {
    for (let i = 0; i < 20_000; i++) take(1)
  }).toThrow('a snapshot')
  refuse.mockRestore()
  take(1)
})
