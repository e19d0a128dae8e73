import { rangeError, show, typeError } from '../core/errors.js'
import { type Instant, toMs } from '../core/moment.js'
import { genuineLayout } from './define.js'
import type { Field, Layout } from './layout.js'
import { checkTags, type GivenTags, shiftTags } from './tags.js'

/** A range of ids, as {@link idsBetween} returns it. */
export interface IdRange {
  /** The least id of the range. */
  first: bigint
  /** The least id after the range. */
  end: bigint
}

/**
 * Returns the range of the ids of a span of time, on all nodes: their times are at or after `from` and before
 * `to`. For a query: `WHERE id >= first AND id < end`. Ranges that meet in time meet in ids.
 *
 * A time before the epoch of the layout stands for id 0. A time after its end stands for its largest id, so
 * that a column can hold it; the largest id itself is in no range.
 *
 * A range contains the ids of all tags below the timestamp. If tags stand above the timestamp, ids of a time
 * are a range for each value of these tags: pass the tags.
 *
 * @param from - A Date, a `Temporal.Instant`, or milliseconds since 1970; `-Infinity` has no bound.
 * @param to - The same, not before `from`; `Infinity` has no bound.
 * @param layout - The layout of the ids. No node field and no sequence stands above its timestamp.
 * @param tags - The tags of the ids, if the layout begins with tags.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID` for anything but a time, for a `from` after `to`, and
 * for tags; TypeError, RangeError `ERR_LAYOUT_INVALID`.
 * @example
 * const { first, end } = idsBetween(Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1), layouts.twitter)
 * first // 2116681624581046272n
 * end // 2127553260549046272n
 */
export function idsBetween<F extends readonly Field[]>(
  from: Date | Instant | number,
  to: Date | Instant | number,
  layout: Layout<F>,
  tags?: GivenTags<F>,
): IdRange {
  layout = genuineLayout(layout)
  const fromMs = readTime('from', from)
  const untilMs = readTime('to', to)
  if (fromMs > untilMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `from is ${show(from)}, after to, which is ${show(to)}; pass the earlier time first`,
    )
  }
  const above = readPrefix(layout, tags)
  return { first: above | firstIdFrom(fromMs, layout), end: above | firstIdFrom(untilMs, layout) }
}

/** The bits above the timestamp, which are tags. */
function readPrefix<F extends readonly Field[]>(layout: Layout<F>, tags: GivenTags<F> | undefined): bigint {
  const { placements, timestamp, tagFields } = layout as Layout
  const above = placements.slice(0, placements.indexOf(timestamp))
  const other = above.find(({ name }) => !tagFields.some((tag) => tag.name === name))
  if (other !== undefined) {
    throw rangeError(
      'ERR_LAYOUT_INVALID',
      `layout ${show(layout.name)} has the field ${show(other.name)} above its timestamp, so ids of a time are no range; use a layout whose first field is the timestamp`,
    )
  }
  if (above.length > 0) {
    const bits = shiftTags(layout, checkTags(layout, tags ?? {}, 'the range'))
    const end = BigInt(timestamp.shift + timestamp.bits)
    return (bits >> end) << end
  }
  if (tags === undefined) return 0n
  throw typeError(
    'ERR_OPTION_INVALID',
    `tags are ${show(tags)}, and layout ${show(layout.name)} has no tag above its timestamp, so a range has the ids of all tags; leave tags out, and compare the tags of the ids`,
    'tags',
  )
}

/** The first id whose time is not before `ms`, without the bits above the timestamp. */
function firstIdFrom(ms: number, { epochMs, tickMs, timestamp }: Layout): bigint {
  const tick = Math.max(0, Math.ceil((ms - epochMs) / tickMs))
  if (tick >= 2 ** timestamp.bits) return (1n << BigInt(timestamp.shift + timestamp.bits)) - 1n
  return BigInt(tick) << BigInt(timestamp.shift)
}

function readTime(name: string, time: unknown): number {
  const ms = toMs(time)
  const rule = 'pass a Date, a Temporal.Instant, or milliseconds since 1970'
  if (typeof ms !== 'number')
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(time)} (${typeof time}); ${rule}`)
  if (Number.isNaN(ms)) throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(time)}; ${rule}`)
  return ms
}
