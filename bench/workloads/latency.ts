import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { digits } from '../bars.ts'
import type { Check, Outcome, RunOptions, Subject, Workload } from '../contract.ts'
import { Ledger } from '../measure/ledger.ts'
import { connections, missingForClient, pinLoad, type Server, withServers } from '../measure/load.ts'
import {
  type Connections,
  type Exchange,
  httpExchange,
  openConnections,
  respExchange,
} from '../measure/open-connections.ts'
import { Latencies, pace, quantiles } from '../measure/open-load.ts'
import { freePort, missingForResp } from '../measure/resp-load.ts'
import { calmRounds } from '../measure/rounds.ts'
import { checkOf } from './service.ts'

// Distributions of latencies under an open load, each beside the distribution of its yardstick in the same
// rounds.

const root = fileURLToPath(new URL('../..', import.meta.url))
const section = 'Tail latency'

/** The rate of calls in this process. A call and the loop are idle most of each 5 µs. */
const callsPerSecond = 200_000
/** The rate of requests. Neither server is busy. */
const requestsPerSecond = 4000

/** Resolves to the latencies of some seconds. */
type Turn = (seconds: number) => Promise<Latencies>

/**
 * Measures a load between two turns of the yardstick. A round does not count if the p99 of the yardstick is
 * more than twice its best, because something else then used the machine.
 */
async function rounds(yardstick: Turn, own: Turn, { isQuick }: RunOptions): Promise<Omit<Outcome, 'check'>> {
  const seconds = isQuick ? 0.25 : 2
  await yardstick(seconds)
  await own(isQuick ? seconds : 5)
  const { counted, over, disturbed } = await calmRounds(
    isQuick ? { wanted: 1, max: 1 } : { wanted: 5, max: 10 },
    async () => {
      const before = await yardstick(seconds)
      const made = await own(2 * seconds)
      return { own: made, beside: Latencies.of([before, await yardstick(seconds)]) }
    },
    (all) => {
      const best = Math.min(...all.map(({ beside }) => beside.at(quantiles.p99)))
      return all.filter(({ beside }) => beside.at(quantiles.p99) <= 2 * best)
    },
  )
  const [whole, beside] = [
    Latencies.of(counted.map(({ own }) => own)),
    Latencies.of(counted.map(({ beside }) => beside)),
  ]
  const pairs = Object.entries({ ...quantiles, slowest: 1 }).map(
    ([name, share]) => `${name} ${digits(whole.at(share))} beside ${digits(beside.at(share))}`,
  )
  return {
    figure: over(({ own }) => own.at(quantiles.p999)),
    yardstick: over(({ beside }) => beside.at(quantiles.p999)),
    ratio: over(({ own, beside }) => own.at(quantiles.p999) / beside.at(quantiles.p999)),
    ...disturbed,
    note: `${pairs.join(', ')} µs`,
  }
}

interface Calls {
  /** Called before each turn and at the end. No latency has its time in it. */
  begin(): void
  /** Makes an id. */
  call(): unknown
  isAsync: boolean
}

/** Measures calls in this process beside a loop that only reads the clock. */
async function inProcess({ begin, call, isAsync }: Calls, options: RunOptions) {
  const turn = (call: () => unknown) => (seconds: number) => pace({ perSecond: callsPerSecond, seconds }, call, isAsync)
  const done = Promise.resolve()
  const nothing = isAsync ? () => done : () => {}
  const own = turn(call)
  const begun = (seconds: number) => {
    begin()
    return own(seconds)
  }
  const outcome = await rounds(turn(nothing), begun, options)
  begin()
  return outcome
}

/** Measures the calls of a generator of ids, or of numbers. */
function ofGenerator(name: string, title: string, method: 'next' | 'nextAsync', only?: string): Workload {
  return {
    ...{ name, title, section, of: 'graupel', unit: 'µs, p999', yardstick: 'a loop that reads the clock' },
    async run(subject, options) {
      const source = (await subject.load())({ layout: 'twitter', node: 21, namespace: name })
      const make = source?.[method]
      if (source === undefined || make === undefined || (only !== undefined && only !== subject.name)) return undefined
      const kept = new BigUint64Array(callsPerSecond * 6)
      const ledger = new Ledger()
      const outcome = await inProcess(keeping(kept, ledger, make, method === 'nextAsync'), options)
      source.close?.()
      return { ...outcome, check: ledger.report() }
    },
  }
}

/** Keeps the ids of calls, and adds them to the ledger before the next turn. */
function keeping(kept: BigUint64Array, ledger: Ledger, make: () => unknown, isAsync: boolean): Calls {
  let count = 0
  const keep = (id: unknown) => {
    kept[count++] = id as bigint
  }
  return {
    isAsync,
    begin() {
      ledger.add(kept.slice(0, count))
      count = 0
    },
    call: isAsync ? () => (make() as Promise<bigint>).then(keep) : () => keep(make()),
  }
}

