import { createGenerator } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { afterEach, expect, test, vi } from 'vitest'

// Checks the statements of docs/testing.md about fake timers and clocks in each runner. It runs in a project
// beside the document's files.

const { now: realNow } = Date
const fakeMs = Date.UTC(2030, 0, 1)
/** @param {import('graupel').IdGenerator} ids */
const timeOf = (ids) => ids.decode(ids.next()).timestampMs

afterEach(() => vi.useRealTimers())

test('a real generator uses the clock of the system, and its waiting calls end', async () => {
  vi.useFakeTimers({ now: fakeMs })
  const ids = createGenerator({ node: 8, state: 'thread' })
  expect(Math.abs(timeOf(ids) - realNow())).toBeLessThan(60_000)
  const made = await Promise.all(Array.from({ length: 5000 }, () => ids.nextAsync()))
  expect(new Set(made).size).toBe(5000)
})

test('a clock that reads Date follows fake timers that are installed later', () => {
  const ids = testGenerator({ clock: () => Date.now() })
  vi.useFakeTimers({ now: fakeMs })
  expect(timeOf(ids)).toBe(fakeMs)
  vi.setSystemTime(fakeMs + 5000)
  expect(timeOf(ids)).toBe(fakeMs + 5000)
})

test('Date.now passed as the clock stays the real clock', () => {
  const real = testGenerator({ clock: Date.now })
  vi.useFakeTimers({ now: fakeMs })
  expect(Math.abs(timeOf(real) - realNow())).toBeLessThan(60_000)
  const faked = testGenerator({ clock: Date.now })
  expect(timeOf(faked)).toBe(fakeMs)
})

test('ids go back with the clock after reset, and only then', () => {
  vi.useFakeTimers({ now: fakeMs })
  const ids = testGenerator({ clock: () => Date.now() })
  const first = ids.next()
  vi.setSystemTime(fakeMs - 3_600_000)
  expect(ids.next()).toBe(first + 1n)
  ids.reset()
  expect(timeOf(ids)).toBe(fakeMs - 3_600_000)
})

test('a test generator is the same in a thread or a process whose main thread has not loaded graupel', () => {
  expect(testGenerator().next()).toBe(2006515713438646272n)
})
