import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Server as TlsServer } from 'node:tls'
import { StartError } from '../failure.js'
import { isAnswering, isLingering, isUsed } from './connections.js'

/** Time for requests that are on their way when connections are about to be closed. */
const graceMs = 100
/** Time between two looks for connections that have become idle. */
const lookMs = 20

/** The rules by the code of the error. @param option - The option of the port. */
const rules = (option: string): Partial<Record<string, string>> => ({
  EADDRINUSE: `which another program uses; give another ${option}, or 0 for any free port`,
  EACCES: `which this user may not use; give a ${option} from 1024 up`,
  EADDRNOTAVAIL: 'which is no address of this host; give another --host',
  ENOTFOUND: 'which has no address; give another --host',
})

/**
 * Makes a server listen and returns its address with its port. @param option - The option of the
 * port. @throws StartError
 */
export async function listen(
  server: NetServer,
  { host, port }: { readonly host: string; readonly port: number },
  option: string,
): Promise<string> {
  // Not app.listen(), which opens further servers for localhost and closes them in its own way.
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new StartError(
      'ERR_ADDRESS_UNAVAILABLE',
      `the service cannot listen on ${host}:${port}, ${rules(option)[code] ?? `because of: ${message}`}`,
      error,
    )
  }
  const { address, family, port: given } = server.address() as AddressInfo
  return `${family === 'IPv6' ? `[${address}]` : address}:${given}`
}

/** The connections of a server. With TLS, each is a socket of TLS over a socket of TCP. */
export class Connections {
  /** The sockets of TCP, also those whose handshake is not over. */
  readonly #accepted = new Set<Socket>()
  /** The sockets that requests come by. */
  readonly open = new Set<Socket>()

  constructor(server: NetServer) {
    const collect = (event: string, sockets: Set<Socket>) =>
      server.on(event, (socket: Socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      })
    collect('connection', this.#accepted)
    collect(server instanceof TlsServer ? 'secureConnection' : 'connection', this.open)
  }

  /** Closes the connections whose handshake is not over. Node waits for them when a server closes. */
  destroyUnfinished(): void {
    // The two sockets of a TLS connection have one remote address. Node tells by nothing else that they
    // belong together.
    const finished = new Set(Array.from(this.open, addressOf))
    for (const socket of this.#accepted) if (!finished.has(addressOf(socket))) socket.destroy()
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Listens, and stops without breaking a request. */
export class Listener {
  readonly url: string
  readonly #server: Server
  readonly #connections: Connections

  /** @param option - The option of the port, for errors. @throws StartError */
  static async open(
    server: Server,
    { host, port }: { readonly host: string; readonly port: number },
    option = '--port',
  ): Promise<Listener> {
    const address = await listen(server, { host, port }, option)
    return new Listener(server, `http${server instanceof TlsServer ? 's' : ''}://${address}`)
  }

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
    this.#connections = new Connections(server)
  }

  /**
   * Stops listening and waits for the answers to requests that have arrived. @param timeoutMs - Connections
   * are cut after it.
   */
  async close(timeoutMs: number): Promise<void> {
    const server = this.#server
    const { open } = this.#connections
    const endMs = performance.now() + timeoutMs
    const graceful = Math.min(graceMs, timeoutMs / 2)
    // Busy clients get an answer with `Connection: close`, because idle connections are closed from then on.
    await sleep(graceful)
    let isClosed = false
    // Not server.close(), which closes idle connections at once.
    NetServer.prototype.close.call(server, () => {
      isClosed = true
    })
    // The last accepted connections may still send their first request.
    await sleep(graceful)
    for (const socket of open) if (!isUsed(socket)) socket.destroy()
    this.#connections.destroyUnfinished()
    while (!isClosed && performance.now() < endMs) {
      // Node counts a connection as idle whose answer is complete, but waits for a client that reads slowly.
      const isSent = !Array.from(open).some(isAnswering)
      if (isSent && !isLingering()) server.closeIdleConnections()
      await sleep(lookMs)
    }
    server.closeAllConnections()
  }
}
