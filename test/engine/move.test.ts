import { afterEach, describe, expect, it, vi } from 'vitest'
import { openCore } from '../../src/engine/open.js'
import { type CoreSpec, Status } from '../../src/state/engine.js'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { collectGarbage } from '../support/garbage.js'
import { nodeOf, nowSlot, slotOf, specFor, tick } from './tiny.js'

// Cores that move to another state.

const free: Partial<CoreSpec> = { state: { kind: 'process' } }

afterEach(() => vi.unstubAllEnvs())

describe.each(engines)('a core of the %s engine that moves', (engine) => {
  const open = (spec: CoreSpec) => openCore(engine, spec)

  it("makes ids with the other node's bits by the same functions", () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, free, 1))
    const next = () => [core.takeOne(), nodeOf(core.id), slotOf(core.id), core.idLow] as const
    expect(next().slice(0, 3)).toEqual([Status.ok, 1n, nowSlot])
    core.moveTo(specFor(namespace, free, 7))
    expect(next().slice(0, 3)).toEqual([Status.ok, 7n, nowSlot])
    expect(core.idLow).toBe(Number(core.id & 0xffff_ffffn))
    core.moveTo(specFor(namespace, free, 1))
    expect(next().slice(0, 3)).toEqual([Status.ok, 1n, nowSlot + 1n])
  })

  it('leaves its former state to other generators', () => {
    const namespace = freshNamespace()
    const [core, other] = [open(specFor(namespace, free, 1)), open(specFor(namespace, free, 1))]
    core.takeOne()
    core.moveTo(specFor(namespace, free, 2))
    core.raise({ floor: nowSlot + 500n })
    expect([other.takeOne(), nodeOf(other.id), slotOf(other.id)]).toEqual([Status.ok, 1n, nowSlot + 1n])
    expect(other.observe().issued).toBe(1)
  })

  it('counts its ids over all of its states', () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, free, 0))
    const array = new BigUint64Array(4)
    for (let node = 1; node <= 5; node++) {
      expect(core.takeOne()).toBe(Status.ok)
      expect(core.fill(array, 0, 3)).toBe(3)
      expect(core.observe()).toMatchObject({ status: Status.ok, issued: node * 4 })
      core.moveTo(specFor(namespace, free, node))
      expect(core.observe()).toMatchObject({ status: Status.ok, issued: node * 4, lastTick: -1 })
    }
  })

  it('fills an array with ids of both states', () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, free, 1))
    const array = new BigUint64Array(8)
    expect(core.fill(array, 0, 3)).toBe(3)
    core.moveTo(specFor(namespace, free, 2))
    expect(core.fill(array, 3, 6, { nowTick: Number(tick), limitTick: Number(tick) + 1 })).toBe(3)
    expect(core.fill(array, 6, 8)).toBe(2)
    expect([...array].map(nodeOf)).toEqual([1n, 1n, 1n, 2n, 2n, 2n, 2n, 2n])
    expect(slotOf(array[7] as bigint)).toBe(nowSlot + 4n)
  })

  it('has the floor, the ceiling and the history of its new state', () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, { history: true }, 1))
    core.raise({ ceiling: nowSlot + 8n })
    expect(core.raise({ floor: nowSlot + 7n })).toBeGreaterThan(0n)
    core.moveTo(specFor(namespace, { history: true }, 2))
    expect(core.takeOne()).toBe(Status.ceiling)
    core.raise({ ceiling: (tick + 9n) * 8n })
    for (const at of [2, 4])
      expect(core.grant({ nowTick: Number(tick) + at, limitTick: Number(tick) + at })).toBe(Status.ok)
    expect([core.grant({ nowTick: Number(tick) + 3 }), nodeOf(core.id)]).toEqual([Status.ok, 2n])
    expect(core.raise({})).toBe((tick + 4n) * 8n + 1n)
  })

  it('keeps its state if the other state cannot be opened', () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, free, 1))
    core.takeOne()
    const folder = '/dev/null/none'
    vi.stubEnv('GRAUPEL_STATE_FOLDER', folder)
    const spec = specFor(namespace, { ...free, state: { kind: 'host' }, stateFolder: folder }, 2)
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(caught(() => core.moveTo(spec)).code).toBe('ERR_STATE_UNAVAILABLE')
      expect([core.takeOne(), nodeOf(core.id), slotOf(core.id)]).toEqual([Status.ok, 1n, nowSlot + BigInt(attempt)])
      expect(core.observe().issued).toBe(1 + attempt)
    }
  })

  it('stays closed after it is closed', () => {
    const namespace = freshNamespace()
    const [core, other] = [open(specFor(namespace, free, 1)), open(specFor(namespace, free, 2))]
    core.close()
    core.moveTo(specFor(namespace, free, 2))
    expect([
      core.takeOne(),
      core.observe().status,
      core.grant({ nowTick: Number(tick), limitTick: Number(tick) }),
    ]).toEqual(Array(3).fill(Status.closed))
    expect(core.fill(new BigUint64Array(2), 0, 2)).toBe(0)
    expect(other.observe().lastTick).toBe(-1)
    // An earlier move changes nothing.
    const moved = open(specFor(namespace, free, 1))
    moved.moveTo(specFor(namespace, free, 2))
    moved.close()
    expect(moved.takeOne()).toBe(Status.closed)
    expect([other.takeOne(), slotOf(other.id)]).toEqual([Status.ok, nowSlot])
  })

  it('keeps its new state, and releases its former state', async () => {
    const namespace = freshNamespace()
    const core = open(specFor(namespace, free, 1))
    for (let node = 2; node <= 100; node++) core.moveTo(specFor(namespace, free, node))
    await collectGarbage()
    // The next native generator gets the number of a collected generator.
    const others = Array.from({ length: 100 }, () => open(specFor(namespace, free, 101)))
    expect([core.takeOne(), nodeOf(core.id), core.observe().issued]).toEqual([Status.ok, 100n, 1])
    expect(others[0]?.observe()).toMatchObject({ issued: 0, lastTick: -1 })
  })
})
