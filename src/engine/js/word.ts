/**
 * Values of a state word whose key was given back. The process has to claim the key again before it reserves. Each release uses
 * the next value, so a slow thread takes up only the value that it has read. No layout has so high a slot: of 64 bits of
 * timestamp and sequence, the sequence has 11 at least.
 */
const givenBack = { from: 2n ** 64n - 1024n, count: 1024 } as const

/** @param times - How often the key was given back before; 32 bits, which may have wrapped around. */
export function givenBackSign(times: number): bigint {
  return givenBack.from + BigInt((times >>> 0) % givenBack.count)
}

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from
}
