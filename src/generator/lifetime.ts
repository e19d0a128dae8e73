import { rangeError } from '../core/errors.js'
import type { Layout } from '../layout/index.js'
import { expiredError } from '../policy/refusal.js'

/** Refuses a layout outside of whose time the clock is. @throws RangeError `ERR_EPOCH_INVALID` before the epoch; GraupelError `ERR_LAYOUT_EXPIRED`. @internal */
export function checkLifetime(layout: Layout, nowMs: number): void {
  if (nowMs < layout.epochMs) {
    throw rangeError(
      'ERR_EPOCH_INVALID',
      `the epoch, ${new Date(layout.epochMs).toISOString()}, lies in the future of the clock, ${new Date(nowMs).toISOString()}; choose an earlier one`,
    )
  }
  if (nowMs >= layout.expiresAt.getTime()) throw expiredError(layout, nowMs)
}
