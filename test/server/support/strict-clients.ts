import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RealTimeOrder } from '../../lease/strict-simulation/order.ts'

/** Longer than an answer takes; a server that is stopped does not answer. */
const timeoutMs = 250

/** The result of one request. */
type Result = 'answered' | 'refused' | 'broken'

/** A connection on which one request follows the other, with as little work for each as possible. */
class Connection {
  readonly #socket: Socket
  readonly #request: string
  #text = ''
  #done: (result: { readonly status: number; readonly id: bigint } | undefined) => void = () => {}

  constructor(port: number, path: string) {
    this.#request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    this.#socket = connect(port, '127.0.0.1').setNoDelay()
    this.#socket.setEncoding('latin1').on('data', (data: string) => {
      this.#text += data
      const [head, length] = /content-length: (\d+)/i.exec(this.#text) ?? []
      const end = this.#text.indexOf('\r\n\r\n') + 4
      if (head === undefined || end < 4 || this.#text.length < end + Number(length)) return
      const [, status] = /^HTTP\/1.1 (\d+)/.exec(this.#text) ?? []
      const [, id = '0'] = /"(\d{5,})"/.exec(this.#text.slice(end)) ?? []
      this.#text = ''
      this.#done({ status: Number(status), id: BigInt(id) })
    })
    for (const event of ['error', 'close']) this.#socket.on(event, () => this.#done(undefined))
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  ask(): Promise<{ readonly status: number; readonly id: bigint } | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#done(undefined), timeoutMs)
      this.#done = (result) => {
        clearTimeout(timer)
        if (result === undefined) this.#socket.destroy()
        resolve(result)
      }
      this.#socket.write(this.#request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

/**
 * Clients of a strict group, which check the order of all their answers. Most follow the holder; the others
 * ask any server, also one that was the holder before.
 */
export class StrictClients {
  readonly order = new RealTimeOrder()
  refused = 0
  broken = 0
  /** The time of the last answer. */
  lastMs = 0
  /** The index of the server that answered last. */
  holder = 0
  readonly #ports: readonly number[]
  readonly #open = new Map<number, number>()
  readonly #all: Promise<void>[]
  #isStopping = false

  /** @param count - Clients, of which a quarter asks any server. */
  constructor(ports: readonly number[], count: number, path = '/v1/ids') {
    this.#ports = ports
    this.#all = Array.from({ length: count }, (_, client) => this.#run(client, client % 4 === 3, path))
  }

  /** Waits for an answer to a request that is made from now on, and returns how long it took. */
  async untilAnswered(fromMs: number, limitMs = 60_000): Promise<number> {
    while (this.lastMs <= fromMs) {
      if (performance.now() - fromMs > limitMs) throw new Error(`no server answers for ${limitMs} ms`)
      await sleep(2)
    }
    return this.lastMs - fromMs
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#all)
  }

  async #run(client: number, asksAny: boolean, path: string): Promise<void> {
    const connections: (Connection | undefined)[] = []
    for (let turn = client; !this.#isStopping; turn++) {
      const at = asksAny ? turn % this.#ports.length : this.holder
      const old = connections[at]
      const connection = old?.isOpen ? old : new Connection(this.#ports[at] as number, path)
      connections[at] = connection
      const result = await this.#ask(client, at, connection)
      if (result === 'broken') this.broken++
      if (result === 'refused') this.refused++
      // Another client may have found the holder meanwhile.
      if (result !== 'answered' && this.holder === at && !asksAny) this.holder = (at + 1) % this.#ports.length
      if (asksAny || result !== 'answered') await sleep(1)
    }
    for (const connection of connections) connection?.close()
  }

  async #ask(client: number, at: number, connection: Connection): Promise<Result> {
    const madeMs = performance.now()
    this.#open.set(client, madeMs)
    const answer = await connection.ask()
    const givenMs = performance.now()
    this.#open.delete(client)
    if (answer === undefined) return 'broken'
    if (answer.status !== 200) return 'refused'
    this.order.add({ madeMs, givenMs, first: answer.id, last: answer.id })
    if (this.order.answers % 1000 === 0) this.order.forget(Math.min(givenMs, ...this.#open.values()))
    // Not the end of a request from before a fault.
    this.lastMs = Math.max(this.lastMs, madeMs)
    this.holder = at
    return 'answered'
  }
}
