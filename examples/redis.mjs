// Ids on a node that is leased from Redis or Valkey.
//
//   npm install graupel ioredis
//   REDIS_URL=redis://127.0.0.1:6379 node redis.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
// The first lease after every start of the server takes 11 seconds: docs/leases.md says why.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { redisStore } from 'graupel/stores/redis'
import { Redis } from 'ioredis'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

// A connection that goes silent for three seconds is replaced.
const client = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379', { socketTimeout: 3000 })
client.on('error', (error) => console.error(`Redis: ${error.message}`))

const lease = await acquireLease({ store: redisStore(client) })
const ids = createGenerator({ lease })

const timer = setInterval(() => {
  try {
    console.log(ids.nextString())
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

// Aborted by release(), and if the lease is lost and no other node is free: then restart the service.
lease.signal.addEventListener('abort', () => clearInterval(timer))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await lease.release()
    client.disconnect()
  })
}
