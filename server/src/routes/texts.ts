import type { Layout } from 'graupel'
import { shown } from '../failure.js'
import { hasTexts } from '../http/media.js'
import { textEncodings } from '../http/number-form.js'
import { oneOf, type Parameter } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import { type IdTexts, textsOfUuids } from '../sources/id-texts.js'

type Kinds = ReadonlyMap<string, IdTexts>

/** How one id may be written. */
export const idEncodings = [...textEncodings, 'uuid'] as const

/** Returns the parameter `kind`, which a service without kinds does not have. */
export function kindParameter(kinds: Kinds): { readonly kind: Parameter<string> } {
  const description = 'the kind of the ids, instead of their layout and their format; its prefix begins each text'
  return (kinds.size === 0 ? {} : { kind: oneOf(description, [...kinds.keys()]) }) as { kind: Parameter<string> }
}

/**
 * Returns the texts of `kind`, or the UUIDs of `format=uuid`; `undefined` if a request asks for neither.
 *
 * @param layout - The layout of UUIDs.
 * @throws Problem if its parameters contradict each other; RangeError `ERR_LAYOUT_INVALID` if UUIDs have no
 * room for the layout
 */
export function textsOf(
  asked: { readonly kind?: string; readonly format?: string; readonly layout?: string },
  kinds: Kinds,
  layout: Layout,
): IdTexts | undefined {
  const { kind, format } = asked
  if (kind === undefined) return format === 'uuid' ? textsOfUuids(layout) : undefined
  const texts = kinds.get(kind) as IdTexts
  const { name } = texts.layout
  if (asked.layout !== undefined && asked.layout !== name) {
    throw new Problem(
      'ERR_OPTION_INVALID',
      `layout is ${shown(asked.layout)}, and ids of the kind ${shown(kind)} have layout ${shown(name)}; leave layout out`,
    )
  }
  if (format === undefined || hasTexts(format)) return texts
  throw new Problem(
    'ERR_OPTION_INVALID',
    `format is ${shown(format)}, and the kind ${shown(kind)} has a format of its own; leave format out`,
  )
}
