import { typeError } from '../core/errors.js'
import { type ResolvedLease, readLeaseOption } from '../engine/source/shared-lease.js'
import type { Field } from '../layout/index.js'
import type { GeneratorSettings } from './options.js'

// Beside resolve.ts, so that the page in web/ leaves it out.

/** Options that a lease decides. */
const decided = ['node', 'layout', 'epoch', 'namespace', 'state', 'openTimeoutMs', 'reserveMs'] as const

/**
 * Reads the option `lease`, and refuses options beside it that the lease decides.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function resolveLease<F extends readonly Field[]>(options: GeneratorSettings<F>): ResolvedLease<F> | undefined {
  if (options.lease === undefined) return undefined
  const lease = readLeaseOption<F>(options.lease)
  for (const name of decided) {
    if (options[name] === undefined) continue
    throw typeError('ERR_OPTION_INVALID', `${name} is given beside lease, which decides it; leave ${name} out`, name)
  }
  if (typeof options.clock !== 'function') return lease
  throw typeError(
    'ERR_OPTION_INVALID',
    "clock is a function, and a lease is bounded by the time of its store; pass 'wall' or 'steady'",
    'clock',
  )
}
