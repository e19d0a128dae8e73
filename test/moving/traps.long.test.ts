import { composeId, decode, defineLayout, encodeId, layouts } from 'graupel'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { load } from './packages.ts'

// Checks docs/moving-from-npm.md and docs/comparison.md about the packages, apart from their bits. If a
// package changes, the document has to change, too.

const epoch = Date.UTC(2020, 0, 1)
// A time after the real time, which some packages saw when they were loaded.
const now = Date.now() + 86_400_000
const fields = [
  ['timestamp', 42],
  ['node', 10],
  ['sequence', 12],
] as const
const layout = defineLayout({ name: 'traps', epochMs: epoch, tickMs: 1, fields, unsigned: true })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
})
afterEach(() => vi.useRealTimers())

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
/** Lets the clock show the same time for some calls, and then the next millisecond. */
function tickAfter(calls: number) {
  let left = calls
  vi.spyOn(Date, 'now').mockImplementation(() => (left-- > 0 ? now : now + 1))
}

describe('@sapphire/snowflake', () => {
  const { Snowflake } = load('@sapphire/snowflake')

  it('masks its numbers, and begins with 0 and 1', () => {
    const made = new Snowflake(epoch)
    expect([made.workerId, made.processId]).toEqual([0n, 1n])
    Object.assign(made, { workerId: 32, processId: -1 })
    expect([made.workerId, made.processId]).toEqual([0n, 31n])
  })

  it('repeats the first id of a millisecond after 4 096', () => {
    const made = new Snowflake(epoch)
    const ids = times(4097, () => made.generate())
    expect(ids[4096]).toBe(ids[0])
    expect(new Set(ids).size).toBe(4096)
  })

  it('decodes a millisecond too much from the last 128 ids of a millisecond of Discord in 2026', () => {
    const { DiscordSnowflake } = load('@sapphire/snowflake')
    const ms = Date.UTC(2026, 5, 1, 12)
    const last = composeId({ timestampMs: ms, node: 1023, sequence: 4095 }, layouts.discord)
    const wrong = Array.from({ length: 4096 }, (_, below) => last - BigInt(below)).filter(
      (id) => DiscordSnowflake.timestampFrom(id) !== ms,
    )
    expect(wrong.length).toBe(128)
    expect(wrong[127]).toBe(last - 127n)
    expect(DiscordSnowflake.timestampFrom(last)).toBe(ms + 1)
    expect(DiscordSnowflake.deconstruct(last).timestamp).toBe(BigInt(ms))
  })

  it('makes negative ids with an epoch in the future, which decode refuses', () => {
    const id = new Snowflake(now + 1000).generate()
    expect(id).toBeLessThan(0n)
    expect(() => decode(id, layout)).toThrow(expect.objectContaining({ code: 'ERR_ID_INVALID' }))
  })
})

describe('snowflake-id and flakeid', () => {
  const SnowflakeId = load('snowflake-id').default
  const FlakeId = load('flakeid')

  it.each([
    [0, 1],
    [1023, 0],
    [1024, 1],
    ['abc', 0],
  ])('take %s for %i', (mid, node) => {
    expect(decode(new SnowflakeId({ mid, offset: epoch }).generate(), layout).node).toBe(node)
    expect(decode(new FlakeId({ mid, timeOffset: epoch }).gen(), layout).node).toBe(node)
  })

  it('differ after the 4 096th id of a millisecond: the first repeats, the second goes on', () => {
    const repeats = (make: () => string) => {
      tickAfter(4097)
      const ids = times(4097, make)
      vi.restoreAllMocks()
      return 4097 - new Set(ids).size
    }
    const first = new SnowflakeId({ offset: epoch })
    const second = new FlakeId({ timeOffset: epoch })
    expect(repeats(() => first.generate())).toBe(1)
    expect(repeats(() => second.gen())).toBe(0)
  })

  it('make the same ids again when the clock steps back', () => {
    const made = new SnowflakeId({ offset: epoch })
    const before = made.generate()
    vi.setSystemTime(now + 50)
    made.generate()
    vi.setSystemTime(now)
    expect(made.generate()).toBe(before)
  })
})

describe('flake-idgen', () => {
  const FlakeId = load('flake-idgen')

  it.each([
    [5000, 904],
    [-1, 1023],
    ['abc', 0],
  ])('takes %s for %i', (id, node) => {
    expect(decode(new FlakeId({ id, epoch }).next().readBigUInt64BE(), layout).node).toBe(node)
  })

  it('throws after 4 096 ids of a millisecond, and when the clock steps back', () => {
    const made = new FlakeId({ epoch })
    times(4096, () => made.next())
    expect(() => made.next()).toThrow('Sequence exceeded its maximum value')
    vi.setSystemTime(now - 5)
    expect(() => made.next()).toThrow('Clock moved backwards')
    expect(() => made.next(() => {})).toThrow(ReferenceError)
  })
})

