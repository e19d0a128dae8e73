import { runInNewContext } from 'node:vm'
import { createGenerator, defineLayout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { disguised } from '../support/disguised.js'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { simulatedOn, tiny } from '../support/simulated.js'

describe.each(engines)('fill on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it('fills both kinds of arrays, ascending, and returns the one it got', () => {
    const { ids } = simulated({ onOverflow: 'advance' })
    for (const array of [new BigUint64Array(100), new BigInt64Array(100)]) {
      const filled: BigUint64Array | BigInt64Array = ids.fill(array)
      expect(filled).toBe(array)
      const made = Array.from(array as BigUint64Array)
      expect(isAscending(made)).toBe(true)
    }
  })

  it('hands out the rest of a run first, so that next and fill stay in order', () => {
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
    expect(isAscending(made)).toBe(true)
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

  describe.each(['clock', 'onRollback'])('whose function %s throws after some ids', (by) => {
    function failing(thrown: unknown) {
      let reads = 0
      const fail = () => {
        throw thrown
      }
      const clock = () => {
        if (++reads < 6) return 1000 + reads
        return by === 'clock' ? fail() : 900
      }
      return simulated({ clock, onRollback: fail, onOverflow: 'throw' }).ids
    }

    it('says with its error how far it came', async () => {
      const error: Error & { filled?: number } = new Error('own')
      const array = new BigUint64Array(200)
      expect(caught(() => failing(error).fill(array))).toBe(error)
      expect(error.filled).toBeGreaterThan(0)
      expect(error.filled).toBe(array.indexOf(0n))
      delete error.filled
      array.fill(0n)
      await expect(failing(error).fillAsync(array)).rejects.toBe(error)
      expect(error.filled).toBeGreaterThan(0)
      expect(error.filled).toBe(array.indexOf(0n))
    })

    it.each([
      ['a frozen error', Object.freeze(new Error('own'))],
      ['a text', 'own'],
    ])('throws %s as it is', async (_, thrown) => {
      const array = new BigUint64Array(200)
      await expect(failing(thrown).fillAsync(array)).rejects.toBe(thrown)
      expect(array[0]).not.toBe(0n)
    })
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

  it.each([4, 300])('fills the real elements of an array that disguises them: %d', async (length) => {
    const { ids } = simulated({ onOverflow: 'advance', maxAheadMs: 1e6 })
    for (const { how, array, elements } of disguised(length)) {
      for (const filled of [ids.fill(array), await ids.fillAsync(array.fill(0n))]) expect(filled, how).toBe(array)
      const whole = [...elements]
      expect(isAscending(whole.slice(1, -1)), how).toBe(true)
      expect([whole[0], whole.indexOf(0n, 1), whole.length], how).toEqual([0n, length + 1, length + 2])
    }
    expect(ids.stats().issued).toBe(16 * length)
  })

  it('refuses shared memory, whatever the array says of its buffer', () => {
    const array = new BigUint64Array(new SharedArrayBuffer(80))
    Object.defineProperty(array, 'buffer', { value: new ArrayBuffer(80) })
    expect(caught(() => simulated().ids.fill(array as never)).code).toBe('ERR_ARRAY_INVALID')
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

describe.each(engines)('take on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

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
