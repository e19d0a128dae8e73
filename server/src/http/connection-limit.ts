import type { Server, Socket } from 'node:net'
import type { Logger } from 'pino'

/** Time between two lines about connections that were closed. */
const quietMs = 10_000

/**
 * Counts the connections of servers together, and closes those beyond a limit.
 *
 * `server.maxConnections` is not used: a full worker of node:cluster returns each further connection to the
 * primary, which hands it to the next worker, for as long as all are full. The client waits, each process
 * uses a processor, and the event `drop` is not emitted (Node 20.20.2, lib/internal/cluster/child.js).
 */
export class ConnectionLimit {
  readonly most: number
  #open = 0
  #dropped = 0
  #droppedThen = 0
  #loggedMs = Number.NEGATIVE_INFINITY

  /** @param option - Its name in the log: `--max-connections`. */
  constructor(servers: readonly Server[], most: number, option: string, logger: Logger) {
    this.most = most
    const onConnection = (socket: Socket) => {
      if (this.#open >= most) {
        socket.destroy()
        this.#drop(option, logger)
        return
      }
      this.#open++
      socket.once('close', () => this.#open--)
    }
    for (const server of servers) server.on('connection', onConnection)
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open
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
