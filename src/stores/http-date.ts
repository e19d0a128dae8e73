import { platform } from '#platform'
import { show } from '../core/errors.js'

/**
 * A store's time by the Date of an answer, which has whole seconds (RFC 9110, section 6.6.1). Within that second the host's own
 * clock is as good a guess as any; else it is the millisecond of it that is nearest to the host's. So a host's clock is told to
 * be off by as much as is certain, and never by the part of a second that the header leaves out.
 *
 * @returns Milliseconds since 1970.
 */
export function timeOf(date: string | null | undefined, wallMs = platform.wallMs()): number {
  const startMs = Date.parse(date ?? '')
  if (Number.isNaN(startMs))
    throw new Error(`the answer has ${show(date)} for its Date; a server or proxy has to send it`)
  return Math.min(Math.max(wallMs, startMs), startMs + 999)
}
