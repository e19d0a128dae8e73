import { describe, expect, it } from 'vitest'
import { engines } from '../support/engines.js'
import { simulateHosts } from './hosts.js'

describe.each(engines)('hosts whose clocks are wrong by up to a second, on the %s engine', (engine) => {
  it('answer every id that they observe by a larger one', () => {
    for (const seed of [1, 2, 3, 4]) expect(simulateHosts(engine, 25_000, seed, true).inversions).toBe(0)
  })

  it('do not without observe', () => {
    for (const seed of [1, 2, 3, 4]) expect(simulateHosts(engine, 25_000, seed, false).inversions).toBeGreaterThan(1000)
  })
})
