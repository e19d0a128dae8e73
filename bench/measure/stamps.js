/** @import { Stamp, Subject, Wanted } from '../contract.js' */

/** The engines' layouts by the names of {@link Wanted}; those that run ahead of the clock by choice have none. */
const own = /** @type {const} */ ({
  wide: { epochMs: Date.UTC(2020, 0, 1), shift: 22, perMs: 65_536 },
  twitter: { epochMs: 1_288_834_974_657, shift: 22, perMs: 4096 },
})

/**
 * @param {Subject} subject
 * @param {Wanted} wanted
 * @returns {Stamp | undefined}
 */
export function stampOf(subject, { layout, unbounded }) {
  if (subject.stamp !== undefined) return subject.stamp
  return unbounded || layout === 'roomy' || layout === 'number' ? undefined : own[layout]
}
