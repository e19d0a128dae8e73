import { fileURLToPath } from 'node:url'
import { count, digits } from '../bars.ts'
import type { Check, Outcome, Subject, Workload } from '../contract.ts'
import { countRepeats } from '../measure/ledger.ts'
import { missingForLoad, missingForTls, connections as most, withServers, wrk } from '../measure/load.ts'
import { spread } from '../measure/rounds.ts'
import { turns } from '../measure/turns.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const section = 'The id service'
const bytes = 'application/octet-stream'

/** The number of bytes of answers that are kept: a million ids. */
const keepBytes = 8_000_000

type Part = Awaited<ReturnType<typeof wrk>>

/** Reads the ids of kept answers. @throws Error if an answer has too many or too few ids */
function idsOf({ answers = Buffer.alloc(0), kept }: Part, idsEach: number, accept: string): BigUint64Array {
  const ids =
    accept === bytes
      ? BigUint64Array.from({ length: answers.length / 8 }, (_, i) => answers.readBigUInt64LE(i * 8))
      : BigUint64Array.from(answers.toString('latin1').match(/\d+/g) ?? [], BigInt)
  if (kept === 0 || ids.length !== kept * idsEach)
    throw new Error(`${kept} answers have ${ids.length} ids, in place of ${idsEach} each`)
  return ids
}

/** Counts only repeats, because the answers of 64 connections have no order. */
export function checkOf(all: readonly BigUint64Array[]): Check {
  const ids = new BigUint64Array(all.reduce((total, { length }) => total + length, 0))
  let at = 0
  for (const some of all) {
    ids.set(some, at)
    at += some.length
  }
  return { ids: ids.length, repeats: countRepeats(ids), outOfOrder: 0, future: 0 }
}

interface Answers {
  name: string
  title: string
  idsEach: number
  path?: string
  accept?: string
  /** @default 64 */
  connections?: number
  isTls?: boolean
  /** No bar needs the workload, so it has three rounds. */
  isContext?: boolean
}

/**
 * Sends as many requests as the service answers. Requests for many ids use `wide`, because twitter ends at
 * 4.1 M ids/s.
 */
function answers({
  name,
  title,
  idsEach,
  path = `/v1/ids?count=${idsEach}`,
  accept = 'application/json',
  connections = most,
  isTls = false,
  isContext = false,
}: Answers): Workload {
  const unit = idsEach === 1 ? 'requests/s' : 'M ids/s'
  const scale = idsEach === 1 ? 1 : idsEach / 1e6
  return service(name, title, unit, isTls ? 'an empty node:https' : 'an empty node:http', {
    isHigherBetter: true,
    ...(isTls && { missing: missingForTls }),
    async run({ build = root }, options) {
      return withServers(build, async ({ start, empty, pair }) => {
        const files = isTls ? pair() : undefined
        const own = await start(
          ...(idsEach === 1 ? [] : ['--layouts', 'wide']),
          ...(files === undefined ? [] : ['--tls-cert', files.cert, '--tls-key', files.key]),
        )
        const beside = await empty(own, { path, accept }, files)
        const load = { path, accept, connections, keepBytes }
        const { counted, over, disturbed } = await turns(
          (seconds) => wrk(beside, { ...load, seconds }),
          (seconds) => wrk(own, { ...load, seconds }),
          options,
          isContext ? { wanted: 3, max: 3 } : {},
        )
        const both = (own: (part: Part) => number) =>
          `${digits(over((round) => own(round.own)).median)} beside ${digits(over(({ before }) => own(before)).median)}`
        const rates = both(({ rate }) => rate)
        const cpu = both(({ cpuUs }) => cpuUs)
        const p99 = both(({ p99Us }) => p99Us / 1000)
        return {
          figure: over(({ own }) => own.rate * scale),
          yardstick: over(({ yardstickRate }) => yardstickRate * scale),
          ratio: over(({ own, yardstickRate }) => own.rate / yardstickRate),
          check: checkOf(counted.map(({ own }) => idsOf(own, idsEach, accept))),
          ...disturbed,
          note: `${rates} requests/s, ${cpu} µs of processor time each; ${connections} connections that do not wait have a p99 of ${p99} ms`,
        }
      })
    },
  })
}

/** The number of requests that a connection sends at once, so that ten million take minutes. */
const depth = 16

/** Measures whether memory grows with requests after the first tenth of them. */
const memory = service('service-memory', 'memory over 10 000 000 requests', 'bytes each', undefined, {
  async run({ build = root }, { isQuick }): Promise<Outcome> {
    const wanted = isQuick ? 20_000 : 10_000_000
    return withServers(build, async ({ reporting }) => {
      const own = await reporting()
      const samples: { requests: number; heap: number; resident: number }[] = []
      for (let requests = 0; requests < wanted; ) {
        const seconds = isQuick ? 1 : 5
        requests += (await wrk(own, { path: '/v1/ids', depth, seconds })).requests
        samples.push({ requests, ...(await own.memory()) })
      }
      const first = samples.find(({ requests }) => requests >= wanted / 10) as (typeof samples)[number]
      const last = samples.at(-1) as typeof first
      const growth = (what: 'heap' | 'resident') =>
        (last[what] - first[what]) / Math.max(1, last.requests - first.requests)
      const said = ({ requests, heap, resident }: typeof first) =>
        `${digits(resident / 2 ** 20)} MiB resident and ${digits(heap / 2 ** 20)} MiB of heap after ${count(requests)} requests`
      return { figure: spread([Math.max(growth('heap'), growth('resident'))]), note: `${said(first)}, ${said(last)}` }
    })
  },
})

function service(
  name: string,
  title: string,
  unit: string,
  yardstick: string | undefined,
  more: Pick<Workload, 'run' | 'isHigherBetter' | 'missing'>,
): Workload {
  const subject = 'service' satisfies Subject['group']
  return { name, title, section, of: subject, unit, ...(yardstick && { yardstick }), missing: missingForLoad, ...more }
}

export const services = [
  answers({ name: 'service-one', title: 'one id a request', idsEach: 1, path: '/v1/ids' }),
  answers({ name: 'service-one-tls', title: 'one id a request, TLS', idsEach: 1, path: '/v1/ids', isTls: true }),
  ...[16, 1].map((connections) =>
    answers({
      name: `service-one-${connections}`,
      title: `one id a request, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
      ...{ idsEach: 1, path: '/v1/ids', connections, isContext: true },
    }),
  ),
  answers({ name: 'service-count', title: 'one id a request, ?count=1', idsEach: 1, isContext: true }),
  answers({
    name: 'service-hundred',
    title: '100 ids a request, JSON',
    idsEach: 100,
    isContext: true,
  }),
  answers({
    name: 'service-thousand',
    title: '1 000 ids a request, JSON',
    idsEach: 1000,
    isContext: true,
  }),
  answers({
    name: 'service-bytes',
    title: '1 000 ids a request, bytes',
    idsEach: 1000,
    accept: bytes,
  }),
  memory,
]
