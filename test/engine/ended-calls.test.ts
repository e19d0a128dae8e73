import { createGenerator, layouts } from 'graupel'
import { afterEach, expect, it, vi } from 'vitest'
import { IdWriter } from '../../src/engine/js/id-writer.js'
import { freshNamespace } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'

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
