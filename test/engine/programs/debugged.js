// Makes reservations, a rollback, an overflow, and a lease that is renewed, parked, resumed and released.
import { setTimeout } from 'node:timers/promises'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores/memory'

const [engine, namespace] = /** @type {['native' | 'js', string]} */ (process.argv.slice(2))
let nowMs = Date.UTC(2026, 0, 1)
const clock = () => nowMs
const ids = createGenerator({ node: 7, namespace, engine, clock, onRollback: 'throw', onOverflow: 'advance' })
ids.next()
nowMs += 1
ids.take(4096)
ids.next()
nowMs -= 100
try {
  ids.next()
} catch {
  // The line of the verdict says why.
}
ids.close()

const lease = await acquireLease({ store: memoryStore(), namespace, node: 5, windowMs: 4500 })
const leased = createGenerator({ lease, engine })
leased.next()
while (lease.stats().renewals === 0) await setTimeout(5)
await lease.park()
await lease.resume()
leased.next()
await lease.release()
