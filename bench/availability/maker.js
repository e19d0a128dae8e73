// One process of `bench/availability.ts`. It acquires a lease when it is told to, makes an id every few
// milliseconds, and notes from when until when it got none. It loads the package as users do.
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { redisStore } from 'graupel/stores/redis'
import { openStore } from 'graupel/stores/url'

const everyMs = 20
/** A tick that comes later than this was delayed by the machine. */
const lateMs = 50
/** The pause of a supervisor before it starts a process again that could not begin. */
const restartMs = 1000

const clientsOf = new URL('../../test/stores/clients/', import.meta.url)

/**
 * A time without ids; `toMs` is missing while it lasts. Delays of the machine, in which no call was refused,
 * do not count.
 *
 * @typedef {{ fromMs: number, toMs?: number, code: string }} Gap
 * @typedef {object} Report
 * @property {Gap[]} gaps
 * @property {number[]} acknowledgedMs - When the process learned of each acknowledgement of the store.
 * @property {number | undefined} ceilingMs
 * @property {number} longestLateMs - The longest time between two calls.
 * @property {number} lost - How many leases have ended.
 * @typedef {object} Plan
 * @property {string} [url] - The store for `openStore`. Without a store, the process shows the delays of the
 * machine.
 * @property {number} [sentinel] - In place of the URL: the port of Redis Sentinel.
 * @property {boolean} [assumeDurable]
 * @property {number} [windowMs]
 */

/** @type {Plan} */
const plan = JSON.parse(process.argv[2] ?? '{}')

/** @type {import('graupel/lease').Lease | undefined} */
let lease
/** @type {{ next(): bigint } | undefined} */
let ids
/** @type {{ store: import('graupel/stores').Store, close(): unknown } | undefined} */
let opened
/** Whether the process has begun, and has not been told to end. */
let isRunning = false
let lost = 0
let calledMs = Date.now()
/** When the last id was made. */
let madeMs = 0
let last = -1n
let renewedMs = 0
/** @type {Gap[]} */
const gaps = []
/** @type {number[]} */
const acknowledgedMs = []
/** @type {{ atMs: number, ms: number }[]} */
const late = []

async function open() {
  const options = plan.assumeDurable === undefined ? {} : { assumeDurable: plan.assumeDurable }
  if (plan.sentinel === undefined) return openStore(/** @type {string} */ (plan.url), { clientsOf, ...options })
  const { Redis } = createRequire(clientsOf)('ioredis')
  const client = new Redis({
    sentinels: [{ host: '127.0.0.1', port: plan.sentinel }],
    name: 'fleet',
    socketTimeout: 3000,
  })
  client.on('error', () => {})
  return { store: redisStore(client, options), close: () => client.disconnect() }
}

/** Acquires a lease; after a failure again, as a process does that its supervisor starts again. */
async function begin() {
  while (isRunning) {
    try {
      opened = await open()
      const window = plan.windowMs === undefined ? {} : { windowMs: plan.windowMs }
      const acquired = await acquireLease({ store: opened.store, ...window })
      acquired.signal.addEventListener('abort', () => {
        if (!isRunning) return
        lost++
        ids = undefined
        void close().then(begin)
      })
      lease = acquired
      ids = createGenerator({ lease })
      return
    } catch {
      await close()
      await sleep(restartMs)
    }
  }
}

async function close() {
  const former = opened
  opened = undefined
  await Promise.resolve(former?.close()).catch(() => {})
}

function call() {
  const nowMs = Date.now()
  if (nowMs - calledMs > lateMs) late.push({ atMs: nowMs, ms: nowMs - calledMs })
  calledMs = nowMs
  if (!isRunning) return
  const gap = gaps.at(-1)
  const isGap = gap !== undefined && gap.toMs === undefined
  try {
    const id = ids?.next()
    if (id === undefined) throw Object.assign(new Error('the lease has ended'), { code: 'ended' })
    if (id <= last) process.send?.({ wrong: `${id} is not above ${last}` })
    last = id
    if (isGap) gap.toMs = nowMs
    if (madeMs === 0) process.send?.({ firstMs: nowMs })
    madeMs = nowMs
  } catch (error) {
    if (madeMs > 0 && !isGap) gaps.push({ fromMs: madeMs, code: /** @type {{ code: string }} */ (error).code })
  }
  const stats = ids === undefined ? undefined : lease?.stats()
  if (stats !== undefined && stats.renewedMs !== renewedMs) {
    renewedMs = stats.renewedMs
    acknowledgedMs.push(nowMs)
  }
}

/**
 * @param {number} sinceMs
 * @returns {Report}
 */
function report(sinceMs) {
  return {
    gaps: gaps.filter(({ toMs = Infinity }) => toMs > sinceMs),
    acknowledgedMs: acknowledgedMs.filter((atMs) => atMs > sinceMs),
    ceilingMs: lease?.stats().ceilingMs,
    longestLateMs: Math.max(0, ...late.filter(({ atMs }) => atMs > sinceMs).map(({ ms }) => ms)),
    lost,
  }
}

async function end() {
  isRunning = false
  await lease?.release().catch(() => {})
  await close()
  lease = ids = undefined
  madeMs = 0
  process.send?.({ ended: true })
}

process.on('message', (/** @type {'go' | 'end' | { sinceMs: number }} */ message) => {
  if (message === 'end') void end()
  else if (message !== 'go') process.send?.({ report: report(message.sinceMs) })
  else {
    isRunning = true
    if (plan.url !== undefined || plan.sentinel !== undefined) void begin()
    else ids = createGenerator({ node: 0, state: 'process' })
  }
})
// Orphans end.
process.on('disconnect', () => process.exit())
setInterval(call, everyMs)
process.send?.({ ready: true })
