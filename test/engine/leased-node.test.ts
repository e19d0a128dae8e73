import { composeId, createGenerator, type EngineKind } from 'graupel'
import { describe, expect, it, vi } from 'vitest'
import { readGeneration } from '../../src/engine/generation.ts'
import { LeasedNode, sealNode } from '../../src/engine/source/leased-node.ts'
import { firstView, type LeaseView, makeHandle, SharedLease } from '../../src/engine/source/shared-lease.ts'
import { resolveOptions } from '../../src/generator/resolve.ts'
import { layouts } from '../../src/layout/index.ts'
import { engines, freshNamespace } from '../support/engines.js'

// A lease moves twice while a thread follows it the first time.

const layout = layouts.twitter

function viewOf(acquisition: number): LeaseView {
  const floor = Date.now() - layout.epochMs
  return { ...firstView, acquisition, node: acquisition, generation: readGeneration(), floor, ceiling: floor + 6000 }
}

/** Makes a generator's node of a lease, whose second node is sealed before the generator knows it. */
function followed(engine: EngineKind, afterwards: LeaseView) {
  const { memory } = SharedLease.make()
  const lease = { namespace: freshNamespace(), token: 'lease', store: 'memory', windowMs: 6000, memory }
  const handle = makeHandle(layout, lease)
  const second = viewOf(2)
  const views = [viewOf(1), second]
  const shared = Object.assign(new SharedLease(memory), { read: () => views.shift() ?? afterwards })
  const options = resolveOptions({ lease: handle, engine })
  const node = new LeasedNode({ handle, layout, shared }, engine, options, Date.now())
  sealNode({ handle, layout, shared }, second)
  return node
}

describe.each(engines)('a state of the %s engine that the thread of the lease has sealed', (engine) => {
  it('makes no id, and is left as soon as the lease has another node', () => {
    const node = followed(engine, viewOf(3))
    expect([node.rise(), node.node]).toEqual([false, 2])
    expect([node.rise(), node.node]).toEqual([true, 3])
  })

  it('gives the error of the lease if the lease has ended', () => {
    const node = followed(engine, { ...viewOf(2), status: 'ended', failure: 'ERR_CLOCK_SKEW' })
    expect(node.rise()).toBe(false)
    expect(() => node.rise()).toThrow(expect.objectContaining({ code: 'ERR_CLOCK_SKEW' }))
  })
})

// A `timeout` of node:vm or a debugger may end the program in the middle of a call.
describe.each(engines)('a call that is ended, on the %s engine', (engine) => {
  function leased() {
    const shared = SharedLease.make()
    const lease = { namespace: freshNamespace(), token: 'lease', store: 'memory', windowMs: 6000 }
    const handle = makeHandle(layout, { ...lease, memory: shared.memory })
    shared.write(viewOf(1))
    const options = resolveOptions({ lease: handle, engine })
    const node = new LeasedNode({ handle, layout, shared }, engine, options, Date.now())
    const observedTick = viewOf(1).floor + 500
    return { shared, node, observedTick }
  }

  const ended = () => {
    throw new Error('ended')
  }

  it('in a move to another node, leaves the observed tick to the next call', () => {
    const { shared, node, observedTick } = leased()
    shared.observe(observedTick)
    shared.write(viewOf(2))
    vi.spyOn(node.core, 'raise').mockImplementationOnce(ended)
    expect(() => node.rise()).toThrow('ended')
    node.rise()
    expect([node.node, node.core.observe().headTick]).toEqual([2, observedTick + 1])
  })

  it('before all threads know an observed tick, leaves it to the next call', () => {
    const { shared, node, observedTick } = leased()
    vi.spyOn(shared, 'observe').mockImplementationOnce(ended)
    expect(() => node.observed(observedTick)).toThrow('ended')
    node.observed(observedTick)
    expect(shared.observedTick).toBe(observedTick)
  })
})

describe.each(engines)('an id that was observed while a lease moves, on the %s engine', (engine) => {
  /** Two generators of a thread with a lease, which may move from node 900 to node 5. */
  function moving() {
    const shared = SharedLease.make()
    const { memory } = shared
    const handle = makeHandle(layout, {
      namespace: freshNamespace(),
      token: 'lease',
      store: 'memory',
      windowMs: 6000,
      memory,
    })
    const first = { ...viewOf(1), node: 900 }
    shared.write(first)
    const [one, other] = [0, 1].map(() => createGenerator({ lease: handle, engine }))
    const seal = () => sealNode({ handle, layout, shared }, first)
    const move = (floor: number) => shared.write({ ...viewOf(2), node: 5, floor: Math.max(first.floor, floor) })
    // The node lies between the two: in one tick the first node has larger ids, and the second has not.
    const id = (aheadMs: number) => composeId({ timestampMs: Date.now() + aheadMs, node: 700 }, layout)
    return { one, other, seal, move, id } as Record<'one' | 'other', NonNullable<typeof one>> & {
      seal: typeof seal
      move: typeof move
      id: typeof id
    }
  }

  it('before the state is sealed', () => {
    const { one, other, seal, move, id } = moving()
    const seen = one.observe(id(500))
    move(seal())
    expect(other.next()).toBeGreaterThan(seen)
    expect(one.next()).toBeGreaterThan(seen)
    expect([one.node, other.node]).toEqual([5, 5])
  })

  it('after the state is sealed', () => {
    const { one, other, seal, move, id } = moving()
    const floor = seal()
    const seen = one.observe(id(500))
    move(floor)
    expect(other.next()).toBeGreaterThan(seen)
    expect(one.next()).toBeGreaterThan(seen)
  })

  it('after another generator of the thread has moved', () => {
    const { one, other, seal, move, id } = moving()
    move(seal())
    expect(other.next()).toBeGreaterThan(0n)
    const seen = one.observe(id(500))
    expect(other.next()).toBeGreaterThan(seen)
    expect(one.next()).toBeGreaterThan(seen)
    const again = one.observe(id(600))
    expect(other.next()).toBeGreaterThan(again)
  })
})
