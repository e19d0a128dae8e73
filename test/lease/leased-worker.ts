import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { EngineKind } from 'graupel'
import type { LeaseHandle } from 'graupel/lease'
import { afterEach } from 'vitest'

const workers: Worker[] = []
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate()
})

/**
 * Starts a thread that has the handle of a lease, and waits until it is ready. It ends with the test. `ask`
 * sends an order to it.
 */
export async function startLeasedWorker<Order, Answer>(program: URL, handle: LeaseHandle, engine: EngineKind) {
  const worker = new Worker(program, { workerData: { handle, engine } })
  workers.push(worker)
  await once(worker, 'message')
  const ask = async (order: Order): Promise<Answer> => {
    worker.postMessage(order)
    return (await once(worker, 'message'))[0]
  }
  return { worker, ask }
}
