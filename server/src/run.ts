import { makeApp } from './http/app.js'
import type { Options } from './options/table.js'
import { Service } from './service.js'
import { storeOf } from './store.js'

/** Runs one process of the service until a signal ends it. @throws StartError; what the library throws */
export async function run(options: Options): Promise<void> {
  const opened = await storeOf(options)
  const service = new Service(options, opened)
  const app = await makeApp(options, service)
  const address = await app.listen({ host: options.host, port: options.port })
  await service.open()
  process.stdout.write(`graupel-server listens on ${address}\n`)
}
