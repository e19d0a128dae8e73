import { composeId, encodeId, idsBetween, type Layout } from '../index.js'
import { type Arguments, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import type { Output } from './output.js'
import { layoutFlags, layoutsOf, momentOf, textEncodings } from './values.js'

const flags = {
  time: { value: 'TIME', help: 'a moment: 2026-11-01, 2026-11-01T00:00:00Z, or milliseconds since 1970' },
  until: { value: 'TIME', help: 'the end of a range, which is not in it' },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how the ids were made up (twitter)' },
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
  ],
}

/**
 * `graupel compose`. @throws UsageError `ERR_EPOCH_INVALID`, `ERR_OPTION_INVALID`; RangeError
 * `ERR_ID_INVALID`
 */
export async function compose({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  const { time, until, format = 'decimal' } = values
  if (positionals.length > 0) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `compose takes no ${quote(positionals[0] as string)}; give the moment as --time`,
    )
  }
  if (time === undefined) {
    throw new UsageError('ERR_OPTION_INVALID', 'there is no time; give one, such as --time 2026-11-01')
  }
  const [layout] = layoutsOf({ layout: 'twitter', ...values }) as [Layout]
  const from = momentOf('--time', time)
  const to = until === undefined ? undefined : momentOf('--until', until)
  if (to !== undefined && to < from)
    throw new UsageError('ERR_OPTION_INVALID', '--until is before --time; give the earlier moment as --time')
  const ids = to === undefined ? [composeId({ timestampMs: from, node: 0 }, layout)] : endsOf(from, to, layout)
  await output.write(ids.map((id) => `${encodeId(id, format as 'decimal')}\n`).join(''))
}

function endsOf(from: number, to: number, layout: Layout): bigint[] {
  const { first, end } = idsBetween(from, to, layout)
  return [first, end]
}
