import { rangeError, show, typeError } from '../core/errors.js'
import type { Field, Layout, TagOf } from './layout.js'
import { partOf } from './part.js'

/** The values of all tags by their names. */
export type TagValues<F extends readonly Field[] = readonly Field[]> = { [K in TagOf<F>]: number }

/** Values for tags: for all that have to be chosen, and for any of the others. */
export type GivenTags<F extends readonly Field[] = readonly Field[]> = {
  readonly [K in TagOf<F, 'tag'>]: number
} & { readonly [K in TagOf<F, 'tag?'>]?: number }

/**
 * Returns the values of all tags.
 *
 * @param whose - The object that has the tags, for messages.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID` by the name of the tag, for a value that does not fit, a
 * tag that is missing, and a name that is no tag.
 * @internal
 */
export function checkTags<F extends readonly Field[]>(layout: Layout<F>, tags: unknown, whose: string): TagValues<F> {
  const { tagFields } = layout as Layout
  const names = tagFields.map(({ name }) => name)
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `the tags of ${whose} are ${show(tags)}; pass an object with a number for each of ${listOf(layout)}`,
      'tags',
    )
  }
  const given = tags as Record<string, unknown>
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue
    throw typeError(
      'ERR_OPTION_INVALID',
      `there is no tag ${show(name)}; layout '${layout.name}' has ${listOf(layout)}`,
      name,
    )
  }
  const values: Record<string, number> = {}
  for (const { name, bits, isRequired } of tagFields) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined) {
      if (isRequired) throw missingTag(layout, name, whose)
      values[name] = 0
      continue
    }
    const rule = `layout '${layout.name}' gives it ${bits} bits: a whole number from 0 to ${2 ** bits - 1}`
    if (typeof value !== 'number') {
      throw typeError('ERR_OPTION_INVALID', `the tag '${name}' is ${show(value)} (${typeof value}); ${rule}`, name)
    }
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
      throw rangeError('ERR_OPTION_INVALID', `the tag '${name}' is ${show(value)}; ${rule}`, name)
    }
    values[name] = value + 0 // -0 is 0
  }
  return values as TagValues<F>
}

/** The error of a tag that has to be chosen. @internal */
export function missingTag<F extends readonly Field[]>({ name }: Layout<F>, tag: string, whose: string): TypeError {
  return typeError(
    'ERR_OPTION_INVALID',
    `the tag '${tag}' of ${whose} is missing, and layout '${name}' has no default for it; choose it, as in { ${tag}: 0 }`,
    tag,
  )
}

/** The first tag that has to be chosen; `undefined` if there is none. @internal */
export function requiredTag({ tagFields }: Pick<Layout, 'tagFields'>): string | undefined {
  return tagFields.find(({ isRequired }) => isRequired)?.name
}

/** The tags, shifted as in an id. @internal */
export function shiftTags<F extends readonly Field[]>({ tagFields }: Layout<F>, tags: TagValues<F>): bigint {
  return tagFields.reduce((bits, { name, shift }) => bits | (BigInt(tags[name]) << BigInt(shift)), 0n)
}

/** The tags of an id in two halves. @internal */
export function tagsOf<F extends readonly Field[]>(
  { tagFields }: Layout<F>,
  upper: number,
  lower: number,
): TagValues<F> {
  return Object.fromEntries(tagFields.map((tag) => [tag.name, partOf(upper, lower, tag)])) as TagValues<F>
}

function listOf({ tagFields }: Pick<Layout, 'tagFields'>): string {
  return tagFields.length === 0 ? 'no tags' : tagFields.map(({ name }) => `'${name}'`).join(', ')
}
