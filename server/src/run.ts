import { setTimeout as sleep } from 'node:timers/promises'
import type { Started } from './announcement.js'
import { type Ending, ended } from './ending.js'
import { logEvents } from './events.js'
import { makeApp } from './http/app.js'
import { Listener } from './listener.js'
import { Metrics } from './metrics/metrics.js'
import { observedStore } from './metrics/observed-store.js'
import { checkNumbers } from './options/numbers.js'
import type { Options } from './options/table.js'
import { Service } from './service.js'
import { storeOf } from './store.js'

/** For a store that does not answer when nodes are given back. */
const closeMs = 5000

/** The longest that a process takes from the signal to its end. */
export function longestEndMs({ drainMs, shutdownTimeoutMs }: Options): number {
  return drainMs + shutdownTimeoutMs + closeMs
}

/**
 * Runs one process of the service until it is told to end, and has.
 *
 * @param onReady - Called once, when it has its nodes.
 * @param worker - Which of the workers it is.
 * @throws StartError; what the library throws
 */
export async function run(
  options: Options,
  ending: Ending,
  onReady: (started: Started) => void,
  worker = 0,
): Promise<void> {
  await checkNumbers(options)
  const opened = await storeOf(options)
  const metrics = new Metrics()
  const service = new Service(options, opened, observedStore(opened.store, metrics.storeTimes), worker)
  let isClosed = false
  try {
    const app = await makeApp(options, service, metrics)
    await app.ready()
    const stopLogging = logEvents(app.log, opened.hide)
    // First: a probe is answered while the store makes the process wait for a node, and a port that is taken costs no node.
    const listener = await Listener.open(app.server, options, () => service.isStopping)
    const opening = service.open()
    const signal = await Promise.race([opening, ended(ending)])
    if (signal === undefined) {
      onReady({ url: listener.url, nodes: service.nodes(), store: opened.shown })
      await ended(ending)
    }
    opening.catch(() => {})
    service.isStopping = true
    app.log.info({ signal: ending.reason }, 'the service is being shut down')
    if (signal === undefined && ending.reason === 'SIGTERM') await sleep(options.drainMs)
    await listener.close(options.shutdownTimeoutMs)
    isClosed = true
    await closeInTime(service).catch((error) => app.log.warn({ err: error }, 'a node was not given back'))
    await app.close()
    stopLogging()
  } catch (error) {
    // It becomes a line on stderr.
    if (error instanceof Error) error.message = opened.hide(error.message)
    throw error
  } finally {
    service.isStopping = true
    if (!isClosed) await closeInTime(service).catch(() => {})
  }
}

async function closeInTime(service: Service): Promise<void> {
  const late = sleep(closeMs, undefined, { ref: false }).then(() => {
    throw new Error(`the store has not answered within ${closeMs / 1000} s`)
  })
  await Promise.race([service.close(), late])
}
