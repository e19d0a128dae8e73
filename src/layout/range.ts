import { rangeError, show, typeError } from '../core/errors.js'
import { type Instant, toMs } from '../core/moment.js'
import { genuineLayout } from './define.js'
import type { Field, Layout } from './layout.js'

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
 * @param from - A Date, a `Temporal.Instant`, or milliseconds since 1970; `-Infinity` has no bound.
 * @param to - The same, not before `from`; `Infinity` has no bound.
 * @param layout - The layout of the ids. Its first field is the timestamp, as in all presets.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID` for anything but a time, and for a `from` after `to`;
 * TypeError, RangeError `ERR_LAYOUT_INVALID`.
 * @example
 * const { first, end } = idsBetween(Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1), layouts.twitter)
 * first // 2116681624581046272n
 * end // 2127553260549046272n
 */
export function idsBetween<F extends readonly Field[]>(
  from: Date | Instant | number,
  to: Date | Instant | number,
  layout: Layout<F>,
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
  if (layout.placements[0] !== layout.timestamp) {
    throw rangeError(
      'ERR_LAYOUT_INVALID',
      `layout ${show(layout.name)} begins with the field ${show(layout.placements[0]?.name)}, so ids of a time are no range; use a layout whose first field is the timestamp`,
    )
  }
  return { first: firstIdFrom(fromMs, layout), end: firstIdFrom(untilMs, layout) }
}

/** The first id whose time is not before `ms`. */
function firstIdFrom(ms: number, { epochMs, tickMs, timestamp, bits }: Layout): bigint {
  const tick = Math.max(0, Math.ceil((ms - epochMs) / tickMs))
  if (tick >= 2 ** timestamp.bits) return (1n << BigInt(bits)) - 1n
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
