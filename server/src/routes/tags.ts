import type { Layout } from 'graupel'
import { shown } from '../failure.js'
import { type Parameter, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'

/** The texts of the tags that a request gives, by their names. */
export type GivenTags = ReadonlyMap<string, string>

/** The beginning of the parameters of tags. The name of a tag follows: `tag.shard`. */
const prefix = 'tag.'

/** Names the parameter of a tag, for messages. */
export const parameterOf = (tag: string): string => prefix + tag

/** Returns the parameters of all tags. Layouts may have tags of one name and of different widths. */
export function tagParameters(layouts: readonly Layout[]): Readonly<Record<string, Parameter<string>>> {
  const all = layouts.flatMap(({ name, tagFields }) => tagFields.map((tag) => ({ ...tag, layout: name })))
  const entries = all.map(({ name }) => {
    const alike = all.filter((tag) => tag.name === name)
    const rules = alike.map(({ layout, isRequired }) => `layout ${layout}${isRequired ? '' : ', by default 0'}`)
    const description = `the tag ${name} of each id, of ${rules.join('; ')}`
    const maximum = Math.max(...alike.map(({ bits }) => 2 ** bits - 1))
    const parameter: Parameter<string> = {
      description,
      schema: { type: 'integer', minimum: 0, maximum },
      read: (_name, text) => text,
    }
    return [parameterOf(name), parameter]
  })
  return Object.fromEntries(entries)
}

/** Returns the tags of a query that `readQuery` has checked. */
export function tagsInQuery(query: unknown): GivenTags {
  const given = Object.entries(query as Record<string, string>).filter(([name]) => name.startsWith(prefix))
  return new Map(given.map(([name, text]) => [name.slice(prefix.length), text]))
}

/** Whether the layout has a tag without a default. */
export function needsTags({ tagFields }: Layout): boolean {
  return tagFields.some(({ isRequired }) => isRequired)
}

/**
 * Returns the tags of a request, shifted as in an id.
 *
 * @param nameOf - Names a tag as the client does, for messages.
 * @throws Problem `ERR_OPTION_INVALID` by that name for a value that does not fit, a tag that is missing, and
 * a tag that the layout does not have
 */
export function readTags(layout: Layout, given: GivenTags, nameOf: (tag: string) => string): bigint {
  const { tagFields } = layout
  for (const name of given.keys()) {
    if (tagFields.some((tag) => tag.name === name)) continue
    const known = tagFields.length === 0 ? 'no tags' : tagFields.map((tag) => nameOf(tag.name)).join(', ')
    throw new Problem(
      'ERR_OPTION_INVALID',
      `${nameOf(name)} is given, and layout ${shown(layout.name)} has ${known}; leave ${nameOf(name)} out`,
    )
  }
  return tagFields.reduce((all, { name, bits, shift, isRequired }) => {
    const text = given.get(name)
    const most = 2 ** bits - 1
    if (text !== undefined) return all | (BigInt(wholeNumber('', 0, most).read(nameOf(name), text)) << BigInt(shift))
    if (!isRequired) return all
    throw new Problem(
      'ERR_OPTION_INVALID',
      `${nameOf(name)} is missing, and layout ${shown(layout.name)} has no default for it; give a whole number from 0 to ${most}`,
      {},
      { parameter: nameOf(name), minimum: 0, maximum: most },
    )
  }, 0n)
}
