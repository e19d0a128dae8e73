import { type Layout, parseId, type TextEncoding } from 'graupel'
import type { Parameter } from '../http/parameters.js'
import { Problem, type ProblemCode } from '../http/problems.js'
import type { IdSource } from '../sources/id-source.js'
import type { IdTexts } from '../sources/id-texts.js'

/** The header of the largest id of an answer, which requests with `after` get. */
export const lastIdHeader = 'graupel-last-id'

export const afterParameter: Parameter<string> = {
  description:
    'an id that the client has seen, as format or kind writes it, otherwise in decimal; every id of the answer is larger',
  schema: { type: 'string', examples: ['2045881362063413248'] },
  read: (_name, text) => text,
}

/** Lets the next ids of a source be larger than an id that a client has seen. @throws Problem */
export type Observe = (source: IdSource) => void

/**
 * Reads the id that a client has seen.
 *
 * @param name - The parameter or the word that has it, for messages.
 * @param encoding - How it is written, unless `texts` reads it.
 * @returns The call that observes it, which has to run in the turn in which the ids are asked for: a source
 * whose lease is lost meanwhile has another generator.
 * @throws Problem `ERR_ID_INVALID`
 */
export function readAfter(
  name: string,
  text: string,
  encoding: TextEncoding,
  layout: Layout,
  texts?: IdTexts,
): Observe {
  return naming(name, () => {
    if (texts === undefined) {
      const id = parseId(text, encoding, layout)
      return (source) => naming(name, () => source.observe(id))
    }
    texts.id(text)
    return (source) => naming(name, () => texts.observe(source, text))
  })
}

/** The codes of an id that cannot be observed. Clients may see these messages. */
const codes: readonly unknown[] = ['ERR_ID_INVALID', 'ERR_CLOCK_SKEW', 'ERR_LAYOUT_INVALID', 'ERR_LAYOUT_EXPIRED']

/** Runs the work. If the id cannot be observed, the problem names the parameter. */
function naming<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code, message, retryAfterMs } = error as Error & { code?: ProblemCode; retryAfterMs?: number }
    if (!codes.includes(code)) throw error
    throw new Problem(code as ProblemCode, `${name}: ${message}`, {}, undefined, retryAfterMs)
  }
}
