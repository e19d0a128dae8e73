// Opens a store, says so, and acquires a lease when it is told to; then says which node it has, and how many writes that took.
import { acquireLease } from 'graupel/lease'
import { openStore } from './chaos-store.js'

const store = await openStore(JSON.parse(process.argv[2] ?? ''))
let writes = 0
const counted = {
  ...store,
  /** @type {typeof store.write} */
  write(...words) {
    writes++
    return store.write(...words)
  },
}
await store.nowMs?.()
process.on('message', async () => {
  const lease = await acquireLease({ store: counted, callTimeoutMs: 60_000, acquireTimeoutMs: 60_000 })
  process.send?.({ node: lease.node, writes })
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
