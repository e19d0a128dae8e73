// Opens a store that it is told of, and says so; acquires a lease when it is told to, and says which node it
// has, and how many writes that took. Gives it back when it is told of another store.
import { acquireLease } from 'graupel/lease'
import { openStore } from '../../stores/programs/open-store.js'

/** @type {import('graupel/stores').Store | undefined} */
let store
/** @type {{ readonly node: number, release(): Promise<void> } | undefined} */
let lease
let writes = 0

process.on('message', async (/** @type {'go' | import('../../stores/programs/open-store.js').StorePlan} */ message) => {
  if (message !== 'go') {
    await lease?.release()
    const opened = await openStore(message)
    writes = 0
    store = {
      ...opened,
      write(...words) {
        writes++
        return opened.write(...words)
      },
    }
    await store.nowMs?.()
    process.send?.('ready')
  } else if (store !== undefined) {
    // On a busy machine, 64 processes start for longer than a short window, and a lease that is not
    // renewed goes to another process.
    const window = store.durable ? { windowMs: 300_000 } : {}
    lease = await acquireLease({ store, callTimeoutMs: 60_000, acquireTimeoutMs: 60_000, ...window })
    process.send?.({ node: lease.node, writes })
  }
})
process.on('disconnect', () => process.exit())
process.send?.('started')
