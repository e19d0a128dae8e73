import type { Server, Socket } from 'node:net'
import type { Logger } from 'pino'

/** Time between two lines about connections that were closed. */
const quietMs = 10_000

/**
 * Counts the connections of servers together, and closes those beyond a limit: the new one, or the oldest.
 *
 * `server.maxConnections` is not used: a full worker of node:cluster returns each connection to the primary,
 * which hands it to the next worker, while all are full. The client waits, each process uses a processor, and
 * `drop` is not emitted (Node 20.20.2, lib/internal/cluster/child.js).
 */
export class ConnectionLimit {
  readonly most: number
  readonly #open = new Set<Socket>()
  #dropped = 0
  #droppedThen = 0
  #loggedMs = Number.NEGATIVE_INFINITY

  /**
   * @param option - Its name in the log: `--max-connections`.
   * @param closes - With `oldest`, idle connections cannot shut a new one out.
   */
  constructor(
    servers: readonly Server[],
    most: number,
    option: string,
    logger: Logger,
    closes: 'newest' | 'oldest' = 'newest',
  ) {
    this.most = most
    const onConnection = (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
      if (this.#open.size <= most) return
      const [oldest] = this.#open
      const closed = closes === 'oldest' ? (oldest as Socket) : socket
      // At once, because its event comes later.
      this.#open.delete(closed)
      closed.destroy()
      this.#drop(option, logger)
    }
    for (const server of servers) server.on('connection', onConnection)
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open.size
  }

  /** Number of connections that were closed because there were too many. */
  get dropped(): number {
    return this.#dropped
  }

  #drop(option: string, logger: Logger): void {
    this.#dropped++
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < quietMs) return
    this.#loggedMs = nowMs
    const more = this.#dropped - this.#droppedThen
    this.#droppedThen = this.#dropped
    logger.warn({ event: 'drop', limit: this.most, more }, `connections beyond ${option} are closed`)
  }
}
