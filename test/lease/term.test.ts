import { describe, expect, it } from 'vitest'
import { Term } from '../../src/lease/term.js'
import { Watch } from '../../src/lease/watch.js'

const windowMs = 2000
/** A window without the part by which two clocks may drift apart: 1 %. */
const heldMs = 1980

/** Clocks that a test sets. */
function clockAt(ms: number) {
  const at = { monotonicMs: ms, wallMs: 1_000_000 + ms }
  return { at, clock: { monotonicMs: () => at.monotonicMs, wallMs: () => at.wallMs } }
}

describe('a term', () => {
  it('is over 99 % of a window after the write was sent', () => {
    const { at, clock } = clockAt(100)
    const term = new Term(clock, windowMs, { ...at })
    for (const [afterMs, isOver, remainingMs] of [
      [0, false, heldMs],
      [heldMs - 1, false, 1],
      [heldMs, true, 0],
      [heldMs + 1, true, 0],
    ] as const) {
      Object.assign(at, { monotonicMs: 100 + afterMs, wallMs: 1_000_100 + afterMs })
      expect([afterMs, term.isOver, term.remainingMs]).toEqual([afterMs, isOver, remainingMs])
    }
  })

  it('does not last longer if the wall clock is set back', () => {
    const { at, clock } = clockAt(0)
    const term = new Term(clock, windowMs, { ...at })
    Object.assign(at, { monotonicMs: heldMs, wallMs: 0 })
    expect(term.isOver).toBe(true)
  })

  it('is over if the monotonic clock has stood still, as in a suspended machine', () => {
    const { at, clock } = clockAt(0)
    const term = new Term(clock, windowMs, { ...at })
    at.wallMs += heldMs
    expect(term.isOver).toBe(true)
  })

  it('goes on after a renewal, from the time before it was sent, also if it was over meanwhile', () => {
    const { at, clock } = clockAt(0)
    const term = new Term(clock, windowMs, { ...at })
    Object.assign(at, { monotonicMs: heldMs + 10, wallMs: 1_000_000 + heldMs + 10 })
    term.renew({ monotonicMs: heldMs - 100, wallMs: 1_000_000 + heldMs - 100 })
    expect(term.remainingMs).toBe(heldMs - 110)
  })

  it('is over at once when it is ended', () => {
    const { at, clock } = clockAt(0)
    const term = new Term(clock, windowMs, { ...at })
    term.end()
    at.monotonicMs = Number.MIN_SAFE_INTEGER
    expect([term.isOver, term.remainingMs]).toEqual([true, 0])
  })
})

describe('a record that is watched', () => {
  const entry = (version: string, key = 'leases/a/0/0') => ({ key, value: '', version })

  it('is free a window after it was first seen unchanged', () => {
    const { at, clock } = clockAt(50)
    const watch = new Watch(clock)
    expect(watch.isOver(entry('a'), windowMs)).toBe(false)
    at.monotonicMs = 50 + windowMs - 1
    expect(watch.isOver(entry('a'), windowMs)).toBe(false)
    at.monotonicMs = 50 + windowMs
    expect(watch.isOver(entry('a'), windowMs)).toBe(true)
  })

  it('is watched anew after each write, also if an older one is seen again', () => {
    const { at, clock } = clockAt(0)
    const watch = new Watch(clock)
    const seen = (ms: number, version: string) => {
      at.monotonicMs = ms
      return watch.isOver(entry(version), windowMs)
    }
    expect([seen(0, 'a'), seen(1999, 'b'), seen(2000, 'b'), seen(2001, 'a')]).toEqual([false, false, false, false])
    expect([seen(4000, 'a'), seen(4001, 'a')]).toEqual([false, true])
  })

  it('is watched apart from other records', () => {
    const { at, clock } = clockAt(0)
    const watch = new Watch(clock)
    watch.isOver(entry('a'), windowMs)
    at.monotonicMs = windowMs
    expect(watch.isOver(entry('a', 'leases/a/0/1'), windowMs)).toBe(false)
    expect(watch.isOver(entry('a'), windowMs)).toBe(true)
  })
})
