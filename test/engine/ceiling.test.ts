import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { openCore } from '../../src/engine/open.js'
import { GivenNode } from '../../src/engine/source/node-source.js'
import { createGenerator } from '../../src/generator/create.js'
import { Queue } from '../../src/numbers/queue.js'
import { OneTask } from '../../src/numbers/task.js'
import { PolicyRunner } from '../../src/policy/runner.js'
import { CeilingOutcome, type Core, type CoreSpec, Status } from '../../src/state/engine.js'
import { engines, freshNamespace } from '../support/engines.js'
import { clock, layout, nowSlot, slotOf, specFor, tick, wideSpecFor } from './tiny.js'

// Ceilings and floors that calls raise, without a store or a file.

describe.each(engines)('a ceiling of the %s engine that calls raise', (engine) => {
  const open = (spec: CoreSpec) => openCore(engine, spec)

  it('allows no id before the first call', () => {
    const core = open(specFor(freshNamespace()))
    expect(core.takeOne()).toBe(Status.ceiling)
    expect(core.observe()).toMatchObject({ status: Status.ceiling, issued: 0, ceilingTick: 0 })
    expect(core.fill(new BigUint64Array(4), 0, 4)).toBe(0)
    expect(core.grant({ nowTick: Number(tick), limitTick: Number(tick) + 5 })).toBe(Status.ceiling)
  })

  it('allows every slot below it, and no other slot', () => {
    const core = open(specFor(freshNamespace()))
    core.raise({ ceiling: nowSlot + 3n })
    const slots = []
    while (core.takeOne() === Status.ok) slots.push(slotOf(core.id))
    expect(slots).toEqual([nowSlot, nowSlot + 1n, nowSlot + 2n])
    expect(core.takeOne()).toBe(Status.ceiling)
    expect(core.observe()).toMatchObject({ status: Status.ceiling, ceilingTick: Number(tick) })
    core.raise({ ceiling: nowSlot + 5n })
    const array = new BigUint64Array(8)
    expect(core.fill(array, 0, 8)).toBe(2)
    expect(slotOf(array[1] as bigint)).toBe(nowSlot + 4n)
  })

  it('is not lowered by a call with a lower ceiling', () => {
    const core = open(specFor(freshNamespace()))
    core.raise({ ceiling: nowSlot + 2n })
    core.raise({ ceiling: 0n })
    core.raise({ ceiling: nowSlot + 1n })
    expect([core.takeOne(), core.takeOne(), core.takeOne()]).toEqual([Status.ok, Status.ok, Status.ceiling])
  })

  it('bounds what a policy may grant ahead of the clock', () => {
    const core = open(specFor(freshNamespace()))
    core.raise({ ceiling: nowSlot + 12n })
    const array = new BigUint64Array(64)
    expect(core.fill(array, 0, 64, { nowTick: Number(tick), limitTick: Number(tick) + 50 })).toBe(12)
    expect(core.grant({ nowTick: Number(tick), limitTick: Number(tick) + 50 })).toBe(Status.ceiling)
  })

  it('is the same for all generators of a key', () => {
    const namespace = freshNamespace()
    const [first, second] = [open(specFor(namespace)), open(specFor(namespace))]
    second.raise({ ceiling: nowSlot + 1n })
    expect([first.takeOne(), second.takeOne()]).toEqual([Status.ok, Status.ceiling])
  })

  it('is not passed when a history begins while the clock is ahead of it', () => {
    // The clock shows the present time, which is far above both bounds.
    const core = open(specFor(freshNamespace(), { clock: 'wall', nowMs: Date.now(), history: true }))
    core.raise({ floor: nowSlot, ceiling: nowSlot + 8n })
    expect(core.takeOne()).toBe(Status.ceiling)
    // The first unused slot.
    expect(core.raise({})).toBe(nowSlot)
  })

  it('is not waited for: the answer says at once that it has not risen', () => {
    const core = open(specFor(freshNamespace()))
    core.observe()
    expect(core.awaitCeiling(0, 2 ** 31 - 1)).toEqual({ outcome: CeilingOutcome.timeout, round: 0 })
  })

  it('rises for worker threads that run', async () => {
    const spec = specFor(freshNamespace(), { clock: 'wall', nowMs: Date.now() })
    const main = open(spec)
    const file = new URL('./programs/bounded-worker.js', import.meta.url)
    const worker = new Worker(file, { workerData: { engine, spec } })
    await once(worker, 'message')
    const made = async () => {
      worker.postMessage('make')
      return (await once(worker, 'message'))[0] as { ids: bigint[]; status: number }
    }
    expect(await made()).toEqual({ ids: [], status: Status.ceiling })
    // The ceiling is far behind the clock, so the ceiling ends the worker, not the clock.
    main.raise({ ceiling: 5n })
    expect(await made()).toEqual({ ids: [], status: Status.ceiling })
    main.raise({ ceiling: (BigInt(main.observe().nowTick) + 60_000n) * 8n })
    const { ids } = await made()
    expect(ids.length).toBeGreaterThan(0)
    worker.postMessage('close')
    await once(worker, 'exit')
  })

  it('lets a blocking call throw the error of its source at once, and an asynchronous call wait', async () => {
    const core = open(specFor(freshNamespace()))
    const policy = { onRollback: 'advance', onOverflow: 'wait', maxAheadMs: 100, maxWaitMs: 60_000 } as const
    const counters = { waits: 0, waitedMs: 0, rollbacks: 0, overflows: 0, observed: 0, raised: 0, refused: 0 }
    const source = Object.create(new GivenNode(1), { kind: { value: 'leased' } })
    const subject = { layout, namespace: '', hasInjectedClock: true, path: '', source }
    const ids = new PolicyRunner({ core, policy, subject, counters })
    expect(() => ids.finish(new OneTask(core))).toThrow(/ceiling has not risen within \d+ ms/)
    const waiting = new Queue(ids, false).add(new OneTask(core))
    setImmediate(() => core.raise({ ceiling: nowSlot + 1n }))
    await waiting
    expect(slotOf(core.id)).toBe(nowSlot)
    expect(counters.waits).toBe(2)
  })

  it('does nothing after the core is closed', () => {
    const namespace = freshNamespace()
    const [core, other] = [open(specFor(namespace)), open(specFor(namespace))]
    core.close()
    core.raise({ ceiling: nowSlot + 8n })
    core.raise({ floor: nowSlot + 4n, highTick: Number(tick) })
    expect(other.takeOne()).toBe(Status.ceiling)
    expect(other.observe().headTick).toBe(0)
  })
})

