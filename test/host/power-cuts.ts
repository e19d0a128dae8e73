import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith, withMounts } from '../support/needs.ts'
import { pagesOf } from '../support/pages.ts'
import { cleanUp, opened, type Plan, type Surroundings, start, stateFolder, wellEnded } from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { readIds } from '../support/records.ts'

// Loss of power: the memory is lost, and the disk has the data of the last complete sync, and perhaps some
// later writes. programs/shim.c records every state of the file; processes log the ids that they issue. A cut
// is an instant of that record: the file is restored to a state that it may have had then, and the next
// process must begin above all issued ids. Its clock is an hour behind, so only the file keeps it above them.

const hourMs = 3_600_000
const runMs = 1200
const reserveMs = 20
const timeout = 600_000

/**
 * @param lost - The number of cuts without a page, in each of two recorded runs. @param old - The number of
 * cuts with an old page.
 */
export function proveCuts(lost: number, old: number): void {
  afterEach(cleanUp)

  describeWith(['native', 'linux', 'shim'], 'after a loss of power', () => {
    it(`at ${2 * lost} random instants, nothing is issued again by processes that find only the file`, {
      timeout,
    }, async () => {
      const lane = async (purpose: string) => {
        const run = await record(purpose)
        return await begin(run, lost, () => {
          rmSync(run.page, { force: true })
          return {}
        })
      }
      expectNothingAgain((await Promise.all([lane('lost memory, one'), lane('lost memory, two')])).flat())
    })
  })

  describeWith(['native', 'linux', 'shim', 'mounts'], 'after a start of the system', () => {
    it(`at ${2 * old} random instants, nothing is issued again by processes that find the file and an old page`, {
      timeout,
    }, async () => {
      // The page belongs to the file; only the name of the system's start shows that the page is
      // older than the file.
      const lane = async (purpose: string) => {
        const run = await record(purpose)
        return await begin(run, old, (index) => {
          copyFileSync(run.oldPage, run.page)
          const bootId = join(run.folder, `boot-${index}`)
          writeFileSync(bootId, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}\n`)
          return { within: (command) => withMounts(`mount --bind ${bootId} /proc/sys/kernel/random/boot_id`, command) }
        })
      }
      expectNothingAgain((await Promise.all([lane('another start, one'), lane('another start, two')])).flat())
    })
  })
}

interface Event {
  readonly atNs: bigint
  readonly isSync: boolean
  /** The file's content at that time. */
  readonly copy: string
}

/** The events of a run of processes, and the states of the file. */
interface Run {
  readonly folder: string
  readonly state: string
  /** The path of the page, and its bytes before the run. */
  readonly page: string
  readonly oldPage: string
  readonly plan: Plan
  readonly events: readonly Event[]
  /** The highest id of each process at each time. */
  readonly logs: readonly { ids: BigUint64Array; timesNs: BigUint64Array }[]
  readonly random: () => number
  timeMsOf(ns: bigint): number
}

/**
 * Runs one process that opens and closes its generator again and again, then three such processes at once.
 */
async function record(purpose: string): Promise<Run> {
  const { folder, state, watch, env, order } = stateFolder()
  const namespace = freshNamespace()
  const plan: Plan = {
    node: 1,
    namespace,
    state,
    reserveMs: 20,
    maxAheadMs: hourMs,
    maxWaitMs: 10_000,
    openTimeoutMs: 10_000,
    clockOffsetMs: 0,
  }
  mkdirSync(join(watch, 'copies'))
  // Slow syncs leave time for a fault before a sync is complete.
  order('slow 8')
  const before = await opened(plan, { env })
  await before.take(1)
  await before.kill()
  const [page = ''] = pagesOf(namespace)
  const oldPage = join(folder, 'page')
  copyFileSync(page, oldPage)
  const go = (name: string, reopenMs: number) =>
    wellEnded(start('stamp.js', { plan, file: join(folder, `log-${name}`), forMs: runMs, reopenMs }, { env }))
  await go('alone', 60)
  await Promise.all([go('one', runMs), go('two', runMs / 3), go('three', runMs / 7)])

  const lines = readFileSync(join(watch, 'events'), 'utf8').trimEnd().split('\n')
  // A process that was killed in the middle of its last event has left no copy of the event, and has issued
  // no id after it.
  const events = lines
    .map((line, i) => {
      return { atNs: BigInt(line.slice(0, 20)), isSync: line.endsWith('s'), copy: join(watch, 'copies', String(i)) }
    })
    .filter(({ copy }) => existsSync(copy))
  const names = readdirSync(folder).filter((name) => name.startsWith('log-'))
  const logs = names.map((name) => {
    const numbers = new BigUint64Array(Uint8Array.from(readFileSync(join(folder, name))).buffer)
    return { ids: numbers.filter((_, i) => i % 2 === 0), timesNs: numbers.filter((_, i) => i % 2 === 1) }
  })
  const offsetMs = wallAheadOfMonotonicMs()
  const timeMsOf = (ns: bigint) => Number(ns) / 1e6 + offsetMs
  return { folder, state, page, oldPage, plan, events, logs, random: seededRandom(purpose), timeMsOf }
}

/** Reads both clocks again if a busy machine has run another program between the readings. */
function wallAheadOfMonotonicMs(): number {
  for (;;) {
    const beforeNs = process.hrtime.bigint()
    const wallMs = Date.now()
    if (process.hrtime.bigint() - beforeNs < 1_000_000n) return wallMs - Number(beforeNs) / 1e6
  }
}

/** Returns for each cut the first id of a new process, and the highest id that had been issued. */
async function begin(run: Run, count: number, startSystem: (index: number) => Surroundings) {
  const { events, logs, random } = run
  // On a busy machine, the file is written long before the first id is issued.
  const startNs = logs.flatMap(({ timesNs }) => timesNs[0] ?? []).reduce((one, other) => (one < other ? one : other))
  const endNs = events.at(-1)?.atNs ?? 0n
  const syncs = events.filter(({ isSync }) => isSync).length
  // With few syncs, the cuts would all be alike.
  expect(syncs).toBeGreaterThan(50)
  const plan = { ...run.plan, clockOffsetMs: -hourMs, maxAheadMs: 2 * hourMs }
  const cuts = []
  while (cuts.length < count) {
    const atNs = startNs + BigInt(Math.floor(random() * Number(endNs - startNs)))
    const synced = events.findLastIndex((event) => event.isSync && event.atNs <= atNs)
    if (synced < 0) continue
    const possible = events.filter((event, i) => i === synced || (i > synced && event.atNs <= atNs))
    const chosen = possible[Math.floor(random() * possible.length)] as Event
    copyFileSync(chosen.copy, run.state)
    const file = join(run.folder, `first-${cuts.length}`)
    await wellEnded(start('record.js', { plan, file, exact: true, count: 1, batch: 1 }, startSystem(cuts.length)))
    cuts.push({ first: readIds(file)[0] ?? 0n, highest: highestAt(run, atNs), atMs: run.timeMsOf(atNs) })
  }
  return cuts
}

function expectNothingAgain(cuts: Awaited<ReturnType<typeof begin>>): void {
  expect(cuts.filter(({ first, highest }) => first <= highest)).toEqual([])
  // The first id comes from the file, not from a word that was kept elsewhere, or from the clock.
  const lateMs = cuts.map(({ first, atMs }) => decode(first, layouts.twitter).timestampMs - atMs)
  expect(Math.max(...lateMs)).toBeLessThan(reserveMs + 100)
  expect(cuts.filter(({ highest }) => highest === 0n)).toEqual([])
}

function highestAt({ logs }: Run, atNs: bigint): bigint {
  const highest = logs.map(({ ids, timesNs }) => {
    const last = timesNs.findLastIndex((time) => time <= atNs)
    return ids[last] ?? 0n
  })
  return highest.reduce((one, other) => (one > other ? one : other), 0n)
}
