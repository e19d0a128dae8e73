import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The fault between a client and its server. `refuses`: no connection gets through. `silent`: requests
 * arrive, and their replies never do. `late`: requests arrive up to a second and a half later, even if the
 * client has gone. `loses replies`: every second connection that gets a reply is cut instead, after the
 * server has done the request.
 */
export const weathers = ['refuses', 'silent', 'late', 'loses replies'] as const
export type Weather = 'fair' | (typeof weathers)[number]

const maxLateMs = 1500

/** A TCP proxy between one client process and its server. */
export class TcpProxy {
  readonly port: number
  readonly #server: Server
  readonly #target: () => number
  readonly #random: () => number
  readonly #pairs = new Set<Pair>()
  #weather: Weather = 'fair'
  /** The number of lost replies. */
  #lost = 0
  #isShut = false

  private constructor(server: Server, target: () => number, random: () => number) {
    this.#server = server
    this.#target = target
    this.#random = random
    this.port = (server.address() as { port: number }).port
    server.on('connection', (client) => this.#accept(client))
  }

  static async start(target: () => number, random: () => number): Promise<TcpProxy> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    return new TcpProxy(server, target, random)
  }

  get lost(): number {
    return this.#lost
  }

  set weather(weather: Weather) {
    // A connection that has missed a reply cannot go on; TCP would end it in its own time.
    for (const pair of this.#pairs) if (pair.isDeaf || weather === 'refuses') pair.cut()
    this.#weather = weather
  }

  /** Refuses every connection until `open()` is called. The fault makes no difference. */
  shut(): void {
    this.#isShut = true
    this.cut()
  }

  open(): void {
    this.#isShut = false
  }

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.#pairs) pair.cut()
  }

  stop(): void {
    this.cut()
    this.#server.close()
  }

  #accept(client: Socket): void {
    client.on('error', () => {})
    if (this.#isShut || this.#weather === 'refuses') return void client.destroy()
    const server = connect(this.#target(), '127.0.0.1')
    server.on('error', () => {})
    const pair: Pair = {
      isDeaf: false,
      cut() {
        client.destroy()
        server.destroy()
      },
    }
    this.#pairs.add(pair)
    // Late requests stay in order: TCP keeps the order, and clients match replies by it.
    let requests = Promise.resolve()
    client.on('data', (part) => {
      const lateMs = this.#weather === 'late' ? this.#random() * maxLateMs : 0
      const arrival = lateMs > 0 ? sleep(lateMs) : undefined
      requests = requests
        .then(() => arrival)
        .then(() => {
          if (server.writable) server.write(part)
        })
    })
    server.on('data', (part) => {
      if (this.#weather === 'silent') pair.isDeaf = true
      else if (this.#weather === 'loses replies' && this.#random() < 0.5) {
        this.#lost++
        pair.cut()
      }
      if (!pair.isDeaf && client.writable) client.write(part)
    })
    client.on('close', () => requests.then(() => setTimeout(() => server.destroy(), 10)))
    server.on('close', () => {
      client.destroy()
      this.#pairs.delete(pair)
    })
  }
}

interface Pair {
  /** Whether its client has missed a reply. */
  isDeaf: boolean
  cut(): void
}