describe.each(engines)('a floor of the %s engine that a call raises', (engine) => {
  it('allows no id below it', () => {
    const core = openCore(engine, specFor(freshNamespace(), { state: { kind: 'process' } }))
    core.raise({ floor: nowSlot + 5n, highTick: Number(tick) })
    expect([core.takeOne(), slotOf(core.id)]).toEqual([Status.ok, nowSlot + 5n])
    core.raise({ floor: nowSlot })
    expect([core.takeOne(), slotOf(core.id)]).toEqual([Status.ok, nowSlot + 6n])
  })

  it('makes a clock before the time of the floor count as stepped back', () => {
    const core = openCore(engine, specFor(freshNamespace(), { state: { kind: 'process' } }))
    core.raise({ floor: nowSlot + 80n, highTick: Number(tick) + 9 })
    expect(core.takeOne()).toBe(Status.ahead)
    expect(core.observe()).toMatchObject({ headTick: Number(tick) + 10, highTick: Number(tick) + 9 })
  })

  it('returns the first unused slot before the call', () => {
    const namespace = freshNamespace()
    const [core, other] = [openCore(engine, specFor(namespace)), openCore(engine, specFor(namespace))]
    expect(core.raise({ floor: nowSlot + 2n, highTick: Number(tick) })).toBe(0n)
    core.raise({ ceiling: nowSlot + 30n })
    expect([core.takeOne(), other.takeOne()]).toEqual([Status.ok, Status.ok])
    // A slot that the word has already passed changes nothing.
    expect(core.raise({})).toBe(nowSlot + 4n)
    expect(other.fill(new BigUint64Array(9), 0, 9, { nowTick: Number(tick), limitTick: Number(tick) + 9 })).toBe(9)
    expect(core.raise({ floor: nowSlot + 30n, highTick: Number(tick) })).toBe(nowSlot + 13n)
    expect(core.raise({ floor: nowSlot + 30n, highTick: Number(tick) })).toBe(nowSlot + 30n)
    expect(other.grant({ nowTick: Number(tick), limitTick: Number(tick) + 9 })).toBe(Status.ceiling)
  })

  it('does nothing after the core is closed, and returns that every slot below may be used', () => {
    const namespace = freshNamespace()
    const [core, other] = [openCore(engine, specFor(namespace)), openCore(engine, specFor(namespace))]
    core.close()
    expect(core.raise({ floor: nowSlot + 4n, highTick: Number(tick) })).toBe(nowSlot + 4n)
    expect(other.raise({})).toBe(0n)
  })

  it('ends the ids of all threads, and returns the exact end', async () => {
    const rounds = 300
    const specs = [specFor(freshNamespace()), wideSpecFor(freshNamespace())]
    const nowTick = Number(tick)
    const workers = 2
    // The current round, and the numbers of workers that were ready for a round and have ended it.
    const turns = new Int32Array(new SharedArrayBuffer(12))
    const counts = new Int32Array(new SharedArrayBuffer(workers * 4))
    const lastSlots = new BigUint64Array(new SharedArrayBuffer(workers * 8))
    const file = new URL('./programs/draining-worker.js', import.meta.url)
    const portable = specs.map(({ clock: _, ...spec }) => spec)
    const threads = Array.from({ length: workers }, (_, index) => {
      const workerData = { engine, specs: portable, nowTick, rounds, turns, counts, lastSlots, index }
      return new Worker(file, { workerData })
    })
    const failed = Promise.race(threads.map((thread) => once(thread, 'error').then(([error]) => Promise.reject(error))))
    const ended = Promise.all(threads.map((thread) => once(thread, 'exit')))
    /** Waits until all workers have added 1. */
    const allOf = async (turn: number, round: number): Promise<void> => {
      const seen = Atomics.load(turns, turn)
      if (seen === round * workers) return
      await Promise.race([Atomics.waitAsync(turns, turn, seen).value, failed])
      return allOf(turn, round)
    }
    let madeByWorkers = 0
    let endedEarly = 0
    for (let round = 1; round <= rounds; round++) {
      const spec = specs[round % specs.length] as CoreSpec
      const core = openCore(engine, { ...spec, key: `${spec.key} ${round}` })
      const from = tick << BigInt(spec.sequenceBits)
      const ceiling = from + 1_000_000n
      core.raise({ floor: from, highTick: nowTick })
      core.raise({ ceiling })
      await allOf(1, round)
      Atomics.store(turns, 0, round)
      Atomics.notify(turns, 0)
      let made = 0
      const grantOne = () => core.grant({ nowTick, limitTick: spec.maxTick }) === Status.ok
      // A call is refused if the workers have used everything up while this thread stood still.
      const wanted = (round * 37) % 1500
      while (made < wanted && grantOne()) made++
      const end = core.raise({ floor: ceiling, highTick: nowTick })
      while (grantOne()) made++
      await allOf(2, round)
      expect(core.observe()).toMatchObject({ headTick: Number(ceiling >> BigInt(spec.sequenceBits)) })
      expect(lastSlots.every((slot) => slot < end)).toBe(true)
      // No slot is missing, because each thread has handed out its whole run.
      const byWorkers = counts.reduce((sum, count) => sum + count, 0)
      expect(byWorkers + made).toBe(Number(end - from))
      madeByWorkers += byWorkers
      if (end < ceiling) endedEarly++
    }
    expect(madeByWorkers).toBeGreaterThan(rounds)
    expect(endedEarly).toBeGreaterThan(0)
    await ended
  })

  it('holds for generators that other code of the process has open', () => {
    const namespace = freshNamespace()
    const ids = createGenerator({ layout, node: 1, namespace, clock, engine })
    openCore(engine, specFor(namespace, { state: { kind: 'process' } })).raise({
      floor: nowSlot + 7n,
      highTick: Number(tick),
    })
    expect(slotOf(ids.next())).toBe(nowSlot + 7n)
  })
})

