import { createGenerator, defineLayout, type GeneratorSettings } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { collectGarbage } from '../support/garbage.js'
import { isAscending } from '../support/ids.js'
import { tiny } from '../support/simulated.js'
import { until } from '../support/until.js'

const narrow = defineLayout({
  ...tiny,
  fields: [
    ['timestamp', 42],
    ['node', 4],
    ['sequence', 6],
  ],
})

describe.each(engines)('without blocking, the %s engine', (engine) => {
  const real = (options: Omit<GeneratorSettings, 'lease'> = {}) =>
    createGenerator({ engine, node: 1, namespace: freshNamespace(), ...options })

  const simulated = (time: { now: number }, options: object = {}) =>
    createGenerator({ engine, node: 1, namespace: freshNamespace(), layout: tiny, clock: () => time.now, ...options })

  it('makes 10 000 ids at once under overflow, distinct and in the order of the calls', async () => {
    const ids = real({ layout: narrow as never })
    const made = await Promise.all(Array.from({ length: 10_000 }, () => ids.nextAsync()))
    expect(isAscending(made)).toBe(true)
    expect(ids.stats().overflows).toBeGreaterThan(0)
  })

  it('keeps no array that fillAsync has filled', async () => {
    const ids = real({ layout: narrow as never })
    const filled = new WeakRef(await ids.fillAsync(new BigUint64Array(1000)))
    expect(ids.stats().overflows).toBeGreaterThan(0)
    await collectGarbage()
    expect(filled.deref()).toBeUndefined()
  })

  it('makes 10 000 ids at once under rollback, distinct and in the order of the calls', async () => {
    const time = { now: 5000 }
    const ids = simulated(time, { onRollback: 'wait', onOverflow: 'wait' })
    ids.next()
    time.now = 4980
    let ticks = 0
    const timer = setInterval(() => {
      time.now += 7
      ticks += 1
    }, 1)
    const made = await Promise.all(Array.from({ length: 10_000 }, () => ids.nextAsync()))
    clearInterval(timer)
    expect(isAscending(made)).toBe(true)
    expect(made[0]).toBeGreaterThanOrEqual(5000n << 7n)
    // The timer could only run because the calls did not block.
    expect(ticks).toBeGreaterThan(100)
    expect(ids.stats()).toMatchObject({ rollbacks: 1, issued: 10_001 })
  })

  it('mixes with calls that block, without a duplicate', async () => {
    const ids = real()
    const pending = Array.from({ length: 6000 }, () => ids.nextAsync())
    const blocking = ids.take(5000)
    const made = await Promise.all(pending)
    expect(isAscending(made)).toBe(true)
    expect(new Set([...made, ...blocking]).size).toBe(11_000)
  })

  it('fills arrays in the order of the calls, others in between', async () => {
    const ids = real()
    const [a, one, b, two] = await Promise.all([
      ids.fillAsync(new BigUint64Array(9000)),
      ids.nextAsync(),
      ids.fillAsync(new BigInt64Array(3000)),
      ids.nextAsync(),
    ])
    expect(isAscending([...a, one, ...b, two])).toBe(true)
  })

  it('lets the event loop turn while a large array is filled', async () => {
    const ids = real({ onOverflow: 'advance', maxAheadMs: 3_600_000 })
    let turns = 0
    let isDone = false
    const turn = () => {
      turns += 1
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const array = await ids.fillAsync(new BigUint64Array(3_000_000))
    isDone = true
    expect(turns).toBeGreaterThan(5)
    expect(isAscending(Array.from(array.subarray(0, 10_000)))).toBe(true)
    expect(array.at(-1)).not.toBe(0n)
  })

  it('rejects if next would throw, and goes on with the calls behind', async () => {
    const time = { now: 5000 }
    const ids = simulated(time, { onRollback: 'wait', maxWaitMs: 10 })
    ids.next()
    time.now = 4000
    const calls = [ids.nextAsync(), ids.fillAsync(new BigUint64Array(3))]
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((outcomes[0] as PromiseRejectedResult).reason).toMatchObject({
      code: 'ERR_CLOCK_ROLLBACK',
      retryAfterMs: 1000,
    })
    expect((outcomes[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', filled: 0 })
    time.now = 5000
    expect(await ids.nextAsync()).toBe((5000n << 7n) | (1n << 3n) | 1n)
  })

  it('rejects what is waiting when the generator is closed', async () => {
    const time = { now: 5000 }
    const ids = simulated(time)
    ids.take(8)
    const calls = [ids.nextAsync(), ids.nextAsync(), ids.fillAsync(new BigUint64Array(2))]
    setImmediate(() => ids.close())
    const outcomes = await Promise.allSettled(calls)
    for (const outcome of outcomes) {
      expect((outcome as PromiseRejectedResult).reason).toMatchObject({ code: 'ERR_CLOSED' })
    }
  })

  it('rejects when the array is given away while it is being filled', async () => {
    const time = { now: 5000 }
    const ids = simulated(time)
    const array = new BigUint64Array(20)
    const call = ids.fillAsync(array)
    setImmediate(() => {
      structuredClone(array.buffer, { transfer: [array.buffer] })
      time.now += 1
    })
    await expect(call).rejects.toMatchObject({ code: 'ERR_ARRAY_INVALID' })
  })

  it('rejects, and does not throw, for a clock that went wrong', async () => {
    const time = { now: 5000 }
    const ids = simulated(time)
    time.now = Number.NaN
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOCK_INVALID' })
    await expect(ids.fillAsync(new BigUint64Array(3))).rejects.toMatchObject({ code: 'ERR_CLOCK_INVALID' })
  })

  it('fills an empty array at once', async () => {
    const ids = real()
    expect((await ids.fillAsync(new BigUint64Array(0))).length).toBe(0)
    expect(ids.stats().issued).toBe(0)
  })
})

describe.each(engines)('in odd moments, the %s engine', (engine) => {
  const at = (time: { now: number }, options: object = {}) =>
    createGenerator({ engine, node: 1, namespace: freshNamespace(), layout: tiny, clock: () => time.now, ...options })

  it('may be closed by the policy that a waiting call asks', async () => {
    const time = { now: 5000 }
    const ids = at(time, {
      onRollback: () => {
        ids.close()
        return 'throw'
      },
    })
    ids.next()
    time.now = 4000
    const calls = [ids.nextAsync(), ids.nextAsync()]
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('goes on after more calls have waited than it keeps', async () => {
    const time = { now: 5000 }
    const ids = at(time)
    const timer = setInterval(() => {
      time.now += 100
    }, 1)
    let made = 0
    // One call behind another, so that the queue is never empty.
    const loop = async () => {
      for (let i = 0; i < 150; i++) {
        await ids.nextAsync()
        made++
      }
    }
    await Promise.all(Array.from({ length: 32 }, loop))
    clearInterval(timer)
    expect(made).toBe(4800)
  })

  it('counts one wait, however often it looks at a clock that stands still', async () => {
    const time = { now: 5000 }
    let looks = 0
    const clock = () => {
      looks++
      return time.now
    }
    const ids = at(time, { clock })
    ids.take(8)
    const call = ids.nextAsync()
    const before = looks
    await until(() => looks > before + 5)
    expect(ids.stats().waits).toBe(1)
    time.now = 5001
    await call
    expect(ids.stats().waits).toBe(1)
  })
})

describe.each(engines)('on ticks of a second, the %s engine', (engine) => {
  const seconds = defineLayout({ ...tiny, name: 'seconds', tickMs: 1000 })
  const at = (time: { now: number }, options: object = {}) =>
    createGenerator({
      engine,
      node: 1,
      namespace: freshNamespace(),
      layout: seconds,
      clock: () => time.now,
      ...options,
    })
  /** A clock that goes on by a tenth of a second whenever the event loop turns. */
  const ticking = (time: { now: number }) => {
    const timer = setInterval(() => {
      time.now += 100
    }, 1)
    return () => clearInterval(timer)
  }

  it('makes more ids than a tick holds if nothing blocks, and refuses if something would', async () => {
    const time = { now: 5_000_000 }
    const ids = at(time)
    ids.take(8)
    for (const call of [() => ids.next(), () => ids.take(1)]) {
      expect(caught(call)).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1000 })
    }
    const stop = ticking(time)
    const calls = Array.from({ length: 20 }, () => ids.nextAsync())
    const array = ids.fillAsync(new BigUint64Array(20))
    const made = [...(await Promise.all(calls)), ...(await array)]
    stop()
    expect(isAscending(made)).toBe(true)
    expect(made.length).toBe(40)
    expect(ids.decode(made[0] as bigint).timestampMs).toBeGreaterThan(5_000_000)
  })

  it("rejects at once if the policy is 'throw'", async () => {
    const ids = at({ now: 5_000_000 }, { onOverflow: 'throw' })
    ids.take(8)
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1000 })
  })

  it('waits for a clock that stepped back by a tick, and refuses for one that stepped back further', async () => {
    const time = { now: 5_000_000 }
    const ids = at(time, { onRollback: 'wait' })
    ids.next()
    time.now -= 1000
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 1000 })
    const stop = ticking(time)
    const { timestampMs } = ids.decode(await ids.nextAsync())
    stop()
    expect(timestampMs).toBeGreaterThanOrEqual(5_000_000)
    time.now = timestampMs - 2000
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 2000 })
  })

  it('counts ahead by two ticks, if nothing else is said', () => {
    const ids = at({ now: 5_000_000 }, { onOverflow: 'advance' })
    expect(ids.decode(ids.take(24).at(-1) as bigint)).toMatchObject({ timestampMs: 5_002_000, sequence: 7 })
    expect(caught(() => ids.next()).code).toBe('ERR_SEQUENCE_OVERFLOW')
  })
})
