import { composeId, encodeId, idsBetween, type Layout } from '../index.js'
import { type Arguments, helpFlag, type Manual, refuseWords, UsageError } from './arguments.js'
import type { Output } from './output.js'
import { checkingTags, layoutFlags, readLayout, readMoment, readTags, tagFlag, textEncodings } from './values.js'

const flags = {
  time: { value: 'TIME', help: 'a moment: 2026-11-01, 2026-11-01T00:00:00Z, or milliseconds since 1970' },
  until: { value: 'TIME', help: 'the end of a range, which is not in it' },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how the ids were made up (twitter)' },
  tag: { ...tagFlag, help: `${tagFlag.help}; without it 0, if the tag is below the timestamp` },
  format: { value: 'FORMAT', choices: textEncodings, help: 'how to write the ids (decimal)' },
  help: helpFlag,
} as const

export const composeManual: Manual<typeof flags> = {
  name: 'compose',
  usage: 'graupel compose --time TIME [flags]',
  summary: 'Print the first id of a moment, for queries by time.',
  flags,
  notes: [
    'With --until, prints two ids, one a line. The ids of the range are at least the',
    'first and less than the second:',
    '  WHERE id >= FIRST AND id < SECOND',
    'A moment inside a tick counts as the beginning of the tick; in a range it counts',
    'as the next tick.',
  ],
}

/**
 * `graupel compose`. @throws UsageError `ERR_EPOCH_INVALID`, `ERR_OPTION_INVALID`; RangeError
 * `ERR_ID_INVALID`
 */
export async function compose({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  const { time, until, format = 'decimal' } = values
  refuseWords('compose', positionals, 'give the moment as --time')
  if (time === undefined) {
    throw new UsageError('ERR_OPTION_INVALID', 'there is no time; give one, such as --time 2026-11-01')
  }
  const layout = readLayout(values)
  const from = readMoment('--time', time)
  const to = until === undefined ? undefined : readMoment('--until', until)
  if (to !== undefined && to < from)
    throw new UsageError('ERR_OPTION_INVALID', '--until is before --time; give the earlier moment as --time')
  const tags = values.tag === undefined ? undefined : readTags(values.tag)
  const ids = checkingTags(() => (to === undefined ? [firstOf(from, layout, tags)] : endsOf(from, to, layout, tags)))
  await output.write(ids.map((id) => `${encodeId(id, format as 'decimal')}\n`).join(''))
}

type Tags = Readonly<Record<string, number>>

function firstOf(timestampMs: number, layout: Layout, given: Tags | undefined): bigint {
  const hasTags = given !== undefined || layout.tagFields.length > 0
  return composeId({ timestampMs, node: 0, ...(hasTags && { tags: leastTags(layout, given) }) }, layout)
}

function endsOf(from: number, to: number, layout: Layout, given: Tags | undefined): bigint[] {
  const hasPrefix = layout.tagFields.some(({ shift }) => shift > layout.timestamp.shift)
  const tags = given !== undefined || hasPrefix ? leastTags(layout, given) : undefined
  const { first, end } = idsBetween(from, to, layout, tags)
  return [first, end]
}

/** The tags that were given, and 0 for the others, unless a tag stands above the timestamp. */
function leastTags({ tagFields, timestamp }: Layout, given: Tags | undefined): Tags {
  const below = tagFields.filter(({ shift }) => shift < timestamp.shift)
  return { ...Object.fromEntries(below.map(({ name }) => [name, 0])), ...given }
}
