// Ids in worker threads, on one node that their process has leased.
//
//   npm install graupel ioredis
//   REDIS_URL=redis://127.0.0.1:6379 node worker-threads.mjs
//
// Each of two threads prints an id a second, until Ctrl-C or SIGTERM. The main thread renews the lease for
// all of them.
import { subscribe } from 'node:diagnostics_channel'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { redisStore } from 'graupel/stores/redis'
import { Redis } from 'ioredis'

if (isMainThread) {
  await main()
} else {
  work()
}

async function main() {
  subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

  const client = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', { socketTimeout: 3000 })
  client.on('error', (error) => console.error(`Redis: ${error.message}`))

  const lease = await acquireLease({ store: redisStore(client) })
  const workers = [1, 2].map(() => new Worker(new URL(import.meta.url), { workerData: lease.handle }))
  for (const worker of workers) worker.on('message', (id) => console.log(id))

  // Aborted by release(), and if the lease is lost and no other node is free: then restart the service.
  lease.signal.addEventListener('abort', () => {
    for (const worker of workers) worker.terminate()
  })

  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await lease.release()
      client.disconnect()
    })
  }
}

function work() {
  // A thread needs only the handle. If the lease moves to another node, the generator does, too.
  const ids = createGenerator({ lease: workerData })
  setInterval(() => {
    try {
      parentPort.postMessage(ids.nextString())
    } catch (error) {
      console.error(`${error.code}: ${error.message}`)
    }
  }, 1000)
}
