import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

// The one place where the service relies on behaviour that Node does not document. Node 20.20.2 was read.

/** An accepted connection in the primary. It is Node's own object and no socket yet. */
interface Connection {
  close(): void
}

const handedTo = new WeakMap<Connection, Worker>()

/**
 * Closes the connections, at most one of each port, that were handed to a worker and that the worker had not
 * taken when it ended. Otherwise the client of a killed worker waits for an answer for ever.
 *
 * - Behaviour: the primary hands a connection over by `worker.process.send({ cmd: 'NODE_CLUSTER', act:
 *   'newconn' }, handle)`, and keeps its handle open until the worker reports that it took the connection
 *   (`handoff` in lib/internal/cluster/round_robin_handle.js).
 * - Measurement: `NODE_CLUSTER_SCHED_POLICY=none` has no such handle. But of 64 simultaneous connections to
 *   four workers, it gave one worker up to 62; the primary gives one worker at most 18.
 * - If it changes: "killed workers are started again, and every connection gets an answer or an error" in
 *   test/server/cluster.long.test.ts fails.
 * - Removal: as soon as Node closes the handle of a worker that has exited.
 */
export function closeUntakenConnection(worker: Worker): void {
  /** By the key that Node gives a port. */
  const last = new Map<unknown, Connection>()
  const child: ChildProcess = worker.process
  const send = child.send as (...words: unknown[]) => boolean
  child.send = (...words: unknown[]) => {
    const [message, handle] = words as [{ cmd?: string; act?: string; key?: unknown }, Connection | undefined]
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && handle) {
      last.set(message.key, handle)
      handedTo.set(handle, worker)
    }
    return send.apply(child, words)
  }
  // A taken connection is closed already, and closing it again is no error. A refused connection was handed
  // to another worker.
  worker.once('exit', () => {
    for (const connection of last.values()) if (handedTo.get(connection) === worker) connection.close()
  })
}

/**
 * Lets a client end its side of a connection after its requests, and still read the answers. Otherwise Node
 * ends the service's side as well, and the answer is lost.
 *
 * - Behaviour: `httpAllowHalfOpen` of a server of node:http or node:https (`socketOnEnd` in
 *   lib/_http_server.js).
 * - If it changes: "a client that ends its side after its request" in test/server/half-closed.test.ts fails.
 * - Removal: as soon as Node has an option for it.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/**
 * Closes a connection after its last answer by the given function. Node destroys it at once. Bytes that were
 * not read then reset it, and the client loses the answers that it has not read.
 *
 * - Behaviour: a server of node:http closes a connection by `destroySoon` (`resOnFinish` in
 *   lib/_http_server.js). Its parser gets no further byte once `data` had a listener and has none.
 * - If it changes: "a client that reads slowly" in test/server/last-answer.test.ts fails.
 * - Removal: as soon as Node lingers (RFC 9112, section 9.6).
 */
export function closeBy(socket: Socket, close: () => void): void {
  socket.destroySoon = () => {
    socket.on('data', () => {}).removeAllListeners('data')
    close()
  }
}
