import { beforeEach, describe, expect, it } from 'vitest'
import { GraupelError } from '../../src/core/errors.js'
import type { Store } from '../../src/stores/store.js'
import { type Fault, lostAfter, lostBefore, never, World } from './counters.ts'

let world: World
beforeEach(() => {
  world = new World()
})

/**
 * A fault: the write is applied at once, its answer never comes, and meanwhile another counter writes `times`
 * times.
 */
const writtenOver =
  (times: number): Fault =>
  async (apply) => {
    await apply()
    const other = await world.open()
    for (let count = 0; count < times; count++) await other.nextNumber()
    throw new Error('cut after')
  }

/** A caller leaves while its count is written. */
const leftBy =
  (leaving: AbortController): Fault =>
  async (apply) => {
    leaving.abort(new Error('left'))
    return apply()
  }

const resent: Fault = async (apply) => {
  await apply()
  return apply()
}

/** Answers just before the time limit of a call, which is 100 ms. */
async function slow<T>(answer: () => T): Promise<T> {
  await world.time.sleep(95)
  return answer()
}

const slowFailure = () =>
  slow(() => {
    throw new Error('failed late')
  })

describe('a number is neither missing nor given twice', () => {
  it.each<[string, Fault]>([
    ['the reply of its write is lost', lostAfter],
    ['its write is lost', lostBefore],
    ['its write is never answered', never],
    ['the client repeats its write, which conflicts with itself', resent],
  ])('if %s', async (_, fault) => {
    const counter = await world.open()
    world.faults = [fault]
    expect(await world.until(counter.take(2))).toEqual(['1', '2'])
    expect(await world.until(counter.next())).toBe('3')
  })

  it('if the reply of its write is lost, and another process writes over it', async () => {
    const counter = await world.open()
    world.faults = [writtenOver(3)]
    expect(await world.until(counter.take(2))).toEqual(['1', '2'])
    expect(await world.until(counter.next())).toBe('6')
    expect(counter.stats()).toMatchObject({ issued: 3, writes: 2 })
  })

  it.each<[string, Fault]>([
    ['the reply of its write is lost', lostAfter],
    ['its write lands', (apply) => apply()],
  ])('if the machine is copied and %s: both copies count on, and neither gives the number', async (_, fault) => {
    const counter = await world.open()
    const whileWritten: Fault = (apply) => {
      world.generation++
      return fault(apply)
    }
    world.faults = [whileWritten]
    expect(await world.until(counter.take(2))).toEqual(['3', '4'])
    expect(counter.stats()).toMatchObject({ issued: 2, held: 0 })
  })

  it('if the machine is copied while a number is held', async () => {
    const counter = await world.open()
    const leaving = new AbortController()
    world.faults = [leftBy(leaving)]
    await Promise.allSettled([world.until(counter.take(2, leaving.signal))])
    expect(counter.stats()).toMatchObject({ issued: 0, held: 2, lost: 0 })
    world.generation++
    expect(await world.until(counter.next())).toBe('3')
    expect(counter.stats()).toMatchObject({ issued: 1, held: 0, lost: 2 })
  })

  it('if its caller leaves while it is written: the next caller gets it', async () => {
    const counter = await world.open()
    const [leaving, staying] = [new AbortController(), new AbortController()]
    world.faults = [leftBy(leaving)]
    const given = await Promise.allSettled([
      counter.take(2, staying.signal),
      counter.take(3, leaving.signal),
      counter.take(2, staying.signal),
    ])
    expect(given).toEqual([
      { status: 'fulfilled', value: ['1', '2'] },
      { status: 'rejected', reason: new Error('left') },
      { status: 'fulfilled', value: ['3', '4'] },
    ])
    expect(counter.stats()).toMatchObject({ issued: 4, writes: 1, held: 3 })
    expect(await counter.take(4)).toEqual(['8', '9', '10', '11'])
    expect(await counter.take(3)).toEqual(['5', '6', '7'])
    await expect(counter.take(1, leaving.signal)).rejects.toThrow('left')
    await expect(counter.take(1, 7 as never)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    expect(await counter.next()).toBe('12')
  })

  it('if its caller has left: a later call for which the held numbers suffice is answered first', async () => {
    const counter = await world.open()
    const leaving = new AbortController()
    world.faults = [leftBy(leaving)]
    await expect(counter.take(2, leaving.signal)).rejects.toThrow('left')
    const answered: string[][] = []
    const noted = async (numbers: Promise<string[]>) => answered.push(await numbers)
    await Promise.all([noted(counter.take(3)), noted(counter.take(1))])
    expect(answered).toEqual([['1'], ['3', '4', '5']])
  })

  it('if its write landed after its caller got an error: the next caller gets it', async () => {
    const counter = await world.open()
    // The store shows the write only after the deadline of 200 ms.
    const late: Fault = (apply) => {
      world.time.later(apply, 400)
      return never()
    }
    world.faults = [late, ...Array.from({ length: 20 }, () => lostBefore)]
    await expect(world.until(counter.take(3))).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('may or may not have written'),
    })
    await world.until(world.time.sleep(500))
    world.faults = []
    expect(await world.until(Promise.all([counter.next(), counter.next()]))).toEqual(['1', '2'])
    expect(counter.stats()).toMatchObject({ held: 1 })
    expect(await world.until(counter.take(2))).toEqual(['4', '5'])
    expect(await world.until(counter.next())).toBe('3')
    expect(counter.stats()).toMatchObject({ held: 0, issued: 5 })
  })

  it('if its write landed after its caller got an error, and the counter is closed: a call whose write is under way gets it', async () => {
    const counter = await world.open()
    world.faults = [lostAfter, ...Array.from({ length: 20 }, () => lostBefore)]
    const { read } = world.store
    Object.assign(world.store, { read: never })
    await expect(world.until(counter.next())).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    Object.assign(world.store, { read })
    const whileWritten: Fault = (apply) => {
      counter.close()
      return apply()
    }
    world.faults = [whileWritten]
    expect(await world.until(Promise.allSettled([counter.next(), counter.next()]))).toMatchObject([
      { value: '1' },
      { reason: { code: 'ERR_CLOSED' } },
    ])
    expect(await world.record()).toMatchObject({ count: 1 })
    expect(counter.stats()).toMatchObject({ held: 0, issued: 1 })
  })

  it('if its late write competes with a later write of the same process: one of them lands', async () => {
    const counter = await world.open()
    const writes: (() => Promise<string | undefined>)[] = []
    const keep: Fault = (apply) => {
      writes.push(apply)
      return never()
    }
    world.faults = Array.from({ length: 20 }, () => keep)
    await expect(world.until(counter.take(3))).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await expect(world.until(counter.take(2))).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    const versions = await Promise.all(writes.toReversed().map((apply) => apply()))
    expect(versions.filter((version) => version !== undefined)).toHaveLength(1)
    world.faults = []
    // The second write, of two numbers, landed first.
    expect(await world.record()).toMatchObject({ count: 2 })
    expect(await world.until(Promise.all([counter.next(), counter.next(), counter.next()]))).toEqual(['1', '2', '3'])
  })

  it.each([
    ['first', 0, 1],
    ['thousandth from the end', -1000, 1],
    ['last', -1, 1],
    // Forgotten, so that the memory of a process has a bound. Its number is missing.
    ['second', 1, 2],
  ])('if 1 100 writes failed, and the %s (writes.at(%i)) landed: the next number is %i', async (_, index, next) => {
    const counter = await world.open()
    const writes: (() => Promise<string | undefined>)[] = []
    const refused: Fault = async (apply) => {
      writes.push(apply)
      throw new GraupelError('ERR_STORE_UNSAFE', 'refused')
    }
    world.faults = Array.from({ length: 1100 }, () => refused)
    for (let call = 0; call < 1100; call++) {
      await expect(counter.nextNumber()).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    }
    await writes.at(index)?.()
    expect(await world.until(counter.nextNumber())).toBe(next)
  })

  it('unless its write landed after its caller got an error, and its period is over: it is lost, and stats() counts it', async () => {
    const counter = await world.open({ reset: 'day' })
    world.faults = [lostAfter, ...Array.from({ length: 20 }, () => lostBefore)]
    const { read } = world.store
    Object.assign(world.store, { read: never })
    await expect(world.until(counter.take(3))).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    Object.assign(world.store, { read })
    world.faults = []
    world.nowMs += 86_400_000
    expect(await world.until(counter.next())).toBe('1')
    expect(counter.stats()).toMatchObject({ held: 0, lost: 3, issued: 1 })
  })
})

