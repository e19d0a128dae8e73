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

// Runs the service in the process of the test, so the test can make its store fail and inspect it.

type App = Awaited<ReturnType<typeof makeApp>>['app']

export interface Started {
  /** Empty if it does not listen. */
  readonly url: string
  /** Empty without `--admin-port`. */
  readonly adminUrl: string
  /** Empty without `--resp`. */
  readonly respUrl: string
  readonly port: number
  readonly app: App
  /** The server of `--admin-port`. */
  readonly admin: Awaited<ReturnType<typeof makeApp>>['admin']
  /** The server of `--resp`. */
  readonly resp: Awaited<ReturnType<typeof makeApp>>['resp']
  readonly service: Service
  readonly metrics: Metrics
  /** The lines of its log. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** The surroundings of a service. */
export interface Surroundings {
  /** Replaces the store in memory. A URL in the options overrides it. */
  readonly store?: Store
  /** Wraps the store. */
  readonly around?: (store: Store) => Store
  /** Whether the service acquires its nodes. */
  readonly isOpen?: boolean
  readonly listens?: boolean
  /** Time between two looks at the files of its options. */
  readonly pollMs?: number
}

const package_ = fileURLToPath(new URL('../../../server/package.json', import.meta.url))
const closings: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closings.splice(0)) await close()
})

/** Starts the service on a port of this process, for the tests of a file. */
export async function startService(given: Given = {}, surroundings: Surroundings = {}): Promise<Started> {
  const { store, around = (inner) => inner, isOpen = true, listens = true, pollMs } = surroundings
  // A file may open a connection long before the test that uses it, if the machine is busy.
  const options = complete({ logLevel: 'debug', requestTimeoutMs: 600_000, ...given })
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
  const { app, admin, resp } = await makeApp(options, service, metrics, makeLogger(options, sink), pollMs)
  closings.push(async () => {
    await resp?.close(0)
    for (const server of [app.server, admin]) {
      server?.close()
      server?.closeAllConnections()
    }
    await app.close()
    // A store that a test broke takes no node back.
    await service.close().catch(() => {})
  })
  if (isOpen) await service.open()
  await app.ready()
  const open = async (server: typeof app.server) => (await Listener.open(server, { host: '127.0.0.1', port: 0 })).url
  const url = listens ? await open(app.server) : ''
  const adminUrl = admin === undefined ? '' : await open(admin)
  const respUrl = (await resp?.listen('127.0.0.1', 0)) ?? ''
  return { url, adminUrl, respUrl, admin, resp, port: Number(url.split(':')[2] ?? 0), app, service, metrics, log }
}

/** Makes the service over a store. It does not listen and has no node yet. */
export function makeService(flags: readonly string[] = [], store: Store = memoryStore()): Promise<Started> {
  return startService(optionsOf(flags), { store, isOpen: false, listens: false })
}

/** Returns the options of these flags and variables. */
export function optionsOf(flags: readonly string[], variables: NodeJS.ProcessEnv = {}): Options {
  const command = readCommand(flags, variables)
  if (command.kind !== 'run') throw new Error(`these flags ask for ${command.kind}`)
  return command.options
}

/** Returns a store in the form in which a URL opens it. */
export function openedMemory(store: Store = memoryStore()): OpenedStore {
  return {
    store,
    shown: 'memory:',
    hide: (message) => message,
    leafAlloc: () => {
      throw new Error('there is no table of Leaf in this test')
    },
    isEmpty: async () => false,
    damage: async () => [],
    close: async () => {},
  }
}

/**
 * Resolves to the value of a series in `/metrics`, such as `graupel_ids_total{kind="id",name="twitter"}`, or
 * to `undefined`.
 */
export async function seriesOf(app: App, series: string): Promise<number | undefined> {
  const { body } = await app.inject('/metrics')
  const line = body.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
