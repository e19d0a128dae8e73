import { makeApp } from './http/app.js'
import { Metrics } from './metrics/metrics.js'
import { observedStore } from './metrics/observed-store.js'
import type { Options } from './options/table.js'
import { Service } from './service.js'
import { storeOf } from './store.js'

/** Runs one process of the service until a signal ends it. @throws StartError; what the library throws */
export async function run(options: Options): Promise<void> {
  const opened = await storeOf(options)
  const metrics = new Metrics()
  const service = new Service(options, opened, observedStore(opened.store, metrics.storeTimes))
  const app = await makeApp(options, service, metrics)
  const address = await app.listen({ host: options.host, port: options.port })
  await service.open()
  process.stdout.write(`graupel-server listens on ${address}\n`)
}
