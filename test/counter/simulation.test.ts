import { expect, it } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { type Outcome, runWorld } from './simulation/world.ts'

// Several processes count in one record, with lost and late calls, crashes and a boundary of the period: test/counter/simulation.

const worlds = 150

it('numbers have no gap and no repeat, whatever is lost, late or crashes', async () => {
  const outcomes = await runAll('counters', false)
  expect(sum(outcomes, 'periods')).toBeGreaterThan(worlds)
  for (const seen of ['issued', 'crashes', 'lost', 'conflicts'] as const)
    expect(sum(outcomes, seen), seen).toBeGreaterThan(0)
})

it('a process never gives a number twice, also where the store forgets what it has acknowledged', async () => {
  const outcomes = await runAll('counters on a store that forgets', true)
  expect(sum(outcomes, 'recovered')).toBeGreaterThan(0)
})

async function runAll(purpose: string, forgets: boolean): Promise<Outcome[]> {
  const random = seededRandom(purpose)
  const outcomes: Outcome[] = []
  for (let count = 0; count < worlds; count++) {
    const seed = Math.floor(random() * 2 ** 32)
    const outcome = await runWorld(seed, forgets)
    if (outcome.violation !== undefined) {
      throw new Error(`world ${seed}: ${outcome.violation}\n${JSON.stringify(outcome.shape)}`)
    }
    outcomes.push(outcome)
  }
  return outcomes
}

function sum(
  outcomes: readonly Outcome[],
  what: 'issued' | 'periods' | 'crashes' | 'lost' | 'recovered' | 'conflicts',
): number {
  return outcomes.reduce((all, outcome) => all + outcome[what], 0)
}
