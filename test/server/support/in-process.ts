import type { Store } from 'graupel/stores'
import { memoryStore } from 'graupel/stores'
import type { OpenedStore } from 'graupel/stores/url'
import { afterEach } from 'vitest'
import { makeApp } from '../../../server/src/http/app.ts'
import { Metrics } from '../../../server/src/metrics/metrics.ts'
import { observedStore } from '../../../server/src/metrics/observed-store.ts'
import { readCommand } from '../../../server/src/options/read.ts'
import type { Options } from '../../../server/src/options/table.ts'
import { Service } from '../../../server/src/service.ts'

type App = Awaited<ReturnType<typeof makeApp>>

const made: { readonly app: App; readonly service: Service }[] = []
afterEach(async () => {
  for (const { app, service } of made.splice(0)) {
    await app.close()
    await service.close().catch(() => {})
  }
})

/** The options of these flags. */
export function optionsOf(flags: readonly string[]): Options {
  const command = readCommand(flags, {})
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

/** The service in this process, over a store in memory or a given one. It does not listen and has no node yet. */
export async function makeService(flags: readonly string[] = [], store: Store = memoryStore()) {
  const options = optionsOf(['--log-level', 'silent', ...flags])
  const metrics = new Metrics()
  const opened = openedMemory(store)
  const service = new Service(options, opened, observedStore(store, metrics.storeTimes))
  const app = await makeApp(options, service, metrics)
  made.push({ app, service })
  return { app, service, metrics }
}

/** The value of a series as `/metrics` tells it: `graupel_ids_total{kind="id",name="twitter"}`; `undefined` where there is none. */
export async function seriesOf(app: App, series: string): Promise<number | undefined> {
  const { body } = await app.inject('/metrics')
  const line = body.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
