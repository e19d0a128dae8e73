import { rangeError, show } from '../core/errors.js'
import { textFrom } from '../core/options.js'

const maxNameLength = 128
/** A key of a store has at most 255 characters, and some of them stand before the name. */
const maxEncodedLength = 240

/** Where the records of segments and counters are. Both lie in one folder, so that none is taken for the other. */
const numbersFolder = 'numbers/'

/**
 * Checks the name of segments or of a counter.
 *
 * @param option - What the option is called.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function checkName(name: unknown, option = 'name'): asserts name is string {
  const text = textFrom(option, name, undefined, maxNameLength)
  if (encodeURIComponent(text).length > maxEncodedLength) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `${option} is ${show(text)}; pass a text with at most ${maxEncodedLength} characters when it is percent-encoded`,
      option,
    )
  }
}

/** The key of the record of a name that was checked. */
export function keyOf(name: string): string {
  return numbersFolder + encodeURIComponent(name)
}
