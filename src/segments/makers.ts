import { DecimalWriter } from '../codec/decimal.js'
import { rangeError } from '../core/errors.js'
import { high, low } from '../core/halves.js'
import type { Run } from './run.js'

/**
 * The calls that make one number. Functions that close over little, which V8 takes for constants where a call site has one generator.
 *
 * @param refill - Takes more, where the run is used up, or throws.
 */
export function makersOf(run: Run, refill: () => void) {
  const whole = new BigUint64Array(1)
  const halves = new Int32Array(whole.buffer)
  const { stride } = run
  let text: DecimalWriter | undefined

  const next = (): bigint => {
    if (run.left === 0) refill()
    run.left--
    halves[low] = run.low
    halves[high] = run.high
    run.low = (run.low + stride) | 0
    return whole[0] as bigint
  }
  const nextNumber = (): number => {
    if (run.left === 0) refill()
    // All of a run are safe or none, because 2^53 is a multiple of the 2^32 that a run stays within.
    if (run.base > Number.MAX_SAFE_INTEGER) throw unsafe(BigInt(run.base) + BigInt(run.low >>> 0))
    const number = run.base + (run.low >>> 0)
    run.left--
    run.low = (run.low + stride) | 0
    return number
  }
  const nextString = (): string => {
    if (run.left === 0) refill()
    run.left--
    const low = run.low
    run.low = (low + stride) | 0
    text ??= new DecimalWriter()
    return text.write(run.high >>> 0, low >>> 0)
  }
  return { next, nextNumber, nextString }
}

function unsafe(number: bigint): RangeError {
  return rangeError(
    'ERR_NUMBER_UNSAFE',
    `the next number is ${number}, and a JavaScript number holds up to 2^53 - 1; use next() or nextString()`,
  )
}
