import type { RunOptions, Spread, Subject } from '../contract.ts'

/** Returns the quartiles over rounds. tinybench only has quartiles over the samples of one task. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const quantile = (q: number) => {
    const at = q * (sorted.length - 1)
    const below = sorted[Math.floor(at)] as number
    return below + ((sorted[Math.ceil(at)] as number) - below) * (at - Math.floor(at))
  }
  return { low: quantile(0.25), median: quantile(0.5), high: quantile(0.75) }
}

export type Effort = 'claim' | 'context' | 'look'

/** Returns `claim` for our own subjects, and `context` for the subjects that they are compared with. */
export function effortFor({ group }: Subject, { isQuick }: RunOptions): Effort {
  return isQuick ? 'look' : group === 'graupel' ? 'claim' : 'context'
}

/**
 * Measures until `wanted` rounds are calm, at most `max` rounds. If fewer than five are calm, all rounds
 * count.
 */
export async function calmRounds<Round>(
  { wanted, max }: { wanted: number; max: number },
  measure: (number: number) => Promise<Round>,
  calm: (rounds: readonly Round[]) => readonly Round[],
) {
  const rounds: Round[] = []
  let counted: readonly Round[] = []
  while (counted.length < wanted && rounds.length < max) {
    rounds.push(await measure(rounds.length))
    counted = calm(rounds)
  }
  if (counted.length < 5) counted = rounds
  const disturbed = rounds.length - counted.length
  /** Returns the quartiles of a value over the rounds that count. */
  const over = (value: (round: Round) => number) => spread(counted.map(value))
  return { counted, over, disturbed: disturbed > 0 ? { disturbed } : {} }
}
