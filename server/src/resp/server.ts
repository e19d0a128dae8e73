import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import type { Pair } from '../http/certificate.js'
import { Connections, listen } from '../http/listener.js'
import { Connection, type Surroundings } from './connection.js'

/** Time between two looks for connections that have ended. */
const lookMs = 20

/** Serves clients of Redis. */
export class RespServer {
  readonly server: Server | TlsServer
  readonly #isTls: boolean
  readonly #connections: Connections
  readonly #open = new Set<Connection>()

  /** @param pair - Serves TLS if given. */
  constructor(pair: Pair | undefined, surroundings: Surroundings) {
    const { requestTimeoutMs } = surroundings.sources.options
    this.#isTls = pair !== undefined
    // A client may end its side at once after its commands, and still read the answers.
    const sockets = { noDelay: true, allowHalfOpen: true }
    this.server =
      pair === undefined
        ? createServer(sockets)
        : createTlsServer({ ...pair, ...sockets, handshakeTimeout: requestTimeoutMs })
    this.#connections = new Connections(this.server)
    this.server.on(this.#isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      // The limit of connections has closed it.
      if (socket.destroyed) return
      const connection = new Connection(socket, surroundings)
      this.#open.add(connection)
      socket.once('close', () => this.#open.delete(connection))
    })
  }

  /** Listens and returns its URL, such as `redis://127.0.0.1:6379`. @throws StartError */
  async listen(host: string, port: number): Promise<string> {
    return `redis${this.#isTls ? 's' : ''}://${await listen(this.server, { host, port }, '--resp')}`
  }

  /**
   * Stops listening, and ends each connection when its commands are answered. @param timeoutMs - Connections
   * are cut after it.
   */
  async close(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    this.server.close()
    // A client whose handshake ended later would not be told that the service ends.
    this.#connections.destroyUnfinished()
    for (const connection of this.#open) connection.end()
    while (this.#open.size > 0 && performance.now() < endMs) await sleep(lookMs)
    for (const connection of this.#open) connection.destroy()
  }
}
