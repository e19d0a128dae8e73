/** @import { Stamp, Subject, Wanted } from '../contract.js' */

/** The engines' layouts by the names of {@link Wanted}. */
export const own = /** @type {const} */ ({
  wide: { epochMs: Date.UTC(2020, 0, 1), shift: 22, perMs: 65_536 },
  twitter: { epochMs: 1_288_834_974_657, shift: 22, perMs: 4096 },
  roomy: { epochMs: Date.UTC(2020, 0, 1), shift: 22, perMs: 2 ** 20 },
  // 53 bits hold either decades or more ids a millisecond than can be made in one; js53 chose the decades, and would
  // have the bench measure its waits. So the epoch is yesterday, whenever that is.
  number: { epochMs: Date.now() - 86_400_000, shift: 17, perMs: 2 ** 17 },
})

/**
 * None where the ids run ahead of the clock by choice.
 *
 * @param {Subject} subject
 * @param {Wanted} wanted
 * @returns {Stamp | undefined}
 */
export function stampOf(subject, { layout, unbounded }) {
  if (subject.stamp !== undefined) return subject.stamp
  return unbounded ? undefined : own[layout]
}
