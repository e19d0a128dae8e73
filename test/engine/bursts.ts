import { createGenerator, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'

/** Tests of ids that are made as fast as possible, on each engine. */
export function proveBursts(many: number): void {
  describe.each(engines)('a burst on the %s engine', (engine) => {
    // Strictly ascending ids are distinct, and checking the order needs no memory.
    it(`of ${many} ids from one instance ascends strictly`, () => {
      const ids = createGenerator({ engine, node: 1, namespace: freshNamespace() })
      let last = 0n
      let outOfOrder = 0
      for (let i = 0; i < many; i++) {
        const id = ids.next()
        if (id <= last) outOfOrder++
        last = id
      }
      expect(outOfOrder).toBe(0)
      expect(ids.stats().issued).toBe(many)
      // On a busy machine few ticks are used up.
      expect(ids.stats().overflows).toBeGreaterThan(0)
    })

    it(`of ${many} ids from two instances, interleaved, ascends strictly over both`, () => {
      const options = { engine, node: 1, namespace: freshNamespace() }
      const one = createGenerator(options)
      const two = createGenerator(options)
      let last = 0n
      let outOfOrder = 0
      for (let i = 0; i < many; i += 2) {
        const a = one.next()
        const b = two.next()
        if (a <= last || b <= a) outOfOrder++
        last = b
      }
      expect(outOfOrder).toBe(0)
    })

    it('that runs ahead of the clock, by next and fill alternately, ascends strictly', () => {
      const ids = createGenerator({
        engine,
        node: 1,
        namespace: freshNamespace(),
        layout: layouts.wide,
        onOverflow: 'advance',
        maxAheadMs: 60_000,
      })
      const array = new BigUint64Array(100_000)
      let last = 0n
      let outOfOrder = 0
      for (let round = 0; round < many / 200_000; round++) {
        ids.fill(array)
        for (const id of array) {
          if (id <= last) outOfOrder++
          last = id
        }
        for (let i = 0; i < 1000; i++) {
          const id = ids.next()
          if (id <= last) outOfOrder++
          last = id
        }
      }
      expect(outOfOrder).toBe(0)
      expect(ids.decode(last).timestampMs).toBeLessThanOrEqual(Date.now() + 60_000)
    })
  })
}
