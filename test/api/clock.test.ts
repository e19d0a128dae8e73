import { createGenerator } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { collectGarbage } from '../support/garbage.js'
import { parts, simulatedOn } from '../support/simulated.js'

describe.each(engines)('the clock on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

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

  it('may show 1970, before it was set: no generator is made, and the clock is to be set', () => {
    const error = caught(() => createGenerator({ engine, node: 1, clock: () => 0 }))
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOCK_BEFORE_EPOCH' })
    expect(error.message).toMatch(/^the clock shows 1970-01-01T00:00:00.000Z, before the epoch .*; set the clock/)
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

  it('is not kept after its generator', async () => {
    const made = () => {
      const clock = () => 1000
      simulated({ clock }).ids.next()
      return new WeakRef(clock)
    }
    const clock = made()
    await collectGarbage()
    expect(clock.deref()).toBeUndefined()
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
