import { runInNewContext } from 'node:vm'
import { createGenerator, defineLayout, type GeneratorOptions, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../engines.js'

/** Eight ids a tick, so that every edge is near. */
const tiny = defineLayout({
  name: 'tiny',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 30],
    ['node', 4],
    ['sequence', 3],
  ],
})

describe.each(engines)('a generator on the %s engine', (engine) => {
  /** On a clock that stands at `time.now`. */
  function simulated(options: Partial<GeneratorOptions<typeof tiny.fields>> = {}, time = { now: 1000 }) {
    const all = {
      engine,
      namespace: freshNamespace(),
      layout: tiny,
      node: 5,
      clock: () => time.now,
      ...options,
    } as const
    return { ids: createGenerator(all), time, another: () => createGenerator(all) }
  }
  const parts = (id: bigint) => {
    const { timestampMs, sequence } = decodeTiny(id)
    return [timestampMs, sequence]
  }

  it('counts from 0 in every tick', () => {
    const { ids, time } = simulated()
    expect([ids.next(), ids.next()].map(parts)).toEqual([
      [1000, 0],
      [1000, 1],
    ])
    time.now = 1007
    expect(parts(ids.next())).toEqual([1007, 0])
    time.now = 0
  })

  it('begins at the epoch itself', () => {
    const { ids } = simulated({}, { now: 0 })
    expect(ids.take(3).map(parts)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ])
  })

  it('gives every form of an id the same value', () => {
    const { ids } = simulated()
    expect(ids.next()).toBe(BigInt(ids.nextString()) - 1n)
    expect(ids.nextNumber()).toBe(Number(ids.next()) - 1)
  })

  it('refuses nextNumber where a number does not hold the id, and makes none', () => {
    const ids = createGenerator({ engine, node: 1, namespace: freshNamespace() })
    const error = caught(() => (ids as unknown as { nextNumber(): number }).nextNumber())
    expect(error).toBeInstanceOf(RangeError)
    expect(error.code).toBe('ERR_NUMBER_UNSAFE')
    expect(ids.stats().issued).toBe(0)
  })

  it('makes numbers up to the last of 53 bits', () => {
    const end = layouts.js53.expiresAt.getTime() - 1
    const ids = createGenerator({
      engine,
      layout: layouts.js53,
      node: 31,
      namespace: freshNamespace(),
      clock: () => end,
    })
    let last = 0
    for (let i = 0; i < 128; i++) last = ids.nextNumber()
    expect(last).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('shares its state with every other instance on the node', () => {
    const { ids, another } = simulated()
    const other = another()
    const made = [ids.next(), other.next(), ...ids.take(2), other.next(), ids.next()]
    expect(made.map(parts).map(([, sequence]) => sequence)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('shares it with a layout of other names and equal bits', () => {
    const namespace = freshNamespace()
    const now = 1656432460105
    const one = createGenerator({ engine, namespace, layout: layouts.twitter, node: 378, clock: () => now })
    const two = createGenerator({ engine, namespace, layout: layouts.leaf, node: 378, clock: () => now })
    expect(two.next()).not.toBe(one.next())
  })

  it('does not share it with another namespace or node', () => {
    const { ids } = simulated()
    ids.next()
    expect(parts(simulated().ids.next())[1]).toBe(0)
    expect(parts(simulated({ node: 6 }).ids.next())[1]).toBe(0)
  })

  describe('onRollback', () => {
    it("'advance' counts on from the last id", () => {
      const { ids, time } = simulated()
      ids.take(6)
      time.now = 990
      expect(ids.take(3).map(parts)).toEqual([
        [1000, 6],
        [1000, 7],
        [1001, 0],
      ])
      expect(ids.stats()).toMatchObject({ rollbacks: 1, overflows: 0, aheadMs: 11 })
    })

    it("'advance' goes as far as maxAheadMs and no further", () => {
      const { ids, time } = simulated({ maxAheadMs: 10, maxWaitMs: 0 })
      ids.next()
      time.now = 990
      expect(ids.take(7).map(parts).at(-1)).toEqual([1000, 7])
      const error = caught(() => ids.next())
      expect(error).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 10, retryAfterMs: 1 })
      time.now = 991
      expect(parts(ids.next())).toEqual([1001, 0])
    })

    it("'throw' refuses until the clock has passed the last id", () => {
      const { ids, time } = simulated({ onRollback: 'throw' })
      ids.next()
      time.now = 995
      expect(caught(() => ids.next())).toMatchObject({
        code: 'ERR_CLOCK_ROLLBACK',
        rollbackMs: 5,
        retryAfterMs: 5,
        name: 'GraupelError',
      })
      time.now = 999
      expect(caught(() => ids.next())).toMatchObject({ retryAfterMs: 1 })
      expect(ids.stats()).toMatchObject({ issued: 1, rollbacks: 1 })
      time.now = 1000
      expect(parts(ids.next())).toEqual([1000, 1])
    })

    it("'wait' waits for a clock that goes on", () => {
      let now = 1000
      let step = 0
      const { ids } = simulated({
        onRollback: 'wait',
        clock: () => {
          now += step
          return now
        },
      })
      ids.next()
      now = 960
      step = 0.25
      expect(parts(ids.next())).toEqual([1000, 1])
      expect(ids.stats()).toMatchObject({ waits: 1, rollbacks: 1 })
    })

    it("'wait' throws at once where it would take longer than maxWaitMs", () => {
      const { ids, time } = simulated({ onRollback: 'wait', maxWaitMs: 40 })
      ids.next()
      time.now = 959
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 41, retryAfterMs: 41 })
      expect(ids.stats().waits).toBe(0)
    })

    it("'advance' goes on when the clock is back, though the word is ahead of it still", () => {
      const { ids, time } = simulated({ maxWaitMs: 0 })
      ids.next()
      time.now = 990
      ids.take(400)
      time.now = 1001
      expect(ids.stats().aheadMs).toBeGreaterThan(40)
      expect(ids.take(100).length).toBe(100)
    })

    it("'wait' gives up on a clock that goes to and fro", () => {
      let now = 1000
      let calls = 0
      const { ids } = simulated({
        onRollback: 'wait',
        clock: () => {
          calls++
          return now - (calls % 2)
        },
      })
      ids.next()
      now -= 10
      expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
    })

    it("'wait' gives up on a clock that stands still", () => {
      const { ids, time } = simulated({ onRollback: 'wait' })
      ids.next()
      time.now = 999
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 1 })
    })

    it("'reuse' gives out what was skipped or left over, and nothing twice", () => {
      const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
      time.now = 1002
      ids.take(3)
      time.now = 1005
      ids.next()
      time.now = 1002
      expect(ids.take(5).map(parts)).toEqual([3, 4, 5, 6, 7].map((sequence) => [1002, sequence]))
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 3 })
      time.now = 1003
      expect(ids.take(8).map(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((sequence) => [1003, sequence]))
      time.now = 1005
      expect(parts(ids.next())).toEqual([1005, 1])
    })

    it("'reuse' leaves alone what is older than itself, or than its memory", () => {
      const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
      ids.next()
      time.now = 999
      expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
      for (const now of [1500 + 1024, 4000]) {
        time.now = now
        ids.next()
      }
      time.now = 1501
      expect(parts(ids.next())).toEqual([1501, 0])
      // Its place in the ring is taken by the tick 1024 later.
      time.now = 1500
      expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
    })

    it('is asked though the clock stepped back by one tick before the first id', () => {
      const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
      time.now = 999
      // Nothing of that tick is known to be free.
      expect(caught(() => ids.next())).toMatchObject({
        code: 'ERR_CLOCK_ROLLBACK',
        rollbackMs: 1,
        retryAfterMs: expect.any(Number),
      })
      const rollbacks: number[] = []
      const other = simulated({
        onRollback: ({ rollbackMs }) => {
          rollbacks.push(rollbackMs)
          return 'advance'
        },
      })
      other.time.now = 999
      expect(parts(other.ids.next())[0]).toBe(1000)
      expect(rollbacks).toEqual([1])
    })

    it('may be a function, which is told how far the clock went', () => {
      const events: unknown[] = []
      const { ids, time } = simulated({
        onRollback: (event) => {
          events.push(event)
          return event.rollbackMs > 5 ? 'throw' : 'advance'
        },
      })
      ids.next()
      time.now = 997
      expect(parts(ids.next())[0]).toBe(1000)
      time.now = 990
      expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
      expect(events[0]).toMatchObject({
        type: 'rollback',
        rollbackMs: 3,
        aheadMs: 3,
        nowMs: 997,
        node: 5,
        layout: 'tiny',
      })
    })

    it('refuses what a function returns if it is no policy', () => {
      const { ids, time } = simulated({ onRollback: (() => 'ignore') as never })
      ids.next()
      time.now = 999
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_OPTION_INVALID', name: 'TypeError' })
    })

    it('is not asked when the clock stepped back to a time that is still free', () => {
      const { ids, time } = simulated({ onRollback: 'throw' })
      ids.next()
      time.now = 2000
      expect(ids.stats().rollbacks).toBe(0)
      time.now = 1500
      expect(parts(ids.next())[0]).toBe(1500)
    })
  })

  describe('onOverflow', () => {
    it("'throw' refuses the ninth id of a tick of eight", () => {
      const { ids, time } = simulated({ onOverflow: 'throw' })
      ids.take(8)
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1 })
      time.now = 1001
      expect(parts(ids.next())).toEqual([1001, 0])
      expect(ids.stats()).toMatchObject({ overflows: 1, rollbacks: 0 })
    })

    it("'advance' carries into the next ticks, up to maxAheadMs", () => {
      const { ids } = simulated({ onOverflow: 'advance', maxAheadMs: 2, maxWaitMs: 0 })
      const made = ids.take(24).map(parts)
      expect(made.at(-1)).toEqual([1002, 7])
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1 })
    })

    it("'wait' goes on in the next tick", () => {
      let now = 1000
      const { ids } = simulated({
        clock: () => {
          now += 1 / 64
          return now
        },
      })
      const made = ids.take(100)
      expect(new Set(made).size).toBe(100)
      expect(ids.stats().waits).toBeGreaterThan(5)
    })

    it('is told from a rollback while the word is ahead', () => {
      const { ids, time } = simulated({ onOverflow: 'advance', onRollback: 'throw', maxAheadMs: 5 })
      ids.take(20)
      expect(ids.stats()).toMatchObject({ rollbacks: 0, aheadMs: 2 })
      time.now = 999
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 1 })
    })
  })

  describe('fill', () => {
    it('fills both kinds of arrays, ascending, and returns the one it got', () => {
      const { ids } = simulated({ onOverflow: 'advance' })
      for (const array of [new BigUint64Array(100), new BigInt64Array(100)]) {
        const filled: BigUint64Array | BigInt64Array = ids.fill(array)
        expect(filled).toBe(array)
        const made = Array.from(array as BigUint64Array)
        expect(made.every((id, i) => i === 0 || id > (made[i - 1] as bigint))).toBe(true)
      }
    })

    it('hands out the rest of a lease first, so that next and fill stay in order', () => {
      const roomy = defineLayout({
        ...tiny,
        fields: [
          ['timestamp', 30],
          ['node', 4],
          ['sequence', 22],
        ],
      })
      const { ids } = simulated({ layout: roomy as never })
      const made: bigint[] = []
      for (let i = 0; i < 200; i++) made.push(ids.next(), ...ids.fill(new BigUint64Array(i % 7)))
      expect(made.every((id, i) => i === 0 || id > (made[i - 1] as bigint))).toBe(true)
      expect(made.at(-1)).toBe((1000n << 26n) | (5n << 22n) | BigInt(made.length - 1))
    })

    it('fills a view into a larger buffer and nothing around it', () => {
      const { ids } = simulated()
      const whole = new BigUint64Array(10)
      ids.fill(whole.subarray(3, 6))
      expect(Array.from(whole, (id) => id !== 0n)).toEqual([
        ...Array(3).fill(false),
        ...Array(3).fill(true),
        ...Array(4).fill(false),
      ])
    })

    it('says how far it came when it has to stop', () => {
      const { ids } = simulated({ onOverflow: 'throw' })
      const array = new BigUint64Array(20)
      expect(caught(() => ids.fill(array))).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', filled: 8 })
      expect(array.indexOf(0n)).toBe(8)
    })

    it('makes nothing for an empty array', () => {
      const { ids } = simulated()
      expect(ids.fill(new BigUint64Array(0)).length).toBe(0)
      expect(ids.take(0)).toEqual([])
      expect(ids.stats().issued).toBe(0)
    })

    it.each([
      ['no array', undefined],
      ['a list', [1n]],
      ['numbers', new Float64Array(3)],
      ['a buffer', new ArrayBuffer(8)],
      ['a DataView', new DataView(new ArrayBuffer(8))],
      ['shared memory', new BigUint64Array(new SharedArrayBuffer(8))],
      ['an array that follows its buffer', new BigUint64Array(new ArrayBuffer(8, { maxByteLength: 16 }))],
      ['something that only says it is one', { [Symbol.toStringTag]: 'BigUint64Array', length: 1 }],
    ])('refuses %s, and makes nothing', (_, array) => {
      const { ids } = simulated()
      const error = caught(() => ids.fill(array as never))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.code).toBe('ERR_ARRAY_INVALID')
      expect(ids.stats().issued).toBe(0)
    })

    it('refuses an array whose buffer was given away', () => {
      const { ids } = simulated()
      const array = new BigUint64Array(4)
      structuredClone(array.buffer, { transfer: [array.buffer] })
      expect(caught(() => ids.fill(array)).code).toBe('ERR_ARRAY_INVALID')
    })

    it('refuses an array that the policy gives away in the middle', () => {
      const array = new BigUint64Array(20)
      const { ids, time } = simulated({
        onRollback: () => {
          structuredClone(array.buffer, { transfer: [array.buffer] })
          return 'advance'
        },
      })
      ids.next()
      time.now = 999
      expect(caught(() => ids.fill(array))).toMatchObject({ code: 'ERR_ARRAY_INVALID', filled: 0 })
    })

    it('fills what there is of an array that claims to be longer', () => {
      class Longer extends BigUint64Array {
        override get length() {
          return 200
        }
      }
      const { ids } = simulated()
      ids.fill(new Longer(4) as never)
      expect(ids.stats().issued).toBe(4)
    })

    it('refuses shared memory of another realm', () => {
      const array = runInNewContext('new BigUint64Array(new SharedArrayBuffer(80))')
      expect(caught(() => simulated().ids.fill(array)).code).toBe('ERR_ARRAY_INVALID')
    })

    it('refuses a BigInt64Array once ids reach 2^63', () => {
      let now = layouts.tsid.epochMs + 2 ** 41 - 1
      const ids = createGenerator({
        engine,
        layout: layouts.tsid,
        node: 1,
        namespace: freshNamespace(),
        clock: () => now,
      })
      expect(ids.fill(new BigInt64Array(1))[0]).toBeGreaterThan(0n)
      now += 1
      expect(caught(() => ids.fill(new BigInt64Array(1)))).toMatchObject({
        code: 'ERR_ARRAY_INVALID',
        name: 'RangeError',
      })
      expect(ids.fill(new BigUint64Array(1))[0]).toBe(((2n ** 41n) << 22n) | (1n << 12n))
    })
  })

  describe('take', () => {
    it.each([-1, 1.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])('refuses to take %d', (count) => {
      expect(caught(() => simulated().ids.take(count))).toMatchObject({
        name: 'RangeError',
        code: 'ERR_OPTION_INVALID',
      })
    })

    it.each(['3', 3n, undefined, null])('refuses to take %s', (count) => {
      expect(caught(() => simulated().ids.take(count as never))).toMatchObject({
        name: 'TypeError',
        code: 'ERR_OPTION_INVALID',
      })
    })
  })

  it('iterates without end', () => {
    const { ids } = simulated()
    const made: bigint[] = []
    for (const id of ids) {
      made.push(id)
      if (made.length === 5) break
    }
    const [next] = ids
    expect(new Set([...made, next]).size).toBe(6)
  })

  describe('sequenceStart', () => {
    const starts = (sequenceStart: 'zero' | 'random' | 'rotate', ticks: number, perTick: number) => {
      const { ids, time } = simulated({ sequenceStart })
      return Array.from({ length: ticks }, () => {
        time.now += 1
        return parts(ids.take(perTick)[0] as bigint)[1]
      })
    }

    it("'zero' begins every tick with 0", () => {
      expect(new Set(starts('zero', 20, 1))).toEqual(new Set([0]))
    })

    it("'rotate' goes on where the last tick ended, within the lower half", () => {
      expect(starts('rotate', 6, 1)).toEqual([0, 1, 2, 3, 0, 1])
      expect(starts('rotate', 4, 3)).toEqual([0, 3, 0, 3])
    })

    it("'random' begins anywhere in the lower half", () => {
      // 400 draws from 4 starts: each is expected 100 times; below 50 or above 150 is 5.8 standard deviations away.
      const seen = starts('random', 400, 1)
      for (let start = 0; start < 4; start++) {
        const count = seen.filter((s) => s === start).length
        expect(count).toBeGreaterThan(50)
        expect(count).toBeLessThan(150)
      }
      expect(seen.every((s) => (s as number) < 4)).toBe(true)
    })
  })

  describe('the clock', () => {
    it('may go wrong later: nothing is made, and nothing is changed', () => {
      const { ids, time } = simulated()
      ids.next()
      for (const bad of [Number.NaN, '1000', undefined, Number.NEGATIVE_INFINITY, 1000n]) {
        time.now = bad as never
        expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_INVALID')
        expect(caught(() => ids.fill(new BigUint64Array(2))).code).toBe('ERR_CLOCK_INVALID')
      }
      time.now = 1000
      expect(parts(ids.next())).toEqual([1000, 1])
    })

    it('may throw, and its error comes through', () => {
      const { ids } = simulated({
        clock: (() => {
          let calls = 0
          return () => {
            calls += 1
            if (calls > 1) throw new Error('no time')
            return 1000
          }
        })(),
      })
      expect(caught(() => ids.next()).message).toBe('no time')
    })

    it('may show a time before the epoch, or after the end: refused', () => {
      const { ids, time } = simulated()
      time.now = -1
      expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_BEFORE_EPOCH')
      expect(caught(() => ids.fill(new BigUint64Array(2)))).toMatchObject({ code: 'ERR_CLOCK_BEFORE_EPOCH', filled: 0 })
      time.now = 2 ** 30
      expect(caught(() => ids.next()).code).toBe('ERR_LAYOUT_EXPIRED')
      time.now = 2 ** 30 - 1
      expect(ids.take(8).map(parts).at(-1)).toEqual([2 ** 30 - 1, 7])
      expect(caught(() => ids.next()).code).toBe('ERR_SEQUENCE_OVERFLOW')
    })

    it('may be in the last tick: what lies beyond is neither counted ahead nor waited for in vain', () => {
      const end = 2 ** 30 - 1
      for (const options of [{ onOverflow: 'advance' }, { onOverflow: 'throw' }, { onOverflow: 'wait' }] as const) {
        const { ids } = simulated(options, { now: end })
        ids.take(8)
        expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1 })
        expect(caught(() => ids.fill(new BigUint64Array(3)))).toMatchObject({
          code: 'ERR_SEQUENCE_OVERFLOW',
          filled: 0,
        })
      }
    })

    it('may use another generator itself', () => {
      const other = createGenerator({ engine, node: 1, namespace: freshNamespace() })
      const { ids } = simulated({ clock: () => (other.next() > 0n ? 1000 : 0) })
      expect(ids.take(3).map(parts)).toEqual([
        [1000, 0],
        [1000, 1],
        [1000, 2],
      ])
    })

    it.each(['wall', 'steady'] as const)("'%s' shows the time", (clock) => {
      const ids = createGenerator({ engine, node: 1, namespace: freshNamespace(), clock })
      const before = Date.now()
      const { timestampMs } = ids.decode(ids.next())
      expect(timestampMs).toBeGreaterThanOrEqual(before - 2)
      expect(timestampMs).toBeLessThanOrEqual(Date.now() + 2)
    })
  })

  describe('close', () => {
    it('may be called by the clock', () => {
      let isClosing = false
      const { ids } = simulated({
        clock: () => {
          if (isClosing) ids.close()
          return 1000
        },
      })
      ids.next()
      isClosing = true
      ids.close()
      expect(caught(() => ids.next()).code).toBe('ERR_CLOSED')
    })

    it('ends every way to make ids', async () => {
      const { ids } = simulated()
      ids.next()
      ids.close()
      ids.close()
      for (const call of [
        () => ids.next(),
        () => ids.nextString(),
        () => ids.nextNumber(),
        () => ids.take(1),
        () => ids.fill(new BigUint64Array(1)),
        () => ids.fill(new BigUint64Array(0)),
        () => [...ids],
      ]) {
        expect(caught(call).code).toBe('ERR_CLOSED')
      }
      await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      await expect(ids.fillAsync(new BigUint64Array(1))).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      expect(ids.stats().issued).toBe(1)
    })

    it('leaves the other instances alone', () => {
      const { ids, another } = simulated()
      const other = another()
      ids.next()
      ids.close()
      expect(parts(other.next())[1]).toBe(1)
      expect(parts(another().next())[1]).toBe(2)
    })

    it('is what the end of a block with using calls', () => {
      const { ids } = simulated()
      ids[Symbol.dispose]()
      expect(caught(() => ids.next()).code).toBe('ERR_CLOSED')
    })
  })

  it('tells what it did', () => {
    const { ids, time } = simulated()
    ids.take(5)
    time.now = 999
    ids.next()
    expect(ids.stats()).toEqual({
      engine,
      state: 'process',
      issued: 6,
      waits: 0,
      waitedMs: 0,
      rollbacks: 1,
      overflows: 0,
      aheadMs: 1,
      ceilingMs: null,
    })
  })
})

function decodeTiny(id: bigint) {
  return { timestampMs: Number(id >> 7n), sequence: Number(id & 7n) }
}
