// Loaded into a server before its own code: says how much memory is in use, after a collection, when it is asked.
import { setImmediate as nextTurn } from 'node:timers/promises'

process.on('message', async () => {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send?.({ heap: heapUsed + external, resident: rss })
})
// A channel that is listened to must not keep the server alive.
process.channel?.unref()
