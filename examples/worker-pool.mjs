// Ids in the threads of a pool, piscina, on one node that their process has leased.
//
//   npm install graupel piscina libsql
//   STORE_URL=sqlite:fleet.db node worker-pool.mjs
//
// Each second it imports some rows in threads, and prints which thread gave them which ids, until Ctrl-C or SIGTERM. The pool ends its
// threads when they have nothing to do, and starts others: all of them count on the one state of the lease.
import { isMainThread, threadId } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { Piscina, workerData } from 'piscina'

if (isMainThread) await main()

async function main() {
  const opened = await openStore(process.env.STORE_URL ?? 'sqlite:fleet.db')
  const lease = await acquireLease({ store: opened.store }) // here, and not in a thread: whoever has it renews it
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
    await imported // close() would end threads that are still starting, and their tasks
    await pool.close()
    await lease.release()
    await opened.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)

  // The lease was lost and no other node could be had: the process ends, and is to be started again.
  lease.signal.addEventListener('abort', end, { once: true })
}

let ids

/** The task, in a thread: gives each row an id. */
export default function importRows(rows) {
  ids ??= createGenerator({ lease: workerData }) // once for each thread
  return { thread: threadId, ids: rows.map(() => ids.next()) }
}
