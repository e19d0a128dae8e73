import { expect, it } from 'vitest'
import { runWorlds, sumOf } from './simulation/runs.ts'

// Several processes count in one record, with lost and late calls, crashes and a boundary of the period: test/counter/simulation.

const worlds = 100

it('numbers have no gap and no repeat, whatever is lost, late or crashes', async () => {
  const outcomes = await runWorlds('counters', worlds, false)
  expect(sumOf(outcomes, 'periods')).toBeGreaterThan(worlds)
  for (const seen of ['issued', 'crashes', 'lost', 'conflicts'] as const)
    expect(sumOf(outcomes, seen), seen).toBeGreaterThan(0)
})

it('a process never gives a number twice, also where the store forgets what it has acknowledged', async () => {
  const outcomes = await runWorlds('counters on a store that forgets', worlds, true)
  expect(sumOf(outcomes, 'recovered')).toBeGreaterThan(0)
})
