import { createGenerator, type IdGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'

// On globalThis, because Next.js loads this module several times: for instrumentation.ts, for each route, and
// after each edit.
const shared = globalThis as { ids?: Promise<IdGenerator> }

/** The generator of this process, on a node that is leased on the first call. */
export function ids(): Promise<IdGenerator> {
  shared.ids ??= lease().catch((error) => {
    delete shared.ids // the next call tries again
    throw error
  })
  return shared.ids
}

async function lease(): Promise<IdGenerator> {
  const { store, close } = await openStore(process.env.STORE_URL ?? 'sqlite:fleet.db')
  const lease = await acquireLease({ store }).catch(async (error) => {
    await close() // the next call opens another one
    throw error
  })
  // The lease is lost, and no other node is free: Next.js finishes its requests and ends, and has to be
  // restarted.
  lease.signal.addEventListener('abort', () => process.kill(process.pid, 'SIGTERM'))
  return createGenerator({ lease })
}
