import { createGenerator, layouts } from 'graupel'
import { afterEach, expect, it, vi } from 'vitest'
import { IdWriter } from '../../src/engine/js/id-writer.js'
import { Reserver } from '../../src/engine/js/reserver.js'
import { openCore } from '../../src/engine/open.js'
import { firstView, SharedLease } from '../../src/engine/source/shared-lease.js'
import { freshNamespace } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'
import { nodeOf, specFor } from './tiny.js'

// A `timeout` of node:vm, or a debugger, ends a program at any call of a function, also inside the package.
// The thread goes on, and makes no id twice. On the native engine such a call is not ended in the middle.

afterEach(() => {
  vi.restoreAllMocks()
})

/** Ends the next call of a method of the writer. */
function endAt(method: 'setBase' | 'writeRange') {
  vi.spyOn(IdWriter.prototype, method).mockImplementationOnce(() => {
    throw new Error('ended')
  })
}

it('a call that ends before its run has the base of its tick leaves a gap', () => {
  const { ids, time } = simulatedOn('js')()
  const before = [ids.next(), ids.next()]
  time.now = 1001
  endAt('setBase')
  expect(() => ids.next()).toThrow('ended')
  expect([...before, ids.next()].map(parts)).toEqual([
    [1000, 0],
    [1000, 1],
    [1001, 1],
  ])
})

it('a call that ends before a run of unused slots has its base leaves a gap, too', () => {
  const { ids, time } = simulatedOn('js')({ onRollback: 'reuse' })
  for (time.now = 1001; time.now < 1004; time.now++) ids.next()
  time.now = 1002
  endAt('setBase')
  expect(() => ids.next()).toThrow('ended')
  expect(parts(ids.next())).toEqual([1002, 2])
})

it('a call that ends while it fills an array makes none of its ids again', () => {
  const ids = createGenerator({ engine: 'js', node: 1, namespace: freshNamespace(), clock: () => Date.UTC(2026, 0) })
  for (let i = 0; i < 10; i++) ids.next()
  const { sequence } = ids.decode(ids.next())
  endAt('writeRange')
  expect(() => ids.fill(new BigUint64Array(2))).toThrow('ended')
  expect(ids.decode(ids.next()).sequence).toBe(sequence + 3)
  expect(ids.layout).toBe(layouts.twitter)
})

it('a lease whose write ends in the middle is not read before the next write, which other threads read whole', () => {
  const lease = SharedLease.make()
  const shown = [lease.read()]
  const store = Atomics.store
  for (let write = 1; write <= 1 + Object.keys(firstView).length; write++) {
    let left = write
    vi.spyOn(Atomics, 'store').mockImplementation(((...given: Parameters<typeof store>) => {
      if (left-- === 0) throw new Error('ended')
      return store(...given)
    }) as never)
    expect(() => lease.write({ ...firstView, node: 1000, floor: 1000 })).toThrow('ended')
    expect(lease.read()).toBeUndefined()
    left = Number.POSITIVE_INFINITY
    lease.write({ ...firstView, node: write, floor: write })
    shown.push(lease.read())
  }
  expect(shown).toEqual(Array.from(shown, (_, write) => ({ ...firstView, node: write, floor: write })))
  expect(() => lease.write({ ...firstView, floor: Number.NaN })).toThrow(RangeError)
  expect(lease.read()).toEqual(shown.at(-1))
})

it('a view that ends while it follows its generator stays with the former node', () => {
  const namespace = freshNamespace()
  const specOf = (node: number) => specFor(namespace, { state: { kind: 'process' } }, node)
  const core = openCore('js', specOf(1))
  const view = core.view(0n)
  const other = openCore('js', specOf(1))
  core.moveTo(specOf(2))
  vi.spyOn(BigInt, 'asUintN').mockImplementationOnce(() => {
    throw new Error('ended')
  })
  expect(() => view.follow()).toThrow('ended')
  const made = [view, other, core].map((each) => [each.takeOne(), nodeOf(each.id), each.id])
  expect(made.map(([, node]) => node)).toEqual([1n, 1n, 2n])
  expect(new Set(made.map(([, , id]) => id)).size).toBe(3)
  view.follow()
  expect([view.takeOne(), nodeOf(view.id)]).toEqual([0, 2n])
})

it('a core that ends while it moves has the whole state of either node', () => {
  const namespace = freshNamespace()
  const specOf = (node: number) => specFor(namespace, { state: { kind: 'process' } }, node)
  const core = openCore('js', specOf(1))
  vi.spyOn(Reserver.prototype, 'close').mockImplementationOnce(() => {
    throw new Error('ended')
  })
  expect(() => core.moveTo(specOf(2))).toThrow('ended')
  const other = openCore('js', specOf(2))
  const made = [core, other].map((each) => [each.takeOne(), nodeOf(each.id), each.id])
  expect(made.map(([, node]) => node)).toEqual([2n, 2n])
  expect(made[0]?.[2]).not.toBe(made[1]?.[2])
})
