// Ids in the threads of a pool, piscina, on one node that their process has leased.
//
//   npm install graupel piscina libsql
//   STORE_URL=sqlite:fleet.db node worker-pool.mjs
//
// Each second it imports some rows in threads, and prints the ids that each thread gave them, until Ctrl-C or
// SIGTERM. The pool ends idle threads, and starts others. All threads share the state of the lease.
import { isMainThread, threadId } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { Piscina, workerData } from 'piscina'

if (isMainThread) await main()

async function main() {
  const opened = await openStore(process.env.STORE_URL ?? 'sqlite:fleet.db')
  const lease = await acquireLease({ store: opened.store }) // in the main thread, because the thread that acquires a lease renews it
  const pool = new Piscina({ filename: import.meta.url, workerData: lease.handle, minThreads: 0 })

  async function importAll() {
    const batches = [['tea', 'rice'], ['salt'], ['milk', 'bread', 'eggs']]
    const results = await Promise.allSettled(batches.map((rows) => pool.run(rows)))
    for (const { value, reason } of results) {
      if (value !== undefined) console.log(`thread ${value.thread}: ${value.ids.join(' ')}`)
      else console.error(`${reason.code}: ${reason.message}`)
    }
  }
  let imported
  const timer = setInterval(() => {
    imported = importAll()
  }, 1000)

  const end = async () => {
    clearInterval(timer)
    await imported // because close() ends threads that are still starting, together with their tasks
    await pool.close()
    await lease.release()
    await opened.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)

  // The lease is lost, and no other node is free: the process ends, and has to be restarted.
  lease.signal.addEventListener('abort', end, { once: true })
}

let ids

/** The task, in a thread: gives each row an id. */
export default function importRows(rows) {
  ids ??= createGenerator({ lease: workerData }) // once for each thread
  return { thread: threadId, ids: rows.map(() => ids.next()) }
}
