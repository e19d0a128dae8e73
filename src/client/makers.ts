import { DecimalWriter } from '../codec/index.js'
import { rangeError } from '../core/errors.js'
import { high, low, two32 } from '../core/halves.js'
import type { Prefetched } from './prefetched.js'

/** The upper half of 2^53. */
const unsafeUpper = 2 ** 21

/**
 * The calls that make one id. Functions that close over little, which V8 takes for constants where a call site has one client.
 *
 * @param refill - Looks for more where a slice is used up, or throws.
 */
export function makersOf(ids: Prefetched, refill: () => void) {
  let text: DecimalWriter | undefined

  const next = (): bigint => {
    if (ids.at === ids.end) refill()
    return ids.ids[ids.at++] as bigint
  }
  const nextNumber = (): number => {
    if (ids.at === ids.end) refill()
    const { halves, at } = ids
    const upper = halves[2 * at + high] as number
    if (upper >= unsafeUpper) throw unsafe(ids.ids[at] as bigint)
    ids.at = at + 1
    return upper * two32 + (halves[2 * at + low] as number)
  }
  const nextString = (): string => {
    if (ids.at === ids.end) refill()
    const { halves } = ids
    const at = 2 * ids.at++
    text ??= new DecimalWriter()
    return text.write(halves[at + high] as number, halves[at + low] as number)
  }
  return { next, nextNumber, nextString }
}

function unsafe(id: bigint): RangeError {
  return rangeError(
    'ERR_NUMBER_UNSAFE',
    `the next number is ${id}, and a JavaScript number holds up to 2^53 - 1; use next() or nextString()`,
  )
}
