import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Server as TlsServer } from 'node:tls'
import { StartError } from './failure.js'
import type { Options } from './options/table.js'

/** For requests that are on their way when it stops to listen. */
const graceMs = 100
/** Between two looks for connections that have become idle. */
const lookMs = 20

const rules: Partial<Record<string, string>> = {
  EADDRINUSE: 'which another program has; give another --port, or 0 for any that is free',
  EACCES: 'which this user may not have; give a --port from 1024 up',
  EADDRNOTAVAIL: 'which is no address of this host; give another --host',
  ENOTFOUND: 'which is not known; give another --host',
}

/** Listens, and stops without breaking a request. */
export class Listener {
  readonly url: string
  readonly #server: Server
  /** Connections that no request has come by. */
  readonly #unused = new Set<Socket>()

  /** @param isStopping - From when on it holds, each answer ends its connection. @throws StartError */
  static async open(
    server: Server,
    { host, port }: Pick<Options, 'host' | 'port'>,
    isStopping: () => boolean,
  ): Promise<Listener> {
    // Not by app.listen(), which for localhost opens servers of its own that are closed in its own way.
    server.listen({ host, port })
    try {
      await once(server, 'listening')
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      throw new StartError(
        'ERR_ADDRESS_UNAVAILABLE',
        `the service cannot listen on ${host}:${port}, ${rules[code] ?? `because of: ${message}`}`,
        error,
      )
    }
    return new Listener(server, isStopping)
  }

  private constructor(server: Server, isStopping: () => boolean) {
    this.#server = server
    const isTls = server instanceof TlsServer
    const { address, family, port } = server.address() as AddressInfo
    this.url = `${isTls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#unused.add(socket)
      socket.once('close', () => this.#unused.delete(socket))
    })
    server.prependListener('request', ({ socket }, response) => {
      this.#unused.delete(socket)
      // As `Connection: close` in the answer. Another way to end an idle connection is a reset of a request that is on its way.
      if (isStopping()) response.shouldKeepAlive = false
    })
  }

  /** Stops to listen, and waits for the answers to what has arrived. @param timeoutMs - Connections are cut then. */
  async close(timeoutMs: number): Promise<void> {
    const server = this.#server
    const endMs = performance.now() + timeoutMs
    let isClosed = false
    // Not by its own close(), which ends idle connections before what they have received is read.
    NetServer.prototype.close.call(server, () => {
      isClosed = true
    })
    await sleep(Math.min(graceMs, timeoutMs))
    for (const socket of this.#unused) socket.destroy()
    while (!isClosed && performance.now() < endMs) {
      server.closeIdleConnections()
      await sleep(lookMs)
    }
    server.closeAllConnections()
  }
}
