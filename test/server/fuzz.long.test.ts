import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seededRandom } from '../support/random.ts'
import { until } from '../support/until.ts'
import { ask, Clients } from './support/clients.ts'
import { Hostile } from './support/hostile.ts'
import { expectFlat, logOf, measurable, memoryOf, seriesIn } from './support/memory.ts'
import { folder, type Serving, serve } from './support/process.ts'
import { answersIn, connectTo, exchange, type RawAnswer } from './support/raw.ts'

// Sends 100 000 requests, half to a service without a token and half to a service with a token.

const rounds = 5
const connectionsOfRound = 800
const requestsOfConnection = 10
const malformedOfRound = 2000
const atOnce = 48
/** Time after which a client leaves if the service waits for more bytes. */
const quietMs = 60
const requestTimeoutMs = 3000
const maxNames = 20
/**
 * The growth allowed between the first and the second half of the rounds. A kilobyte lost by one request in
 * ten would be 2 MB.
 */
const [heapMB, rssMB] = [2, 40]

const token = 'a-token-that-is-long-enough-for-a-test'
/** Matches paths of this repository, of Node's own code, and of installed packages. */
const secrets =
  /node_modules|node:internal|\/dist\/|\.js:\d|\.ts:\d|^\s*at .+:\d|graupel\.db|fastify|libsql|ERR_INTERNAL/im
const versions = [process.version, process.versions.openssl, '0.1.0']

/** Checks an answer. @throws if it reveals a secret, or is no answer of the service */
function check({ status, headers, body }: RawAnswer, sent: string): void {
  const fail = (what: string) => {
    throw new Error(`${what} in the answer to ${JSON.stringify(sent.slice(0, 1000))}: ${status} ${body.slice(0, 1000)}`)
  }
  if (headers.has('server') || headers.has('x-powered-by') || headers.has('x-evil')) fail('a header that gives away')
  if (status < 400) return
  if (secrets.test(body) || versions.some((version) => body.includes(version))) fail('something secret')
  const { type, title, status: told, detail, code, timestamp, error } = JSON.parse(body)
  // Leaf's routes answer errors as Leaf does.
  const isLeaf = headers.get('content-type') === 'application/json;charset=UTF-8' && timestamp !== undefined
  if (isLeaf && told === status && typeof error === 'string') return
  const isProblem = headers.get('content-type') === 'application/problem+json' && type === `urn:graupel:${code}`
  if (!isProblem || told !== status || status === 500) fail('no problem')
  if (typeof title !== 'string' || typeof detail !== 'string' || detail === '') fail('no detail')
}

