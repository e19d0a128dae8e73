import { createGenerator, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { tiny } from '../support/simulated.js'

describe.each(engines)('arrays on the %s engine', (engine) => {
  const at = (clock: () => number, options: object = {}) =>
    createGenerator({ engine, layout: layouts.tsid, node: 1, namespace: freshNamespace(), clock, ...options })

  it.each([
    [layouts.twitter, BigUint64Array],
    [layouts.tsid, BigUint64Array],
    [layouts.tsid, BigInt64Array],
  ])('are refused with a code where the clock gives them away: $name', async (layout, Kind) => {
    let array = new Kind(20)
    let isGiving = false
    const clock = () => {
      if (isGiving) structuredClone(array.buffer, { transfer: [array.buffer] })
      isGiving = false
      return Date.UTC(2030, 0, 1)
    }
    const ids = at(clock, { layout })
    isGiving = true
    expect(caught(() => ids.fill(array))).toMatchObject({ name: 'TypeError', code: 'ERR_ARRAY_INVALID' })
    array = new Kind(20)
    const call = ids.fillAsync(array)
    isGiving = true
    await expect(call).rejects.toMatchObject({ code: 'ERR_ARRAY_INVALID', filled: 0 })
    expect(ids.fill(new BigUint64Array(3)).every((id) => id > 0n)).toBe(true)
  })

  /** The last tick of which a BigInt64Array can show ids, and the first of which it cannot. */
  const crossing = layouts.tsid.epochMs + 2 ** 41

  it('that cross 2^63 while they are filled are refused, and say how many ids they hold', async () => {
    for (const isAsync of [false, true]) {
      const ids = at(() => crossing - 1, { onOverflow: 'advance' })
      const array = new BigInt64Array(10_000)
      const error = isAsync ? await ids.fillAsync(array).catch((error) => error) : caught(() => ids.fill(array))
      expect(error).toMatchObject({ name: 'RangeError', code: 'ERR_ARRAY_INVALID', filled: 4096 })
      expect(array.subarray(0, 4096).every((id) => id > 0n)).toBe(true)
    }
  })

  it('are refused if the word has run past 2^63 ahead of the clock', () => {
    const ids = at(() => crossing - 1, { onOverflow: 'advance' })
    ids.take(5000)
    expect(caught(() => ids.fill(new BigInt64Array(3)))).toMatchObject({ code: 'ERR_ARRAY_INVALID', filled: 0 })
    expect(ids.fill(new BigUint64Array(3))[0]).toBeGreaterThan(2n ** 63n)
  })

  it('of bigints are made up to what the memory of a process can hold', () => {
    const ids = at(() => Date.UTC(2030, 0, 1))
    for (const count of [2 ** 24 + 1, 2 ** 32 - 1]) {
      expect(caught(() => ids.take(count))).toMatchObject({ name: 'RangeError', code: 'ERR_OPTION_INVALID' })
    }
    expect(ids.stats().issued).toBe(0)
  })
})

describe.each(engines)("a late 'reuse' on the %s engine", (engine) => {
  it('leaves alone what was skipped before the first of them was made, and gives out what was skipped since', () => {
    const time = { now: 1000 }
    const shared = {
      engine,
      layout: tiny,
      node: 5,
      namespace: freshNamespace(),
      clock: () => time.now,
      maxWaitMs: 0,
    } as const
    const plain = createGenerator(shared)
    plain.next()
    time.now = 1010
    plain.next()
    time.now = 1005
    const reusing = createGenerator({ ...shared, onRollback: 'reuse' })
    expect(caught(() => reusing.next()).code).toBe('ERR_CLOCK_ROLLBACK')
    time.now = 1020
    plain.next()
    time.now = 1015
    expect(reusing.decode(reusing.next())).toMatchObject({ timestampMs: 1015, sequence: 0 })
    // The marks belong to the state, so one that is made later still has those from the first one on.
    const later = createGenerator({ ...shared, onRollback: 'reuse' })
    expect(later.decode(later.next())).toMatchObject({ timestampMs: 1015, sequence: 1 })
    time.now = 1012
    expect(later.decode(later.next())).toMatchObject({ timestampMs: 1012, sequence: 0 })
    time.now = 1008
    expect(caught(() => later.next()).code).toBe('ERR_CLOCK_ROLLBACK')
  })
})
