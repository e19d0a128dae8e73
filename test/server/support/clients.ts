import { Agent, get, type OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/until.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
  readonly socket: Socket
}

/** An answer that refuses. */
export interface Refusal {
  readonly client: number
  readonly status: number
  readonly type: unknown
  readonly retryAfter: unknown
  readonly text: string
  readonly atMs: number
}

/** Longer than the service takes for any answer. */
const timeoutMs = 30_000
/** Pause between two requests of a client, which leaves time for other clients. */
const pauseMs = 4

/** Sends a request once and never repeats it. @throws the reason if there is no answer */
export function ask(url: string, agent?: Agent, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers, timeout: timeoutMs }, (answer) => {
      const parts: Buffer[] = []
      const { socket, statusCode, headers } = answer
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => resolve({ status: statusCode as number, headers, body: Buffer.concat(parts), socket }))
      answer.on('error', reject)
    })
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)))
  })
}

/** Clients that send one request after the other, each on its own connection, until they are stopped. */
export class Clients {
  /** Number of successes of each client. */
  readonly answered: number[]
  readonly refusals: Refusal[] = []
  /** The reasons of requests without an answer. */
  readonly broken: string[] = []
  readonly #all: Promise<void>[]
  #isStopping = false

  /** @param urlOf - Returns the URL that a client requests. @param take - Gets each success. */
  constructor(
    count: number,
    urlOf: (client: number) => string,
    take: (answer: Answer) => void,
    headers: OutgoingHttpHeaders = {},
  ) {
    this.answered = Array.from({ length: count }, () => 0)
    this.#all = this.answered.map((_, client) => this.#run(client, urlOf, take, headers))
    // stop() reports a wrong answer.
    for (const one of this.#all) one.catch(() => {})
  }

  /** Waits until each client has had `more` further successes. */
  async goOn(more = 20): Promise<void> {
    const goals = this.answered.map((answered) => answered + more)
    await until(() => goals.every((goal, client) => (this.answered[client] as number) >= goal))
  }

  /** Stops all clients. @throws if an answer was wrong */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#all)
  }

  async #run(
    client: number,
    urlOf: (client: number) => string,
    take: (answer: Answer) => void,
    headers: OutgoingHttpHeaders,
  ): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      while (!this.#isStopping) {
        const answer = await ask(urlOf(client), agent, headers).catch((error) => {
          this.broken.push(`${error.code ?? error.message}`)
        })
        if (answer?.status === 200) {
          take(answer)
          this.answered[client] = (this.answered[client] as number) + 1
        } else if (answer !== undefined) {
          const { status, headers, body } = answer
          const [type, retryAfter] = [headers['content-type'], headers['retry-after']]
          this.refusals.push({ client, status, type, retryAfter, text: `${body}`, atMs: performance.now() })
        }
        await sleep(pauseMs)
      }
    } finally {
      agent.destroy()
    }
  }
}

/** The ids of answers in bytes. */
export class Ids {
  readonly arrays: BigUint64Array[] = []
  /** Number of ids that were not above the id before on the same connection. */
  descents = 0
  readonly #count: number
  readonly #last = new WeakMap<Socket, bigint>()

  /** @param count - Number of ids in each answer. */
  constructor(count: number) {
    this.#count = count
  }

  /** Returns the URL of an instance for that many ids. */
  urlAt = (instance: string) => `${instance}/v1/ids?count=${this.#count}&format=bytes`

  take = ({ body, socket }: Answer): void => {
    if (body.length !== this.#count * 8) throw new Error(`${body.length} bytes are not ${this.#count} ids`)
    const ids = BigUint64Array.from({ length: this.#count }, (_, index) => body.readBigUInt64LE(index * 8))
    let last = this.#last.get(socket) ?? -1n
    for (const id of ids) {
      if (id <= last) this.descents++
      last = id
    }
    this.#last.set(socket, last)
    this.arrays.push(ids)
  }
}

/** The counts of one counter. */
export class Counts {
  readonly all: number[] = []

  urlAt = (instance: string) => `${instance}/v1/counters/invoices`

  take = ({ body }: Answer): void => {
    this.all.push(...(JSON.parse(`${body}`) as { counts: string[] }).counts.map(Number))
  }

  get repeated(): number {
    return this.all.length - new Set(this.all).size
  }

  /** Number of counts between the first and the last that no answer had. */
  get missing(): number {
    return Math.max(...this.all) - new Set(this.all).size
  }
}

/** Polls an instance for its readiness. */
export class Watch {
  readonly #changes: { readonly isReady: boolean; readonly atMs: number }[] = []
  readonly #running: Promise<void>
  #isStopping = false

  constructor(url: string) {
    this.#running = this.#run(`${url}/readyz`)
  }

  get isReady(): boolean {
    return this.#changes.at(-1)?.isReady === true
  }

  /** Tells whether the instance was ready at a time. */
  wasReady(atMs: number): boolean {
    return this.#changes.findLast((change) => change.atMs < atMs)?.isReady === true
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
  }

  async #run(url: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!this.#isStopping) {
      const isReady = await ask(url, agent).then(
        ({ status }) => status === 200,
        () => false,
      )
      if (isReady !== this.isReady) this.#changes.push({ isReady, atMs: performance.now() })
      await sleep(10)
    }
    agent.destroy()
  }
}