describe('snowflakify', () => {
  const Snowflakify = load('snowflakify').default
  const timeOf = (made: { nextId(): bigint }) => decode(made.nextId(), layouts.discord).timestampMs

  it('continues by a clock of its own when the clock of the host is set back', () => {
    const made = new Snowflakify()
    vi.setSystemTime(now - 60_000)
    expect(timeOf(made)).toBeGreaterThanOrEqual(now)
  })

  it('takes the last bits of the process id', () => {
    expect(decode(new Snowflakify().nextId(), layouts.discord).fields.process).toBe(process.pid & 31)
  })
})

describe('nodejs-snowflake', () => {
  const { Snowflake } = load('nodejs-snowflake')
  const sizes = [
    ['timestamp', 42],
    ['instance', 12],
    ['sequence', 10],
  ] as const
  const own = defineLayout({ name: 'traps', epochMs: epoch, tickMs: 1, fields: sizes, unsigned: true })

  it('counts from its construction by default, so that a restart begins near 0', () => {
    const made = new Snowflake({ instance_id: 3 })
    expect(made.customEpoch()).toBe(now)
    expect(made.getUniqueID() >> 22n).toBe(0n)
  })

  it('takes a random number by default', () => {
    const numbers = times(64, () => new Snowflake({ custom_epoch: epoch }).instanceID())
    // The chance that 64 random numbers below 4 096 are all equal is 1 in 4 096^63.
    expect(new Set(numbers).size).toBeGreaterThan(1)
  })

  it('puts its node into the id of a moment', () => {
    const id = new Snowflake({ custom_epoch: epoch, instance_id: 77 }).idFromTimestamp(now)
    expect(decode(id, own)).toMatchObject({ timestampMs: now, node: 77, sequence: 0 })
  })

  it('makes the same ids again when the clock steps back', () => {
    const made = new Snowflake({ custom_epoch: epoch, instance_id: 3 })
    const before = made.getUniqueID()
    vi.setSystemTime(now + 50)
    made.getUniqueID()
    vi.setSystemTime(now)
    expect(times(8, () => made.getUniqueID())).toContain(before)
  })

  it('throws strings instead of errors', () => {
    const thrown = (() => {
      try {
        return new Snowflake({ instance_id: 5000 })
      } catch (error) {
        return error
      }
    })()
    expect(typeof thrown).toBe('string')
  })
})

describe('tsid-ts', () => {
  const { TSID, TSIDGenerator } = load('tsid-ts')

  it('writes decimal, hex and base 62 wrongly, with one text for different ids', () => {
    const made = new TSIDGenerator(5)
    const ids = times(2000, () => made.create())
    expect(new Set(ids.map(({ number }) => number)).size).toBe(2000)
    for (const [method, encoding] of [
      ['toDecimalString', 'decimal'],
      ['toHexString', 'hex'],
      ['toBase62String', 'base62'],
    ] as const) {
      const texts = ids.map((id) => id[method]())
      const right = ids.map(({ number }) => encodeId(number, encoding))
      expect(new Set(texts).size, method).toBeLessThan(2000)
      expect(texts.filter((text, index) => text.toLowerCase() !== right[index]?.toLowerCase()).length).toBeGreaterThan(
        500,
      )
    }
  })

  it('reads such text wrongly, too', () => {
    const id = 849255963033620935n
    expect(TSID.fromString(String(id), 'd').number).not.toBe(id)
    expect(TSID.fromString(encodeId(id, 'hex').toUpperCase(), 'X').number).not.toBe(id)
    expect(TSID.fromString(encodeId(id, 'base62'), 'z').number).not.toBe(id)
  })

  it('divides its bits by nodeBits', () => {
    const sizes = [
      ['timestamp', 42],
      ['node', 8],
      ['sequence', 14],
    ] as const
    const own = defineLayout({ ...layouts.tsid, name: 'traps', fields: sizes })
    const made = new TSIDGenerator(200, 8)
    vi.setSystemTime(now + 1)
    const [first, second] = [decode(made.create().number, own), decode(made.create().number, own)]
    expect(first).toMatchObject({ timestampMs: now + 1, node: 200 })
    expect(second.node).toBe(200)
  })

  it('counts ahead of the clock without a limit', () => {
    const made = new TSIDGenerator(5)
    times(100_000, () => made.create())
    expect(decode(made.create().number, layouts.tsid).timestampMs - now).toBeGreaterThan(20)
  })

  it('takes a random number, and a random start of the sequence, by default', () => {
    // No more than these, because the package itself refuses one random number in a million.
    const first = times(8, () => {
      vi.setSystemTime(Date.now() + 1)
      const made = new TSIDGenerator()
      vi.setSystemTime(Date.now() + 1)
      return decode(made.create().number, layouts.tsid)
    })
    expect(new Set(first.map(({ node }) => node)).size).toBeGreaterThan(1)
    expect(new Set(first.map(({ sequence }) => sequence)).size).toBeGreaterThan(1)
  })
})
