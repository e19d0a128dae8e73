import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { digits } from '../bars.ts'
import type { Check, Spread, Workload } from '../contract.ts'
import { countRepeats } from '../measure/ledger.ts'
import { spread } from '../measure/rounds.ts'
import { inTurns } from './in-turns.ts'
import type { Sample, Start, Started } from './lease-member.mjs'

const member = new URL('lease-member.mjs', import.meta.url)

// Loaded late, so that a process that measures something else loads no client.
const loadStores = () => import('../measure/stores.ts')
const loadLease = () => import('graupel/lease')

const next: Workload = {
  name: 'lease-next',
  title: 'next() under a lease',
  section: 'Leases',
  of: 'graupel',
  unit: 'ns/id',
  yardstick: "next() with state 'process'",
  run: (subject, options) => inTurns('lease', subject, options),
}

type Ask = <T>(task: Start | 'sample') => Promise<T[]>

/** Starts processes that load, connect, and then wait for commands. */
async function withFleet<T>(name: string, port: number, size: number, use: (ask: Ask) => Promise<T>): Promise<T> {
  const children = Array.from({ length: size }, () =>
    fork(member, [JSON.stringify({ name, port })], { serialization: 'advanced', execArgv: [] }),
  )
  const ended = new Promise<never>((_, reject) => {
    for (const child of children) child.once('exit', () => reject(new Error('a process of the fleet has ended')))
  })
  ended.catch(() => {})
  const answers = <T>() => Promise.all(children.map(async (child) => (await once(child, 'message'))[0] as T))
  try {
    await Promise.race([answers(), ended])
    return await use(<T>(task: Start | 'sample') => {
      for (const child of children) child.send(task)
      return Promise.race([answers<T>(), ended])
    })
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

/** @throws Error if two leases have the same node */
function checkOf(rounds: readonly (readonly Started[])[]): Check {
  const repeats = rounds.map((started) => {
    const nodes = started.flatMap((one) => one.nodes)
    if (new Set(nodes).size < nodes.length) throw new Error(`${nodes.length} leases have ${new Set(nodes).size} nodes`)
    return countRepeats(BigUint64Array.from(started.flatMap((one) => [...one.ids])))
  })
  const ids = sum(rounds.flat().map((one) => one.ids.length))
  return { ids, repeats: sum(repeats), outOfOrder: 0, future: 0 }
}

function sum(values: readonly number[]) {
  return values.reduce((total, value) => total + value, 0)
}

const fleet = 64

/**
 * Lets processes that are loaded and connected acquire a lease at one moment. The figure is the time until
 * the last process has a lease. The start of the processes is not counted.
 */
function start(name: string, title: string, isRestart: boolean): Workload {
  return {
    name,
    title,
    section: 'Leases',
    of: 'store',
    unit: 'ms to the last',
    yardstick: 'compare-and-swap each',
    async run(subject, { isQuick }) {
      const { withStore } = await loadStores()
      const { acquireLease } = await loadLease()
      return withStore(subject.name, async (store, port) => {
        const namespaces = Array.from({ length: isQuick ? 2 : 5 }, (_, i) => `round ${i}`)
        // On a store that may forget, the first lease of a group waits for eleven seconds. These leases keep
        // their nodes.
        await Promise.all(namespaces.map((namespace) => acquireLease({ store, namespace })))
        const rounds: Started[][] = []
        await withFleet(subject.name, port, fleet, async (ask) => {
          for (const namespace of namespaces) {
            const begin = () => ask<Started>({ namespace, leases: 1, startMs: Date.now() + 1000 })
            if (isRestart) await begin()
            rounds.push(await begin())
          }
        })
        const last = rounds.map((started) => Math.max(...started.map(({ ms }) => ms)))
        const writes = rounds.flatMap((started) => started.map((one) => one.writes))
        const half = spread(rounds.flat().map(({ ms }) => ms)).median
        const cpuMs = spread(rounds.flat().map((one) => one.cpuMs)).median
        return {
          figure: spread(last),
          ratio: spread(rounds.map((started) => sum(started.map((one) => one.writes)) / fleet)),
          check: checkOf(rounds),
          note: `half have it after ${half.toFixed(0)} ms; the last ${last[0]} ms the first time; ${digits(cpuMs)} ms of processor time each; at most ${Math.max(...writes)} compare-and-swaps`,
        }
      })
    },
  }
}

const holders = 4
const windowMs = 6000

/**
 * Holds a thousand leases in four processes with a client each. Counts the processor time of the four
 * processes.
 */
const thousand: Workload = {
  name: 'lease-thousand',
  title: '1 000 leases on one store',
  section: 'Leases',
  of: 'store',
  unit: 'writes/s',
  yardstick: 'one core',
  async run(subject, { isQuick }) {
    const { withStore } = await loadStores()
    const { acquireLease } = await loadLease()
    return withStore(subject.name, async (store, port) => {
      const namespace = 'thousand'
      await (await acquireLease({ store, namespace })).release()
      return withFleet(subject.name, port, holders, async (ask) => {
        const started = await ask<Started>({ namespace, leases: 1000 / holders, startMs: Date.now() })
        const samples: (Sample & { ms: number })[] = []
        for (let window = 0; window <= (isQuick ? 1 : 5); window++) {
          await sleep(windowMs)
          const all = await ask<Sample>('sample')
          const of = (what: keyof Sample) => sum(all.map((one) => one[what]))
          const counts = { failures: of('failures'), acquisitions: of('acquisitions') }
          samples.push({ writes: of('writes'), cpuMs: of('cpuMs'), ...counts, ms: performance.now() })
        }
        const perMs = (what: 'writes' | 'cpuMs') =>
          samples.slice(1).map((now, i) => {
            const before = samples[i] as (typeof samples)[number]
            return (now[what] - before[what]) / (now.ms - before.ms)
          })
        const { failures, acquisitions } = samples.at(-1) as Sample
        return {
          figure: spread(perMs('writes').map((rate) => rate * 1000)),
          ratio: spread(perMs('cpuMs')),
          check: checkOf([started]),
          note: `${failures} renewals failed, ${acquisitions - 1000} leases lapsed`,
        }
      })
    })
  },
}

/** The number of records that an acquisition lists, and a text as long as a record. */
const shard = 1024
const aRecord = 'x'.repeat(300)

/** Times the calls of one process that is alone. */
const calls: Workload = {
  name: 'lease-calls',
  title: 'acquire, renew, release, list',
  section: 'Leases',
  of: 'store',
  unit: 'ms to acquire',
  async run(subject, { isQuick }) {
    const { withStore, counted } = await loadStores()
    const { acquireLease } = await loadLease()
    return withStore(subject.name, async (inner) => {
      const { store, counts } = counted(inner)
      const options = { store, namespace: 'calls', windowMs: 150 }
      await (await acquireLease(options)).release()
      const size = isQuick ? 20 : 200
      const taken = { acquire: series(), renew: series(), release: series(), list: series() }
      const timed = async <T>(kind: keyof typeof taken, call: () => Promise<T>) => {
        const [startMs, before] = [performance.now(), counts.calls]
        const result = await call()
        taken[kind].ms.push(performance.now() - startMs)
        taken[kind].calls.push(counts.calls - before)
        return result
      }
      for (let i = 0; i < size; i++) {
        const lease = await timed('acquire', () => acquireLease(options))
        await timed('release', () => lease.release())
      }
      const lease = await acquireLease(options)
      for (let [seen, before] = [0, counts.calls]; seen < size; ) {
        await sleep(10)
        const { renewals, roundTripMs } = lease.stats()
        if (renewals === seen) continue
        taken.renew.ms.push(roundTripMs)
        taken.renew.calls.push((counts.calls - before) / (renewals - seen))
        seen = renewals
        before = counts.calls
      }
      await lease.release()
      for (let i = 0; i < shard; i++) await store.write(`list/${i}`, aRecord, undefined)
      for (let i = 0; i < size; i++) await timed('list', () => store.list('list/'))
      const said = Object.entries(taken).map(([kind, { ms, calls }]) => {
        const { low, median, high } = spread(ms) satisfies Spread
        const trips = spread(calls).median
        return `${kind}: ${trips} ${trips === 1 ? 'call' : 'calls'}, ${digits(median)} ms (${digits(low)} – ${digits(high)})`
      })
      return { figure: spread(taken.acquire.ms), note: said.join('; ') }
    })
  },
}

function series() {
  return { ms: [] as number[], calls: [] as number[] }
}

export const leases = [
  next,
  start('lease-start', '64 processes acquire at once', false),
  start('lease-restart', '64 processes acquire at once where 64 have released', true),
  thousand,
  calls,
]