/** Calls `run` `count` times, several at once. */
async function many(count: number, run: () => Promise<void>): Promise<void> {
  let left = count
  const lane = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

/** Attacks on one service. */
class Attack {
  readonly #hostile: Hostile
  readonly #port: number
  readonly #authorization: string
  readonly answers: Record<number, number> = {}
  /**
   * The bytes of connections that did not end in order. A busy service treats requests that have arrived as
   * late.
   */
  readonly cuts: string[] = []

  constructor(hostile: Hostile, port: number, authorization: string) {
    this.#hostile = hostile
    this.#port = port
    this.#authorization = authorization
  }

  async round(greedy: number): Promise<void> {
    const late = Promise.all(Array.from({ length: 5 }, () => this.half()))
    const held = [...this.silent(1000), ...this.slow(20), ...this.greedy(greedy)]
    await many(connectionsOfRound, () => this.odd())
    await many(malformedOfRound, () => this.malformed())
    await this.leaving(200)
    await late
    for (const socket of held) socket.destroy()
  }

  /** Sends several valid HTTP requests on one connection. */
  async odd(): Promise<void> {
    const requests = Array.from({ length: requestsOfConnection }, (_, index) =>
      this.#hostile.odd(index === requestsOfConnection - 1),
    )
    const sent = requests.map(({ text }) => text)
    const received = await exchange(this.#port, Buffer.from(sent.join(''), 'latin1'), 10_000)
    const methods = requests.map(({ method }) => method)
    this.#count(answersIn(received, methods), sent, methods)
    if (!received.isWhole) this.cuts.push(`${received.bytes.toString('latin1').slice(-300)}`)
  }

  async malformed(): Promise<void> {
    const bytes = this.#hostile.malformed()
    const answers = answersIn(await exchange(this.#port, bytes, quietMs))
    this.#count(answers, Array(answers.length).fill(bytes.toString('latin1')))
  }

  /** Sends half a request and waits for the answer. */
  async half(): Promise<void> {
    const text = 'GET /v1/ids HTTP/1.1\r\nHos'
    this.#count(answersIn(await exchange(this.#port, Buffer.from(text), 30_000)), [text])
  }

  /** Opens connections that send nothing. */
  silent(count: number): Socket[] {
    return Array.from({ length: count }, () => connectTo(this.#port))
  }

  /** Sends a byte now and then. */
  slow(count: number): Socket[] {
    return Array.from({ length: count }, () => {
      const socket = connectTo(this.#port)
      const text = `GET /v1/ids HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(5000)}`
      let at = 0
      const timer = setInterval(() => socket.write(text[at++ % text.length] as string), 50)
      return socket.once('close', () => clearInterval(timer))
    })
  }

  /** Asks for much and reads nothing. */
  greedy(count: number): Socket[] {
    return this.silent(count).map((socket) => {
      socket.pause()
      socket.write(`GET /v1/ids?count=65536 HTTP/1.1\r\nHost: 127.0.0.1\r\n${this.#authorization}\r\n`.repeat(2))
      return socket
    })
  }

  /** Leaves before the answer comes. */
  async leaving(count: number): Promise<void> {
    const text = `GET /v1/counters/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n${this.#authorization}\r\n`
    const sockets = this.silent(count)
    await Promise.all(
      sockets.map(
        (socket, index) =>
          new Promise((resolve) => {
            socket.resume().on('close', resolve)
            if (index % 2 === 0) socket.write(text, () => socket.resetAndDestroy())
            else socket.end(text)
          }),
      ),
    )
  }

  #count(answers: readonly RawAnswer[], sent: readonly string[], methods: readonly string[] = []): void {
    for (const [index, answer] of answers.entries()) {
      const { status } = answer
      this.answers[status] = (this.answers[status] ?? 0) + 1
      if (methods[index] === 'HEAD') continue
      check(answer, sent[index] as string)
    }
  }
}

test.each([
  ['', []],
  [' with tokens', ['--token-file', join(folder, 'tokens')]],
])(
  'a service%s stands hostile requests',
  async (about, tokenFlags) => {
    writeFileSync(join(folder, 'tokens'), `${token}\n`)
    const isOpen = tokenFlags.length === 0
    const limits = ['--request-timeout-ms', `${requestTimeoutMs}`, '--max-names', `${maxNames}`]
    const flags = ['--data', join(folder, `fuzz ${tokenFlags.length}`), ...limits, ...tokenFlags]
    const service: Serving = await serve(flags, measurable)
    let end: unknown
    service.ended.then((code) => {
      end = code
    })
    const headers = isOpen ? {} : { authorization: `Bearer ${token}` }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const metrics = async () => `${(await ask(`${service.url}/metrics`, agent, headers)).body}`
    const filesOpen = async () => seriesIn(await metrics(), 'process_open_fds')
    // Opens the files that the service opens at their first use.
    await ask(`${service.url}/v1/counters/orders`, agent, headers)
    const filesBefore = await filesOpen()

    let last = 0n
    let slowestMs = 0
    let sinceMs = performance.now()
    const beside = new Clients(
      2,
      () => `${service.url}/v1/ids`,
      ({ body }) => {
        const id = BigInt((JSON.parse(`${body}`) as { ids: [string] }).ids[0])
        if (id === last) throw new Error(`${id} was given twice`)
        last = id
        slowestMs = Math.max(slowestMs, performance.now() - sinceMs)
        sinceMs = performance.now()
      },
      headers,
    )
    const random = seededRandom(`hostile requests${about}`)
    const port = Number(new URL(service.url).port)
    const attack = new Attack(
      new Hostile(random, isOpen ? '' : token),
      port,
      isOpen ? '' : `Authorization: Bearer ${token}\r\n`,
    )
    const measured = []
    for (let round = 0; round < rounds; round++) {
      await attack.round(round === 0 ? 200 : 20)
      expect(end, service.stderr()).toBeUndefined()
      await until(async () => (await filesOpen()) <= filesBefore + 2)
      measured.push(await memoryOf(service, metrics))
    }
    await beside.goOn()
    await beside.stop()
    expect(beside.broken).toEqual([])
    expect(beside.refusals).toEqual([])
    await until(async () => (await filesOpen()) <= filesBefore)
    agent.destroy()
    console.info(
      `answers: ${JSON.stringify(attack.answers)}; ${attack.cuts.length} cut; a valid request waited for ${slowestMs.toFixed()} ms at most`,
    )
    for (const status of [200, 400, 404, 405, 408, 414, 431, isOpen ? 403 : 401]) {
      expect(attack.answers[status], `answers of ${status}`).toBeGreaterThan(0)
    }
    expect(attack.cuts.length, attack.cuts[0]).toBeLessThan((rounds * connectionsOfRound) / 20)
    expectFlat(measured, heapMB, rssMB)
    // A client's mistake is not logged, and a failure of the service is logged once a second.
    expect(logOf(service).length, service.stderr()).toBeLessThan(200)
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  },
  240_000,
)
