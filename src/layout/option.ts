import { GraupelError, rangeError, showTime } from '../core/errors.js'
import { type Instant, toMs } from '../core/moment.js'
import { checkEpochMs, checkMakesIds, defineLayout, genuineLayout } from './define.js'
import type { Field, Layout } from './layout.js'
import { layouts } from './presets.js'

// The options `layout` and `epoch`, for functions that make ids.

const nodeInstead = 'node: 7, or node: { datacenter: 1, worker: 7 }'
const layoutInstead = 'layout: defineLayout({ ...layouts.twitter, epochMs }), or epoch'

/** The names of other packages for node and epoch, and the option of this package. @internal */
export const optionsElsewhere: Readonly<Record<string, string>> = {
  worker: nodeInstead,
  workerId: nodeInstead,
  machine: nodeInstead,
  machineId: nodeInstead,
  datacenter: nodeInstead,
  datacenterId: nodeInstead,
  epochMs: layoutInstead,
  customEpoch: layoutInstead,
  twepoch: layoutInstead,
}

/**
 * Returns the layout of options, with their epoch.
 *
 * @throws TypeError `ERR_LAYOUT_INVALID`; RangeError `ERR_EPOCH_INVALID`, `ERR_LAYOUT_DECODE_ONLY`
 * @internal
 */
export function resolveLayout<F extends readonly Field[]>({
  layout,
  epoch,
}: {
  readonly layout?: Layout<F> | undefined
  readonly epoch?: Date | Instant | number | undefined
}): Layout<F> {
  const chosen = layout === undefined ? (layouts.twitter as unknown as Layout<F>) : genuineLayout(layout)
  checkMakesIds(chosen)
  if (epoch === undefined) return chosen
  const epochMs = toMs(epoch)
  checkEpochMs(epochMs, ', or a valid Date or Temporal.Instant')
  refuseSeconds(epochMs)
  return defineLayout({ ...(chosen as Layout), epochMs }) as unknown as Layout<F>
}

/** Refuses an epoch in seconds. @throws RangeError `ERR_EPOCH_INVALID` */
export function refuseSeconds(epochMs: number): void {
  // In milliseconds, these are days of January to April 1970, which nobody chooses.
  if (epochMs >= 1e9 && epochMs < 1e10) {
    throw rangeError(
      'ERR_EPOCH_INVALID',
      `the epoch is ${epochMs}, which is ${new Date(epochMs * 1000).toISOString()} in seconds; pass milliseconds since 1970, ${epochMs * 1000}, or a Date`,
      'epoch',
    )
  }
}

/**
 * Refuses a layout if the clock is before its epoch or after its end.
 *
 * @throws GraupelError `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`
 * @internal
 */
export function checkLifetime(layout: Layout, nowMs: number): void {
  if (nowMs < layout.epochMs) throw beforeEpochError(layout, nowMs)
  if (nowMs >= layout.expiresAt.getTime()) throw expiredError(layout, nowMs)
}

/** @internal */
export function beforeEpochError({ name, epochMs }: Layout, nowMs: number): GraupelError {
  return new GraupelError(
    'ERR_CLOCK_BEFORE_EPOCH',
    `the clock shows ${showTime(nowMs)}, before the epoch of layout '${name}', ${showTime(epochMs)}; set the clock, or choose an earlier epoch`,
  )
}

/** @internal */
export function expiredError(layout: Layout, nowMs: number): GraupelError {
  return new GraupelError(
    'ERR_LAYOUT_EXPIRED',
    `layout '${layout.name}' expired on ${layout.expiresAt.toISOString()}, and the clock shows ${new Date(nowMs).toISOString()}; choose a later epoch or a layout with a wider timestamp`,
  )
}
