import { DecimalWriter } from '../codec/index.js'
import { high, low, two32 } from '../halves.js'
import type { Prefetched } from './prefetched.js'

/**
 * The calls that make one id. Functions that close over little, which V8 takes for constants where a call site has one client.
 *
 * @param refill - Looks for more where a slice is used up, or throws.
 * @param checkNumber - Throws where the next id does not fit a number.
 */
export function makersOf(ids: Prefetched, refill: () => void, checkNumber: (upper: number) => void) {
  let text: DecimalWriter | undefined

  const next = (): bigint => {
    if (ids.at === ids.end) refill()
    return ids.ids[ids.at++] as bigint
  }
  const nextNumber = (): number => {
    if (ids.at === ids.end) refill()
    const { halves, at } = ids
    const upper = halves[2 * at + high] as number
    checkNumber(upper)
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
