import type { Field, layouts } from '../layout/index.js'
import { Lease } from './lease.js'
import { checkLeaseOptions, type LeaseOptions } from './options.js'

/**
 * Leases a node from a store: one that no other process has, whatever clocks, networks and pauses do (docs/leases.md). Waits for a
 * free one; on a store that may forget what it has acknowledged, also until the server has lived for some eleven seconds.
 *
 * @param options - `store` is required; {@link LeaseOptions} describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`, `ERR_NODE_INVALID`;
 * RangeError `ERR_EPOCH_INVALID`, `ERR_LAYOUT_DECODE_ONLY`; GraupelError `ERR_NODES_EXHAUSTED`, `ERR_CLOCK_SKEW`, `ERR_STORE_UNAVAILABLE`,
 * `ERR_STORE_INVALID`, `ERR_STORE_UNSAFE`, `ERR_STATE_MISMATCH`, `ERR_STATE_CORRUPT`; the reason of `signal`. Nothing is held then.
 * @example
 * const lease = await acquireLease({ store: memoryStore() })
 * const ids = createGenerator({ lease })
 * ids.next() // a bigint
 * await lease.release()
 */
export async function acquireLease<const F extends readonly Field[] = layouts.Twitter>(
  options: LeaseOptions<F>,
): Promise<Lease<F>> {
  const choice = checkLeaseOptions(options)
  choice.signal?.throwIfAborted()
  return new Lease(choice).begin()
}
