import { expect, it } from 'vitest'
import { runWorlds, sumOf } from './simulation/runs.ts'

// As simulation.test.ts, with more worlds.

it('numbers have no gap and no repeat in six hundred worlds', async () => {
  const outcomes = await runWorlds('counters', 600, false)
  expect(sumOf(outcomes, 'issued')).toBeGreaterThan(60_000)
})

it('a process never gives a number twice in two hundred worlds', async () => {
  const outcomes = await runWorlds('counters on a store that forgets', 200, true)
  expect(sumOf(outcomes, 'recovered')).toBeGreaterThan(20)
})
