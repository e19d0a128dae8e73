/** A number from 0 to below 1. */
export type Random = () => number

export function randomFrom(seed: number): Random {
  // Mulberry32.
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Each fault never, seldom, as usual or often: most defects need many faults of one kind and none of the others. */
export function someOf<F extends object>(faults: F, random: Random): F {
  const weights = [0, 0.3, 1, 1, 3]
  return Object.fromEntries(
    Object.entries(faults).map(([name, weight]) => [name, weight * (weights[Math.floor(random() * 5)] as number)]),
  ) as F
}
