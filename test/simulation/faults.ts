import type { Random } from '../support/random.ts'

/**
 * Draws how often each fault comes: never, seldom, as usual or often. Most defects need many faults of one
 * kind and no others.
 */
export function someOf<F extends object>(faults: F, random: Random): F {
  const weights = [0, 0.3, 1, 1, 3]
  return Object.fromEntries(
    Object.entries(faults).map(([name, weight]) => [name, weight * (weights[Math.floor(random() * 5)] as number)]),
  ) as F
}

/** Draws the next fault of nature by its frequency; `undefined` if no fault may come. */
export function faultOf<K extends string>(
  kinds: readonly K[],
  faults: Readonly<Record<K, number>>,
  random: Random,
): K | undefined {
  let at = random() * kinds.reduce((sum, kind) => sum + faults[kind], 0)
  return kinds.find((kind) => {
    at -= faults[kind]
    return at < 0
  })
}
