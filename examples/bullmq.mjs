// Jobs of BullMQ with the ids of their orders as names, so that a job that is added twice runs once.
//
//   npm install graupel bullmq ioredis
//   REDIS_URL=redis://127.0.0.1:6379 node bullmq.mjs
//
// It makes an order a second and prints when its mail was sent, until Ctrl-C or SIGTERM.
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { redisStore } from 'graupel/stores/redis'
import { Redis } from 'ioredis'

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const client = new Redis(url, { socketTimeout: 3000 }) // a connection that goes silent is replaced
client.on('error', (error) => console.error(`Redis: ${error.message}`))

const lease = await acquireLease({ store: redisStore(client) })
const ids = createGenerator({ lease })

const queue = new Queue('mails', { connection: { url } })

/** Asks for the mail of an order. */
function requestMail(id) {
  return queue.add(
    'confirmation',
    { order: String(id) }, // data of jobs is JSON, which refuses a bigint
    // The prefix is needed. Without it, BullMQ throws 'Custom Id cannot be integers' for ids that end in
    // zeros, such as 2124551499626345700: one id in 25 in a slow service, one in 256 in a fast service. So
    // tests may not notice it. BullMQ refuses a colon, too. BullMQ forgets an id together with its job: keep
    // the job as long as it may be added again.
    { jobId: `order-${id}`, removeOnComplete: { age: 24 * 3600 } },
  )
}

const worker = new Worker('mails', async ({ data }) => console.log(`mail of order ${data.order}`), {
  connection: { url, maxRetriesPerRequest: null },
})
worker.on('error', (error) => console.error(`worker: ${error.message}`))

const timer = setInterval(async () => {
  try {
    const id = await ids.nextAsync()
    await requestMail(id)
    await requestMail(id) // as an outbox does that was stopped before it recorded the first call
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

async function end() {
  clearInterval(timer)
  // BullMQ waits until its server answers, so it gets five seconds.
  await Promise.race([worker.close().then(() => queue.close()), sleep(5000)])
  await lease.release()
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)

// The lease is lost, and no other node is free: the process ends, and has to be restarted.
lease.signal.addEventListener('abort', end, { once: true })
