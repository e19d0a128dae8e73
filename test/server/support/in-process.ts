import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Store } from 'graupel/stores'
import { memoryStore } from 'graupel/stores'
import { type OpenedStore, openStore } from 'graupel/stores/url'
import { afterAll } from 'vitest'
import { makeApp } from '../../../server/src/app.ts'
import { Listener } from '../../../server/src/http/listener.ts'
import { makeLogger } from '../../../server/src/http/log.ts'
import { Metrics } from '../../../server/src/metrics/metrics.ts'
import { observedStore } from '../../../server/src/metrics/observed-store.ts'
import { complete } from '../../../server/src/options/complete.ts'
import { readCommand } from '../../../server/src/options/read.ts'
import type { Given, Options } from '../../../server/src/options/table.ts'
import { Service } from '../../../server/src/service.ts'

// The service within the process of the test, so that its store can be made to fail, and its insides be looked at.

type App = Awaited<ReturnType<typeof makeApp>>

export interface Started {
  /** Empty where it does not listen. */
  readonly url: string
  readonly port: number
  readonly app: App
  readonly service: Service
  readonly metrics: Metrics
  /** The lines of its log. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** What is about a service beside its options. */
export interface Surroundings {
  /** In place of one in memory; a URL in the options comes first. */
  readonly store?: Store
  /** Puts something around the store. */
  readonly around?: (store: Store) => Store
  /** Whether it has its nodes. */
  readonly isOpen?: boolean
  readonly listens?: boolean
  /** How often it looks at the files of its options. */
  readonly pollMs?: number
}

const package_ = fileURLToPath(new URL('../../../server/package.json', import.meta.url))
const closings: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closings.splice(0)) await close()
})

/** Starts it on a port of this process, for the tests of a file. */
export async function startService(given: Given = {}, surroundings: Surroundings = {}): Promise<Started> {
  const { store, around = (inner) => inner, isOpen = true, listens = true, pollMs } = surroundings
  const options = complete({ logLevel: 'debug', ...given })
  const log: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      log.push(JSON.parse(`${chunk}`))
      done()
    },
  })
  const opened =
    options.store === undefined ? openedMemory(store) : await openStore(options.store, { clientsOf: package_ })
  const metrics = new Metrics()
  const service = new Service(options, opened, observedStore(around(opened.store), metrics.storeTimes))
  const app = await makeApp(options, service, metrics, makeLogger(options, sink), pollMs)
  closings.push(async () => {
    app.server.close()
    app.server.closeAllConnections()
    await app.close()
    // A store that a test has spoilt takes no node back.
    await service.close().catch(() => {})
  })
  if (isOpen) await service.open()
  await app.ready()
  const url = listens ? (await Listener.open(app.server, { host: '127.0.0.1', port: 0 }, () => false)).url : ''
  return { url, port: Number(url.split(':')[2] ?? 0), app, service, metrics, log }
}

/** The service over a store in memory or a given one. It does not listen and has no node yet. */
export function makeService(flags: readonly string[] = [], store: Store = memoryStore()): Promise<Started> {
  return startService(optionsOf(flags), { store, isOpen: false, listens: false })
}

/** The options of these flags and variables. */
export function optionsOf(flags: readonly string[], variables: NodeJS.ProcessEnv = {}): Options {
  const command = readCommand(flags, variables)
  if (command.kind !== 'run') throw new Error(`these flags ask for ${command.kind}`)
  return command.options
}

/** A store in memory, or another without a URL, as it is opened by one. */
export function openedMemory(store: Store = memoryStore()): OpenedStore {
  return {
    store,
    shown: 'memory:',
    hide: (message) => message,
    leafAlloc: () => {
      throw new Error('there is no table of Leaf in this test')
    },
    close: async () => {},
  }
}

/** The value of a series as `/metrics` tells it: `graupel_ids_total{kind="id",name="twitter"}`; `undefined` where there is none. */
export async function seriesOf(app: App, series: string): Promise<number | undefined> {
  const { body } = await app.inject('/metrics')
  const line = body.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