/** Measures `nextAsync()` of a client, which asks a service on another processor for more ids meanwhile. */
const client: Workload = {
  ...{ name: 'latency-client', title: 'nextAsync() of graupel/client', section, of: 'service', unit: 'µs, p999' },
  yardstick: 'a loop that reads the clock',
  missing: missingForClient,
  async run({ build = root }, options) {
    const load = (entry: string) => import(pathToFileURL(join(build, 'dist', entry)).href)
    const { connect }: typeof import('graupel/client') = await load('client/index.js')
    const { layouts }: typeof import('graupel') = await load('index.js')
    return withServers(build, async ({ start }) => {
      const { url } = await start('--layouts', 'wide')
      pinLoad()
      const ids = await connect({ url, layout: layouts.wide })
      const ledger = new Ledger()
      try {
        const kept = new BigUint64Array(callsPerSecond * 6)
        const outcome = await inProcess(
          keeping(kept, ledger, () => ids.nextAsync(), true),
          options,
        )
        return { ...outcome, check: ledger.report() }
      } finally {
        ids.close()
      }
    })
  },
}

interface Row {
  name: string
  title: string
  /** Makes the exchange of a server with its URL. */
  exchange(url: string): Exchange
  /** Returns the ids of an answer. @default none, so they are not checked */
  idsOf?(answer: string): readonly bigint[]
}

type Served = Row & ({ by: 'http'; path: string; accept: string; layout: string } | { by: 'resp' })

/** The most ids of answers that are kept. */
const maxKept = 2 ** 20

function served(row: Served): Workload {
  const isHttp = row.by === 'http'
  return {
    ...{ name: row.name, title: row.title, section, of: 'service', unit: 'µs, p999' },
    yardstick: isHttp ? 'an empty node:http' : "redis-server's INCR",
    missing: isHttp ? missingForClient : missingForResp,
    async run({ build = root }: Subject, options) {
      pinLoad()
      const kept: bigint[] = []
      return withServers(build, async ({ start, empty, redis }) => {
        const opened: Connections[] = []
        const loadOf = async (port: number, exchange: Exchange): Promise<Turn> => {
          const all = await openConnections(port, connections)
          opened.push(all)
          return (seconds) => all.load({ perSecond: requestsPerSecond, seconds }, exchange)
        }
        const portOf = ({ url }: Server) => Number(new URL(url).port)
        const checked = (exchange: Exchange): Exchange => ({
          ...exchange,
          onAnswer(text) {
            if (kept.length < maxKept) kept.push(...(row.idsOf?.(text) ?? []))
          },
        })
        try {
          if (isHttp) {
            const own = await start('--layouts', row.layout)
            const beside = await empty(own, row)
            const outcome = await rounds(
              await loadOf(portOf(beside), row.exchange(beside.url)),
              await loadOf(portOf(own), checked(row.exchange(own.url))),
              options,
            )
            return { ...outcome, check: checkOfKept(kept) }
          }
          const [port, otherPort] = [await freePort(), await freePort()]
          await start('--resp', `${port}`)
          await redis(otherPort)
          const outcome = await rounds(
            await loadOf(otherPort, row.exchange('orders')),
            await loadOf(port, checked(row.exchange('id:twitter'))),
            options,
          )
          return { ...outcome, check: checkOfKept(kept) }
        } finally {
          for (const each of opened) each.close()
        }
      })
    },
  }
}

const checkOfKept = (kept: readonly bigint[]): Check => checkOf([BigUint64Array.from(kept)])

const json = 'application/json'

/** Returns the numbers of an answer behind its head. */
const idsOfJson = (answer: string) => (answer.slice(answer.indexOf('\r\n\r\n')).match(/\d+/g) ?? []).map(BigInt)

/** A reply is `:1` or, with the length of its text before it, `$19` and the text. */
const idsOfReplies = (answer: string) => Array.from(answer.matchAll(/(?<=^:?)\d+(?=\r$)/gm), ([id]) => BigInt(id))

const http = (count: number): Served => ({
  ...{ by: 'http', layout: count === 1 ? 'twitter' : 'wide', accept: json },
  name: count === 1 ? 'latency-http' : 'latency-http-batch',
  title: count === 1 ? 'GET /v1/ids' : `GET /v1/ids?count=${count}`,
  path: count === 1 ? '/v1/ids' : `/v1/ids?count=${count}`,
  exchange: (url) => httpExchange(url, count === 1 ? '/v1/ids' : `/v1/ids?count=${count}`, json),
  idsOf: idsOfJson,
})

const resp = (depth: number): Served => ({
  by: 'resp',
  name: depth === 1 ? 'latency-resp' : 'latency-resp-batch',
  title: depth === 1 ? 'INCR id:twitter' : `INCR id:twitter, ${depth} at once`,
  exchange: (key) => respExchange(['INCR', key], depth),
  idsOf: idsOfReplies,
})

export const latencies = [
  ofGenerator('latency-next', 'next()', 'next'),
  ofGenerator('latency-async', 'nextAsync()', 'nextAsync'),
  client,
  ...[http(1), http(100), resp(1), resp(16)].map(served),
]
