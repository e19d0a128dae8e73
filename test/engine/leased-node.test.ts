import { expect, it } from 'vitest'
import { machineGeneration } from '../../src/engine/open.ts'
import { LeasedNode, sealNode } from '../../src/engine/source/leased-node.ts'
import { firstView, type LeaseView, makeHandle, SharedLease } from '../../src/engine/source/shared-lease.ts'
import { resolveOptions } from '../../src/generator/resolve.ts'
import { layouts } from '../../src/layout/index.ts'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'

// A lease moves twice while a thread whose generator has the other engine follows it the first time.

const layout = layouts.twitter

function viewOf(generation: number): LeaseView {
  const floor = Date.now() - layout.epochMs
  return { ...firstView, generation, node: generation, machine: machineGeneration(), floor, ceiling: floor + 6000 }
}

/**
 * Makes a js generator's node of a lease on the native engine; the second node is sealed before the generator
 * knows it.
 */
function followed(afterwards: LeaseView) {
  const { memory } = SharedLease.make()
  const lease = { namespace: freshNamespace(), token: 'lease', store: 'memory', windowMs: 6000, memory }
  const handle = makeHandle(layout, { ...lease, engine: 'native' })
  const second = viewOf(2)
  const views = [viewOf(1), second]
  const shared = Object.assign(new SharedLease(memory), { read: () => views.shift() ?? afterwards })
  const options = resolveOptions({ lease: handle, engine: 'js' })
  const node = new LeasedNode({ handle, layout, shared }, 'js', options, Date.now())
  sealNode({ handle, layout, shared }, second)
  return node
}

describeWith(['native'], 'a state that the thread of the lease has sealed by its own engine', () => {
  it('is passed over if the lease has another node', () => {
    const node = followed(viewOf(3))
    expect(node.rise()).toBe(true)
    expect(node.node).toBe(3)
  })

  it('gives the error of the lease if the lease has ended', () => {
    const node = followed({ ...viewOf(2), status: 'ended', failure: 'ERR_CLOCK_SKEW' })
    expect(() => node.rise()).toThrow(expect.objectContaining({ code: 'ERR_CLOCK_SKEW' }))
  })

  it('is refused if the lease still has it', () => {
    const node = followed(viewOf(2))
    expect(() => node.rise()).toThrow(expect.objectContaining({ code: 'ERR_STATE_UNREACHABLE' }))
  })
})
