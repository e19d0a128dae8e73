/**
 * Stand in the place of a state word after the process has given the key back; it has to claim the key again before it goes
 * on. Each time it is the next of these values, so that a thread that comes late takes up only the one it has seen. No layout
 * has so high a slot: of 64 bits of timestamp and sequence, the sequence has 11 at least.
 */
const givenBack = { from: 2n ** 64n - 1024n, count: 1024 } as const

/** @param times - How often the key was given back before; 32 bits, which may have wrapped around. */
export function givenBackSign(times: number): bigint {
  return givenBack.from + BigInt((times >>> 0) % givenBack.count)
}

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from
}
