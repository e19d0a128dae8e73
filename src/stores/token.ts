/**
 * A text that no other write has, by which a write is known again.
 *
 * @param monotonicMs - The time, because a machine that was cloned draws the same random numbers for a while.
 */
export function tokenAt(monotonicMs: number): string {
  return `${crypto.randomUUID()} ${monotonicMs}`
}
