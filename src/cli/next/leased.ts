import { createGenerator, type IdGenerator, type Layout } from '../../index.js'
import { howLongAgo } from '../../inspect/time.js'
import { acquireLease, type LeaseOptions } from '../../lease/index.js'
import { interruptible } from '../interrupt.js'
import { isDumb } from '../paint.js'
import { type OpenStore, type StoreValues, withStore } from '../store.js'
import { WaitLine } from './wait-line.js'

/** Options of the lease, as the flags of the command have them. */
export interface LeaseFlags {
  readonly layout: Layout
  readonly namespace: string | undefined
  readonly node: number | Record<string, number> | undefined
  readonly windowMs: number | undefined
  readonly acquireTimeoutMs: number | undefined
}

/**
 * Leases a node for as long as ids are made, and then gives it back; also where that, or the wait for a node, is interrupted.
 *
 * @param options - Of the generator. The library checks whether they are what the types say.
 * @param make - Ends soon after its signal is aborted.
 */
export function withLease(
  values: StoreValues,
  choice: LeaseFlags,
  options: object,
  make: (generator: IdGenerator, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  return interruptible((signal) =>
    withStore(values, { mayMake: true, signal }, async (open) => {
      const lease = await acquire(open, choice, signal)
      try {
        using generator = createGenerator({ ...options, lease }) as IdGenerator
        await make(generator, signal)
      } finally {
        await release(lease, open)
      }
    }),
  )
}

async function acquire({ store }: OpenStore, choice: LeaseFlags, signal: AbortSignal) {
  using _line = new WaitLine(isDumb() ? undefined : process.stderr, store)
  return await acquireLease({ ...choice, store, signal } as LeaseOptions)
}

type Lease = Awaited<ReturnType<typeof acquire>>

/** The ids are made and printed, so that it fails is no more than a warning. */
async function release(lease: Lease, { hide }: OpenStore): Promise<void> {
  const { node, ceilingMs } = lease.stats()
  try {
    await lease.release()
  } catch (error) {
    const until = `${new Date(ceilingMs).toISOString()}, ${howLongAgo(ceilingMs, Date.now())}`
    process.emitWarning(
      hide(`node ${node} was not given back, and is free after ${until}: ${(error as Error).message}`),
    )
  }
}
