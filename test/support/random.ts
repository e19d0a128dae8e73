/** A number from 0 to below 1. */
export type Random = () => number

/** Returns a source of random numbers, which are the same for the same seed. */
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

/** Returns a source of random numbers, and prints its seed. GRAUPEL_SEED in the environment sets the seed. */
export function seededRandom(purpose: string): Random {
  const given = process.env['GRAUPEL_SEED']
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given)
  console.info(`${purpose}: GRAUPEL_SEED=${seed}`)
  return randomFrom(seed)
}
