// A lease on the engine of this process's environment, and a worker whose environment asks for another one.
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'

if (isMainThread) {
  const lease = await acquireLease({ store: memoryStore() })
  const env = { ...process.env, GRAUPEL_ENGINE: process.argv[2] }
  // The options `engine` to try, until one is not refused.
  for (const engine of process.argv.slice(3)) {
    const worker = new Worker(new URL(import.meta.url), { env, workerData: { handle: lease.handle, engine } })
    const [opened] = await once(worker, 'message')
    process.stdout.write(`${opened} `)
    if (opened.startsWith('ERR_')) continue
    await lease.release()
    worker.postMessage('go')
    process.stdout.write(`${(await once(worker, 'message'))[0]} `)
    break
  }
} else {
  const { handle, engine } = workerData
  try {
    const ids = createGenerator({ lease: handle, engine })
    ids.next()
    parentPort?.once('message', () => {
      let made = 0
      try {
        for (; made < 1e6; made++) ids.next()
      } catch {}
      // The thread still has the slots that it has reserved before: less than a run.
      parentPort?.postMessage(made < 1000 ? 'stopped' : 'went on')
    })
    parentPort?.postMessage(ids.engine)
  } catch (error) {
    parentPort?.postMessage(/** @type {{ code: string }} */ (error).code)
  }
}