describe.each(engines)('a floor of the %s engine that is raised over ticks with a history', (engine) => {
  const past = Number(tick)
  /** Returns the reused slots of ticks from `past` on. */
  const unusedOf = (core: Core, ticks: number) => {
    const slots: bigint[] = []
    const array = new BigUint64Array(3)
    for (let at = past; at < past + ticks; at++) {
      for (const id of array.subarray(0, core.fill(array, 0, 3, { nowTick: at }))) slots.push(slotOf(id))
      if (core.grant({ nowTick: at }) === Status.ok) slots.push(slotOf(core.id))
    }
    return slots
  }
  const open = (namespace: string, history: boolean) => {
    const core = openCore(engine, specFor(namespace, { history, state: { kind: 'process' } }))
    return {
      core,
      use: (at: number) => expect(core.grant({ nowTick: past + at, limitTick: past + at })).toBe(Status.ok),
    }
  }

  it.each([0n, 1n, 7n])('prevents the reuse of ticks below it, %s slots into a tick', (sequence) => {
    const floor = (tick + 20n) * 8n + sequence
    const { core, use } = open(freshNamespace(), true)
    for (const at of [2, 4, 10]) use(at)
    // Without the floor, slots could be reused.
    expect(core.grant({ nowTick: past + 3 })).toBe(Status.ok)
    expect(core.raise({ floor, highTick: past + 19 })).toBe((tick + 10n) * 8n + 1n)
    expect(unusedOf(core, 30)).toEqual([])
    // Later ticks have marks again.
    for (const at of [22, 24]) use(at)
    const above = unusedOf(core, 30)
    expect(above.length).toBeGreaterThan(8)
    expect(above.every((slot) => slot >= floor)).toBe(true)
  })

  it('prevents the reuse of ticks below it, even if the history begins later', () => {
    const namespace = freshNamespace()
    const floor = (tick + 20n) * 8n + 3n
    const former = open(namespace, false)
    for (const at of [2, 4]) former.use(at)
    former.core.raise({ floor, highTick: past + 19 })
    const { core, use } = open(namespace, true)
    expect(unusedOf(core, 30)).toEqual([])
    for (const at of [22, 24]) use(at)
    const above = unusedOf(core, 30)
    expect(above.length).toBeGreaterThan(8)
    expect(above.every((slot) => slot >= floor)).toBe(true)
  })
})
