import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'

/** A connection that was accepted, in the primary: Node's own object, which is no socket yet. */
interface Connection {
  close(): void
}

const handedTo = new WeakMap<Connection, Worker>()

/**
 * Closes the connection that a worker was handed and had not taken when it ended. Node hands a worker one at a time, and keeps it open
 * until the worker says that it has taken it (`handoff` in lib/internal/cluster/round_robin_handle.js): of a worker that was killed
 * before, the client would wait for an answer for ever. Without the primary between them (`NODE_CLUSTER_SCHED_POLICY=none`) there is no
 * such connection, but workers do not get equally many: of 64 that came at once to four workers, one got up to 62; this way at most 18.
 */
export function closeWhatIsNotTaken(worker: Worker): void {
  let last: Connection | undefined
  const child: ChildProcess = worker.process
  const send = child.send as (...words: unknown[]) => boolean
  child.send = (...words: unknown[]) => {
    const [message, handle] = words as [{ cmd?: string; act?: string }, Connection | undefined]
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && handle) {
      last = handle
      handedTo.set(handle, worker)
    }
    return send.apply(child, words)
  }
  // One that was taken is closed already here, which is no error. One that was refused belongs to another worker.
  worker.once('exit', () => {
    if (last !== undefined && handedTo.get(last) === worker) last.close()
  })
}
