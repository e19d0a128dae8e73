import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { BaseClient } from 'graupel/client'
import type { Workload } from '../contract.ts'
import { clockReadings, compare } from '../measure/compare.ts'
import { Ledger } from '../measure/ledger.ts'
import { missingForClient, pinLoad, withServers } from '../measure/load.ts'
import { spread } from '../measure/rounds.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Opens a client on another processor than its service: of ids with default options and layout `wide`, or of
 * the largest batches of a segment.
 */
async function withClient<T>(build: string, use: (client: BaseClient) => Promise<T>, segment?: string): Promise<T> {
  const load = (entry: string) => import(pathToFileURL(join(build, 'dist', entry)).href)
  const { connect }: typeof import('graupel/client') = await load('client/index.js')
  const { layouts }: typeof import('graupel') = await load('index.js')
  return withServers(build, async ({ start }) => {
    const maxCount = segment === undefined ? 2 ** 20 : 2 ** 24
    const { url } = await start('--layouts', 'wide', '--max-count', `${maxCount}`)
    pinLoad()
    const client = await (segment === undefined
      ? connect({ url, layout: layouts.wide })
      : connect({ url, segment, maxCount }))
    try {
      return await use(client)
    } finally {
      client.close()
    }
  })
}

/** Takes ids as fast as they come. Ids that were fetched before a round are taken first, and do not count. */
const drain: Workload = {
  ...{ name: 'service-client', title: 'graupel/client, fillAsync()', section: 'The id service', of: 'service' },
  unit: 'M ids/s',
  isHigherBetter: true,
  missing: missingForClient,
  async run({ build = root }, { isQuick }) {
    return withClient(build, async (client) => {
      const ledger = new Ledger()
      const kept = new BigUint64Array(isQuick ? 2 ** 21 : 2 ** 24)
      const part = 2 ** 14
      const rates: number[] = []
      for (let round = 0; round <= (isQuick ? 2 : 7); round++) {
        ledger.add(await client.fillAsync(new BigUint64Array(client.stats().left)))
        const startMs = performance.now()
        for (let at = 0; at < kept.length; at += part) await client.fillAsync(kept.subarray(at, at + part))
        rates.push(kept.length / (performance.now() - startMs) / 1000)
        ledger.add(kept)
      }
      const { requests, count } = client.stats()
      // In the first round the client finds out how many ids it needs.
      const [first = 0, ...rest] = rates
      const note = `${first.toFixed(1)} M/s in the first round; ${requests} requests, ${count} ids in the last`
      return { figure: spread(rest), check: ledger.report(), note }
    })
  },
}

/** Takes numbers of a segment as fast as they come, into memory that stays in the cache. */
const numbers: Workload = {
  ...{ name: 'service-client-runs', title: 'graupel/client, fillAsync() of a segment', section: 'The id service' },
  ...{ of: 'service', unit: 'M numbers/s' },
  isHigherBetter: true,
  missing: missingForClient,
  async run({ build = root }, { isQuick }) {
    const use = async (client: BaseClient) => {
      const kept = new BigUint64Array(2 ** 14)
      const rates: number[] = []
      const check = { ids: 0, repeats: 0, outOfOrder: 0, future: 0 }
      let before = 0n
      for (let round = 0; round <= (isQuick ? 2 : 7); round++) {
        const count = 2 ** 29
        const startMs = performance.now()
        for (let taken = 0; taken < count; taken += kept.length) {
          await client.fillAsync(kept)
          // One client gets all numbers of the segment, so they are consecutive.
          if (kept[0] !== before + 1n || kept.at(-1) !== before + BigInt(kept.length)) check.repeats++
          before = kept.at(-1) as bigint
        }
        rates.push(count / (performance.now() - startMs) / 1000)
        check.ids += count
      }
      const { requests, count } = client.stats()
      return { figure: spread(rates.slice(1)), check, note: `${requests} requests, ${count} numbers in the last` }
    }
    return withClient(build, use, 'orders')
  },
}

/** Fewer than a request fetches, so that all ids of a batch are already there. */
const size = 16_384

const next: Workload = {
  ...{ name: 'service-client-next', title: 'graupel/client, next()', section: 'The id service', of: 'service' },
  unit: 'ns/id',
  yardstick: 'Date.now()',
  missing: missingForClient,
  async run({ build = root }, { isQuick }) {
    return withClient(build, async (client) => {
      const ledger = new Ledger()
      const kept = new BigUint64Array(size)
      /**
       * Takes ids until enough are left for two batches. tinybench runs one batch more, to find out what it
       * returns.
       */
      const refill = async () => {
        for (let left = client.stats().left; left < 2 * size; left = client.stats().left) {
          ledger.add(await client.fillAsync(new BigUint64Array(left + 1)))
        }
      }
      const run = () => {
        for (let i = 0; i < size; i++) kept[i] = client.next()
      }
      const check = () => {
        ledger.add(kept)
        return refill()
      }
      await refill()
      // In bursts, because fetching ids takes a hundred times as long as using them.
      const outcome = await compare({ size, run, check }, clockReadings(size), isQuick ? 'look' : 'claim', 0)
      return { ...outcome, check: ledger.report() }
    })
  },
}

export const serviceClients = [drain, next, numbers]
