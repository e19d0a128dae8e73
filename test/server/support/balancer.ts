import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './clients.ts'

const checkMs = 100

/** An instance behind the balancer. */
interface Behind {
  readonly url: string
  readonly agent: Agent
  isUp: boolean
}

/**
 * Forwards each request to the next instance that was ready at its last health check, on kept connections.
 *
 * It never sends a request a second time. nginx does by default (`proxy_next_upstream error timeout`): a GET
 * whose connection breaks before the answer goes to the next server, even if the connection was kept. HAProxy
 * does so only if no connection could be made (`retry-on conn-failure`). Without retries, a client sees each
 * fault of an instance.
 */
export class Balancer {
  readonly url: string
  readonly #behind: readonly Behind[]
  readonly #server
  #turn = 0
  #isClosed = false

  static async start(urls: readonly string[]): Promise<Balancer> {
    const behind = urls.map((url) => ({ url, agent: new Agent({ keepAlive: true }), isUp: false }))
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Balancer(behind, server)
  }

  private constructor(behind: readonly Behind[], server: ReturnType<typeof createServer>) {
    this.#behind = behind
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (asked, reply) => this.#pass(asked, reply))
    for (const one of behind) void this.#check(one)
  }

  close(): void {
    this.#isClosed = true
    this.#server.close()
    this.#server.closeAllConnections()
    for (const { agent } of this.#behind) agent.destroy()
  }

  async #check(one: Behind): Promise<void> {
    while (!this.#isClosed) {
      one.isUp = await ask(`${one.url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
      await sleep(checkMs)
    }
  }

  #pass({ url, headers }: IncomingMessage, reply: ServerResponse): void {
    const up = this.#behind.filter(({ isUp }) => isUp)
    const one = up[this.#turn++ % up.length]
    if (one === undefined) {
      reply.writeHead(502).end('no instance is ready')
      return
    }
    const { connection, ...passed } = headers
    const passing = request(`${one.url}${url}`, { agent: one.agent, headers: passed }, (answer) => {
      const { connection, 'keep-alive': keepAlive, ...rest } = answer.headers
      reply.writeHead(answer.statusCode as number, rest)
      answer.on('error', () => reply.destroy()).pipe(reply)
    })
    passing.on('error', (error) => {
      if (reply.headersSent) reply.destroy()
      else reply.writeHead(502).end(`${error}`)
    })
    passing.end()
  }
}
