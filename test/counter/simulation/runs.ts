import { seededRandom } from '../../support/random.ts'
import { type Outcome, runWorld } from './world.ts'

/** Runs worlds one after the other, and ends with the first violation. */
export async function runWorlds(purpose: string, worlds: number, forgets: boolean): Promise<Outcome[]> {
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

/** What counters of all worlds have done together. */
export function sumOf(
  outcomes: readonly Outcome[],
  what: 'issued' | 'periods' | 'crashes' | 'lost' | 'recovered' | 'conflicts',
): number {
  return outcomes.reduce((all, outcome) => all + outcome[what], 0)
}
