import { otherIdOf } from '../inspect/other-ids.js'
import { partsOf } from '../inspect/pasted.js'
import { UsageError } from './arguments.js'

/** A text that may be an id. */
interface LineText {
  readonly text: string
  /** The preset that made the id, if the text around it says so. */
  readonly layout?: string
  /** The longer text that the id was taken from. */
  readonly from?: string
}

/**
 * Returns the texts of a word or a line that may be ids.
 *
 * @throws UsageError `ERR_ID_INVALID` for a tweet from before Snowflake, and for an id of another kind
 */
export function textsIn(line: string, nowMs: number): LineText[] {
  const parts = partsOf(line, nowMs)
  const left = parts.find(({ fault }) => fault?.key === 'troubleLeft')
  const texts = parts.filter((part) => part !== left)
  for (const { text, fault } of texts) {
    if (fault?.key === 'troubleOldTweet') {
      throw new UsageError(
        'ERR_ID_INVALID',
        `the tweet ${text} is older than Snowflake, which began in November 2010: its number has no time`,
      )
    }
    const other = otherIdOf(text, nowMs)
    // A ULID is read as a UUID of the same bytes.
    if (other === undefined || other.kind === 'ULID') continue
    const made = other.timestampMs === undefined ? '' : `, made at ${new Date(other.timestampMs).toISOString()}`
    throw new UsageError(
      'ERR_ID_INVALID',
      `the text '${text}' looks like ${other.kind}${made}, which is no id of 64 bits`,
    )
  }
  if (texts.length === 0) return [{ text: line }]
  return texts.map(({ text, layout }) => ({
    text,
    ...(layout !== undefined && { layout }),
    ...(left !== undefined && { from: left.text }),
  }))
}
