// What stands in the place of a state word while this process does not count. No layout has so high a slot: of 64 bits of
// timestamp and sequence, the sequence has 11 at least.

/** The native engine counts this key. */
export const movedAway = 0xffff_ffff_ffff_ffffn

/**
 * The process has given the key back, and has to claim it again before it goes on. Each time it is the next of these values,
 * so that a thread that comes late takes up only the one it has seen.
 */
const givenBack = { from: movedAway - 1024n, count: 1024 } as const

/** @param times - How often the key was given back before; 32 bits, which may have wrapped around. */
export function givenBackSign(times: number): bigint {
  return givenBack.from + BigInt((times >>> 0) % givenBack.count)
}

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from && word < movedAway
}
