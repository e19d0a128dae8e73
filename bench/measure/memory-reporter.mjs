// Loaded into a server before its own code. On request it reports the memory in use after a garbage
// collection.
import { setImmediate as nextTurn } from 'node:timers/promises'

process.on('message', async () => {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send?.({ heap: heapUsed + external, resident: rss })
})
// The message channel must not keep the server alive.
process.channel?.unref()