describe('a store', () => {
  it('that does not answer rejects all waiting calls with its own error, and is used again once it answers', async () => {
    const counter = await world.open()
    world.faults = Array.from({ length: 30 }, () => lostBefore)
    const calls = Promise.allSettled([counter.next(), counter.take(2)])
    expect(await world.until(calls)).toMatchObject([
      { reason: { code: 'ERR_STORE_UNAVAILABLE', cause: { cause: { message: 'cut before' } } } },
      { reason: { code: 'ERR_STORE_UNAVAILABLE' } },
    ])
    world.faults = []
    expect(await world.until(counter.next())).toBe('1')
  })

  describe.each<[string, Partial<Store>]>([
    ['that hangs', { read: never, write: never, nowMs: never }],
    ['whose writes hang', { write: never }],
    ['whose writes fail at once, and whose reads hang', { read: never, write: () => Promise.reject(new Error('cut')) }],
    [
      'whose writes hang, and whose clock takes nearly its time',
      { write: never, nowMs: () => slow(() => world.nowMs) },
    ],
    ['that takes nearly its time for each failure', { read: slowFailure, write: slowFailure }],
  ])('%s', (_, hanging) => {
    it.each(['never', 'day'] as const)(
      'refuses each call after two time limits of a call (reset %s)',
      async (reset) => {
        const counter = await world.open({ reset })
        // The first write lands late, and the calls that come meanwhile wait for it.
        world.faults = [async (apply) => world.time.sleep(90).then(apply)]
        const landed = counter.next()
        await world.until(world.time.sleep(5))
        Object.assign(world.store, hanging)
        const waited: number[] = []
        const refused: unknown[] = []
        for (let call = 0; call < 40; call++) {
          const sinceMs = world.time.monotonicMs()
          counter.next().catch(({ code }) => {
            refused.push(code)
            waited.push(world.time.monotonicMs() - sinceMs)
          })
          await world.until(world.time.sleep(15))
        }
        await world.until(world.time.sleep(1000))
        expect(await landed).toBe('1')
        expect(refused).toEqual(Array.from({ length: 40 }, () => 'ERR_STORE_UNAVAILABLE'))
        expect(Math.max(...waited)).toBeLessThanOrEqual(200)
      },
    )
  })

  it('that hangs after many writes in a row refuses a call after two time limits of a call, with its pause', async () => {
    const counter = await world.open({ callTimeoutMs: 20 })
    const answer: Fault = async (apply) => world.time.sleep(13).then(apply)
    world.faults = Array.from({ length: 32 }, () => answer)
    for (let call = 0; call < 32; call++) await world.until(counter.next())
    world.store.write = never
    const sinceMs = world.time.monotonicMs()
    await expect(world.until(counter.next())).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(world.time.monotonicMs() - sinceMs).toBeLessThanOrEqual(40)
  })

  it('that answers again gives a number to a call that has time for a write, whatever earlier calls got', async () => {
    const counter = await world.open()
    await counter.next()
    const { write } = world.store
    world.store.write = never
    const first = counter.next()
    await world.until(world.time.sleep(5))
    const second = counter.next()
    await world.until(world.time.sleep(185))
    world.store.write = write
    const third = counter.next()
    const settled = world.until(Promise.allSettled([first, second, third]))
    expect(await settled).toMatchObject([
      { reason: { code: 'ERR_STORE_UNAVAILABLE' } },
      { reason: { message: expect.stringMatching(/behind a write that has failed; nothing was counted/) } },
      { status: 'fulfilled' },
    ])
  })

  it('that hangs rejects a call whose signal is aborted with the reason of the signal', async () => {
    const counter = await world.open()
    world.store.write = never
    const leaving = new AbortController()
    const under = counter.take(2, leaving.signal)
    await world.until(world.time.sleep(150))
    const behind = counter.take(2, leaving.signal)
    const staying = counter.next()
    leaving.abort(new Error('left'))
    expect(await world.until(Promise.allSettled([under, behind, staying]))).toMatchObject([
      { reason: { message: 'left' } },
      { reason: { message: 'left' } },
      { reason: { code: 'ERR_STORE_UNAVAILABLE' } },
    ])
  })

  it('that is fast gives a number to a call that was made before the thread was busy for long', async () => {
    const counter = await world.open()
    const now = world.time.monotonicMs.bind(world.time)
    let busyMs = 0
    world.time.monotonicMs = () => now() + busyMs
    const calls = [counter.next(), counter.next()]
    busyMs += 1000
    expect(await world.until(Promise.all(calls))).toEqual(['1', '2'])
  })

  it('whose clock fails rejects the call, and nothing is counted', async () => {
    const nowMs = () => Promise.reject(new Error('no time'))
    const counter = await world.open({ store: { ...world.store, nowMs }, reset: 'day' })
    await expect(counter.next()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: { message: 'no time' } })
    expect(world.writes).toBe(0)
  })

  it('that gives an invalid answer is refused', async () => {
    const counter = await world.open({ store: { ...world.store, write: async () => 7 as never } })
    await expect(world.until(counter.next())).rejects.toMatchObject({ code: 'ERR_STORE_INVALID' })
  })

  it.each([
    ['an older record', 1],
    ['no record', 0],
  ])('that has %s after a failover makes no process repeat what it has seen', async (_, kept) => {
    const { read } = world.inner
    const counter = await world.open()
    if (kept > 0) await counter.next()
    const old = await world.inner.read('numbers/orders')
    await counter.take(5)
    // Another server takes over the store.
    let entry = old
    Object.assign(world.store, {
      read: async () => entry,
      write: async (key: string, value: string, expected: string | undefined) => {
        if (expected !== entry?.version) return undefined
        entry = { key, value, version: `new ${value.length}` }
        return entry.version
      },
    })
    expect(await world.until(counter.nextNumber())).toBe(kept + 6)
    expect(counter.stats()).toMatchObject({ recovered: 1 })
    Object.assign(world.store, { read })
  })

  it('to which other processes write all the time lets a call end', async () => {
    let count = 0
    const busy: Fault = async () => {
      const record = { ...(await world.record()), count: ++count }
      await world.replace(JSON.stringify(record))
      await world.time.sleep(10)
      return undefined
    }
    const [counter, other] = [await world.open(), await world.open()]
    await other.next()
    world.faults = Array.from({ length: 1000 }, () => busy)
    await expect(world.until(counter.next())).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('lost every write to other processes for 1000 ms'),
    })
  })
})
