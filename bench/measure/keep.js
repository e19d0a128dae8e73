/** @import { Source, Subject } from '../contract.js' */

/**
 * A loop that makes ids one by one and keeps them as they come, so that nothing is timed which the subject does not do,
 * and what was kept as ids of 64 bits, outside of the timing.
 *
 * @typedef {object} Kept
 * @property {() => void | Promise<void>} run
 * @property {() => BigUint64Array<ArrayBuffer>} ids
 */

/**
 * @param {Subject} subject
 * @param {Source} source
 * @param {number} size
 * @returns {Kept | undefined}
 */
export function keepNext(subject, source, size) {
  if (source.next === undefined) return undefined
  const generator = /** @type {{ next(): any }} */ (source)
  const { toId = BigInt } = subject
  if (subject.isAsync) {
    const kept = new Array(size).fill('')
    const run = async () => {
      for (let i = 0; i < kept.length; i++) kept[i] = await generator.next()
    }
    return { run, ids: () => BigUint64Array.from(kept, toId) }
  }
  const first = generator.next()
  if (typeof first === 'bigint') {
    const kept = new BigUint64Array(size)
    const run = () => {
      for (let i = 0; i < kept.length; i++) kept[i] = generator.next()
    }
    return { run, ids: () => kept }
  }
  const kept = new Array(size).fill(first)
  const run = () => {
    for (let i = 0; i < kept.length; i++) kept[i] = generator.next()
  }
  return { run, ids: () => BigUint64Array.from(kept, toId) }
}

/**
 * @param {Source} source
 * @param {number} size
 * @returns {Kept | undefined}
 */
export function keepStrings(source, size) {
  if (source.nextString === undefined) return undefined
  const generator = /** @type {{ nextString(): string }} */ (source)
  const kept = new Array(size).fill('')
  const run = () => {
    for (let i = 0; i < kept.length; i++) kept[i] = generator.nextString()
  }
  return { run, ids: () => BigUint64Array.from(kept, BigInt) }
}

/** Whether a subject makes ids of 64 bits, which can be checked. @param {Subject} subject */
export function makesIds({ group }) {
  return group === 'graupel' || group === 'rival'
}
