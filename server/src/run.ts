import { setTimeout as sleep } from 'node:timers/promises'
import { makeApp } from './app.js'
import { type Ending, ended } from './ending.js'
import { logEvents } from './events.js'
import { Listener } from './http/listener.js'
import { Metrics } from './metrics/metrics.js'
import { observedStore } from './metrics/observed-store.js'
import { checkNumbers } from './options/numbers.js'
import type { Options } from './options/table.js'
import { Service } from './service.js'
import { storeOf } from './store.js'

/** The facts that a process of the service reports once it is ready. */
export interface Started {
  /** Such as `http://127.0.0.1:4728`. */
  readonly url: string
  /** The same for `--admin-port`, if there is one. */
  readonly adminUrl: string | undefined
  /** Such as `redis://127.0.0.1:6379`, if there is `--resp`. */
  readonly respUrl: string | undefined
  /** Its nodes by the names of their layouts. */
  readonly nodes: Readonly<Record<string, number>>
  /** The URL of the store, without credentials. */
  readonly store: string
}

/** Returns the lines that a terminal shows at the start, for one process or all workers. */
export function announcement(all: readonly [Started, ...Started[]]): string {
  const [{ url, adminUrl, respUrl, nodes, store }] = all
  const leased = Object.keys(nodes).map((layout) => {
    const numbers = all.map((one) => one.nodes[layout])
    return `${numbers.length === 1 ? 'node' : 'nodes'} ${numbers.join(', ')} (${layout})`
  })
  const urls = ['/v1/ids?count=3', '/v1/segments/orders', '/openapi.json'].map((path) => `${url}${path}`)
  if (adminUrl !== undefined) urls.push(`${adminUrl}/metrics`)
  if (respUrl !== undefined) urls.push(respUrl)
  return [`graupel-server ${url}, ${leased.join(', ')}, ${store}`, ...urls.map((one) => `  ${one}`), ''].join('\n')
}

/**
 * The layouts of the service, the nodes that it may lease for each, and the source of that choice, for the
 * log.
 */
function planOf({ layouts, node, nodes, statefulSet, nodeSource, strict }: Options) {
  const source = nodeSource ?? (strict ? '--strict' : 'any free node')
  return { layouts: layouts.map(({ name }) => name), node: node ?? nodes ?? statefulSet, nodeSource: source }
}

const newStore =
  'the store has no records, so all numbers and counts begin; if it had some, such as on a volume that is not mounted, stop the service before it gives numbers again'

/** Time for the store to answer when nodes are released. */
const closeMs = 5000

/** Returns the longest time from the signal to the end of the process. */
export function longestEndMs({ drainMs, shutdownTimeoutMs }: Options): number {
  return drainMs + shutdownTimeoutMs + closeMs
}

/**
 * Runs one process of the service until it was told to end and has ended.
 *
 * @param onReady - Called once, when the process has its nodes.
 * @param worker - The number of the worker.
 * @throws StartError; errors of the library
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
    const { app, admin, resp } = await makeApp(options, service, metrics)
    await app.ready()
    app.log.info({ event: 'start', ...planOf(options), store: opened.shown }, 'the service starts')
    const stopLogging = logEvents(app.log, opened.hide)
    // Before the leases: probes are answered while the process waits for a node, and a port in use costs no
    // node.
    const { host, adminPort } = options
    const adminListener = admin && (await Listener.open(admin, { host, port: adminPort as number }, '--admin-port'))
    const listener = await Listener.open(app.server, options)
    const respUrl = await resp?.listen(host, options.resp as number)
    const opening = service.open(() => app.log.warn({ event: 'new store', store: opened.shown }, newStore))
    const signal = await Promise.race([opening, ended(ending)])
    if (signal === undefined) {
      onReady({ url: listener.url, adminUrl: adminListener?.url, respUrl, nodes: service.nodes(), store: opened.shown })
      await ended(ending)
    }
    opening.catch(() => {})
    service.isStopping = true
    app.log.info({ signal: ending.reason }, 'the service is being shut down')
    if (signal === undefined && ending.reason !== 'SIGINT') await sleep(options.drainMs)
    await Promise.all([listener.close(options.shutdownTimeoutMs), resp?.close(options.shutdownTimeoutMs)])
    isClosed = true
    await closeInTime(service).catch((error) => app.log.warn({ err: error }, 'a node was not released'))
    // Probes are answered until the nodes are released.
    await adminListener?.close(0)
    await app.close()
    stopLogging()
  } catch (error) {
    // The message becomes a line on stderr.
    if (error instanceof Error) error.message = opened.hide(error.message)
    throw error
  } finally {
    service.isStopping = true
    if (!isClosed) await closeInTime(service).catch(() => {})
  }
}

async function closeInTime(service: Service): Promise<void> {
  const late = sleep(closeMs, undefined, { ref: false }).then(() => {
    throw new Error(`the store did not answer within ${closeMs / 1000} s`)
  })
  await Promise.race([service.close(), late])
}
