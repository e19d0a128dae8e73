import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SteadyTime } from '../../src/engine/js/clock.js'

describe('the steady clock', () => {
  it('follows the monotonic clock when the wall clock steps back, a sixteenth slower until the two meet', () => {
    const steady = new SteadyTime()
    expect(steady.read(10_000, 500)).toBe(10_000)
    // The clock steps back by 160 ms, and is read every millisecond.
    let now = 10_000
    for (let i = 1; i <= 1600; i++) now = steady.read(10_000 - 160 + i, 500 + i)
    expect(now).toBe(10_000 + 1500)
    for (let i = 1601; i <= 2560; i++) now = steady.read(10_000 - 160 + i, 500 + i)
    expect(now).toBe(10_000 - 160 + 2560)
  })

  it('follows the wall clock forward at once, as after a suspend', () => {
    const steady = new SteadyTime()
    steady.read(10_000, 500)
    expect(steady.read(3_610_000, 501)).toBe(3_610_000)
    expect(steady.read(3_610_001, 502)).toBe(3_610_001)
  })

  it('goes on if it is read more often than its arithmetic can distinguish', () => {
    const steady = new SteadyTime()
    const wall = 1_700_000_000_000
    steady.read(wall, 0)
    let now = 0
    // The readings are 50 ns apart, and the wall clock is an hour behind.
    for (let i = 1; i <= 200_000; i++) now = steady.read(wall - 3_600_000 + i * 5e-5, i * 5e-5)
    expect(now - wall).toBeGreaterThan(10 * (15 / 16) - 0.1)
    expect(now - wall).toBeLessThanOrEqual(10)
  })

  it('never goes back, and is never behind the wall clock, even if that steps back and forth', () => {
    const moves = fc.array(fc.tuple(fc.nat(50), fc.integer({ min: -4000, max: 4000 })), {
      minLength: 1,
      maxLength: 100,
    })
    fc.assert(
      fc.property(moves, (script) => {
        const steady = new SteadyTime()
        let wall = 1_000_000
        let monotonic = 0
        let last = Number.NEGATIVE_INFINITY
        for (const [passed, step] of script) {
          monotonic += passed
          wall += passed + step
          const now = steady.read(wall, monotonic)
          expect(now).toBeGreaterThanOrEqual(last)
          expect(now).toBeGreaterThanOrEqual(wall)
          last = now
        }
      }),
    )
  })
})
