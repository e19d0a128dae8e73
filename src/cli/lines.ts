import { otherIdOf } from '../inspect/other-ids.js'
import type { Part } from '../inspect/part.js'
import { partsOf } from '../inspect/pasted.js'
import { UsageError } from './arguments.js'

/** A text that may be an id. */
interface LineText extends Part {
  /** The beginning of the longer text that the id was taken from. */
  readonly from?: string
}

/** Each id of a line is printed with the line, and a line may have thousands of ids. */
const maxFrom = 1000

/** Returns the texts of a word or a line that may be ids. */
export function textsIn(line: string, nowMs: number): LineText[] {
  const parts = partsOf(line, nowMs)
  const left = parts.find(({ fault }) => fault?.key === 'troubleLeft')
  const texts = parts.filter((part) => part !== left)
  if (texts.length === 0) return [{ text: line }]
  if (left === undefined) return texts
  const from = left.text.length > maxFrom ? `${left.text.slice(0, maxFrom)}…` : left.text
  return texts.map((part) => ({ ...part, from }))
}

/**
 * Refuses a text that looks like an id of another kind.
 *
 * @throws UsageError `ERR_ID_INVALID`
 */
export function refuseOther({ text, fault }: Part, nowMs: number): void {
  if (fault?.key === 'troubleOldTweet') {
    throw new UsageError(
      'ERR_ID_INVALID',
      `the tweet ${text} is older than Snowflake, which began in November 2010: its number has no time`,
    )
  }
  const other = otherIdOf(text, nowMs)
  // A ULID is read as a UUID of the same bytes.
  if (other === undefined || other.kind === 'ULID') return
  const made = other.timestampMs === undefined ? '' : `, made at ${new Date(other.timestampMs).toISOString()}`
  throw new UsageError(
    'ERR_ID_INVALID',
    `the text '${text}' looks like ${other.kind}${made}, which is no id of 64 bits`,
  )
}
