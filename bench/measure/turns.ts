import type { RunOptions } from '../contract.ts'
import { calmRounds } from './rounds.ts'

/** Loads a server for some seconds, and resolves to what it has answered. */
type Turn<T> = (seconds: number) => Promise<T>

/**
 * Measures a server between two turns of the yardstick, which is another server. A round does not count if
 * the yardstick makes less than nine tenths of its best.
 */
export async function turns<Y extends { rate: number }, O>(
  yardstick: Turn<Y>,
  own: Turn<O>,
  { isQuick }: RunOptions,
  { wanted = 5, max = 8 } = {},
) {
  if (!isQuick) {
    await yardstick(2)
    await own(3)
  }
  return calmRounds(
    isQuick ? { wanted: 1, max: 1 } : { wanted, max },
    async () => {
      const before = await yardstick(1)
      const made = await own(isQuick ? 1 : 2)
      const after = await yardstick(1)
      return { own: made, before, after, yardstickRate: (before.rate + after.rate) / 2 }
    },
    (rounds) => {
      const best = Math.max(...rounds.map(({ yardstickRate }) => yardstickRate))
      return rounds.filter(({ yardstickRate }) => yardstickRate >= 0.9 * best)
    },
  )
}
