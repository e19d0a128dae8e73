import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { leaseRows } from '../../src/lease/options.js'
import { type Event, type EventName, events } from './events.ts'
import { Maker, type Report } from './makers.ts'
import { type Row, rows, type Site } from './sites.ts'

/** The windows that are measured. The default is that of `acquireLease`. */
const windowNames = ['default', 'longest'] as const
export type WindowName = (typeof windowNames)[number]

/** The effects of an event on two processes with one window: one held a lease, one began with the event. */
export interface Figures {
  readonly windowMs: number
  /** Seconds in which the holder got no id. */
  readonly holderS: number
  /** The codes of the calls that were refused. */
  readonly codes: readonly string[]
  /** Seconds from the beginning of the event to the ceiling of the holder. */
  readonly leftS: number
  /** Seconds from the beginning to the first acknowledgement after the end, if there was one. */
  readonly renewedS?: number
  /** How many leases of the holder have ended, so that it had to acquire another. */
  readonly lost: number
  /** Seconds until the first id of the process that began with the event. */
  readonly starterS: number
}

/** One event at one store. */
export interface Run {
  readonly store: string
  readonly event: EventName
  readonly at: string
  /** Seconds from the beginning of the event until the store worked again. */
  readonly awayS: number
  readonly windows: Readonly<Record<WindowName, Figures>>
  /**
   * The longest delay of the machine meanwhile, in seconds: of a process without a store, and of the process
   * that has the proxies.
   */
  readonly noiseS: number
}

export const defaultWindowMs = leaseRows.windowMs.byDefault
/** The longest time that processes have to recover. */
const recoveryMs = 240_000
const lookMs = 200

interface Pair {
  readonly windowMs: number
  readonly holder: Maker
  readonly starter: Maker
}

type Pairs = Readonly<Record<WindowName, Pair>>

async function pairsOf({ plan, variables }: Site, { longestMs }: Row): Promise<Pairs> {
  const pair = async (windowMs: number): Promise<Pair> => {
    const own = { ...plan, windowMs }
    const [holder, starter] = await Promise.all([Maker.start(own, variables), Maker.start(own, variables)])
    return { windowMs, holder, starter }
  }
  const [byDefault, longest] = await Promise.all([pair(defaultWindowMs), pair(longestMs)])
  return { default: byDefault, longest }
}

async function waitUntil(isDone: () => Promise<boolean>, maxMs: number, what: string): Promise<void> {
  const endMs = Date.now() + maxMs
  while (!(await isDone())) {
    if (Date.now() > endMs) throw new Error(`${what} has not happened within ${maxMs / 1000} s`)
    await sleep(lookMs)
  }
}

const isOpen = ({ gaps }: Report) => gaps.some(({ toMs }) => toMs === undefined)
const inSeconds = (ms: number) => Math.round(ms / 10) / 100

/** Lets an event happen, and waits until all processes make ids again. */
async function measureOnce(store: string, event: EventName, site: Site, pairs: Pairs, seconds: number): Promise<Run> {
  const noise = await silence
  const all = windowNames.map((name) => pairs[name])
  // The event comes at any moment between two renewals.
  await sleep(Math.random() * 2000)
  delays.reset()
  const beganMs = Date.now()
  const before = await Promise.all(all.map(({ holder }) => holder.report(beganMs)))
  const happening = (site.events[event] as (seconds: number) => Promise<void>)(seconds)
  const firsts = Promise.all(all.map(async ({ starter }) => (await starter.begin()) - beganMs))
  // Both may fail while the other is awaited.
  firsts.catch(() => {})
  await happening
  const endedMs = Date.now()
  await waitUntil(
    async () => {
      const reports = await Promise.all(all.map(({ holder }) => holder.report(beganMs)))
      const isRenewed = reports[0]?.acknowledgedMs.some((atMs) => atMs > endedMs)
      return isRenewed === true && !reports.some(isOpen)
    },
    recoveryMs,
    `${store}, ${event}: the recovery of the holders`,
  )
  const starters = await Promise.race([
    firsts,
    sleep(recoveryMs, undefined, { ref: false }).then((): never => {
      throw new Error(`${store}, ${event}: no first id within ${recoveryMs / 1000} s after the event`)
    }),
  ])
  // A store that has just come back may still be lost.
  await sleep(1000)
  const reports = await Promise.all(all.map(({ holder }) => holder.report(beganMs)))
  const { longestLateMs } = await noise.report(beganMs)
  await Promise.all(all.map(({ starter }) => starter.end()))
  const figures = all.map(({ windowMs }, i): Figures => {
    const { gaps, acknowledgedMs, lost } = reports[i] as Report
    const renewedMs = acknowledgedMs.find((atMs) => atMs > endedMs)
    return {
      windowMs,
      holderS: inSeconds(gaps.reduce((sum, { fromMs, toMs = Date.now() }) => sum + toMs - fromMs, 0)),
      codes: [...new Set(gaps.map(({ code }) => code))],
      leftS: inSeconds(((before[i] as Report).ceilingMs ?? beganMs) - beganMs),
      ...(renewedMs !== undefined && { renewedS: inSeconds(renewedMs - beganMs) }),
      lost: lost - (before[i] as Report).lost,
      starterS: inSeconds(starters[i] as number),
    }
  })
  return {
    store,
    event,
    at: new Date(beganMs).toISOString(),
    awayS: inSeconds(endedMs - beganMs),
    windows: { default: figures[0] as Figures, longest: figures[1] as Figures },
    noiseS: inSeconds(Math.max(longestLateMs, delays.max / 1e6)),
  }
}

/** A process without a store, which shows the delays of the machine. */
const silence = Maker.start({}).then(async (maker) => {
  await maker.begin()
  return maker
})

/** The delays of this process, which has the proxies. */
const delays = monitorEventLoopDelay({ resolution: 20 })

export interface Choice {
  readonly stores: readonly string[]
  readonly events: readonly EventName[]
  readonly repeats?: number
  /** In place of the seconds of each event that has a length. */
  readonly seconds?: number
  /** Gets each run when it ends. */
  readonly done: (run: Run) => void
  readonly failed: (store: string, error: Error) => void
}

interface Started {
  readonly store: string
  readonly site: Site
  readonly pairs: Pairs
}

/**
 * Measures events, one after the other. An event that has a length happens at all stores at the same time.
 * All servers and processes are started before, because a start takes processor time, and some programs
 * that prepare a server block this process.
 */
export async function measure(choice: Choice): Promise<void> {
  delays.enable()
  const usual = choice.events.filter((event) => event !== 'failover')
  if (usual.length > 0) await measureAll(choice, usual, ({ open }) => open())
  const clustered = choice.stores.filter((store) => rows[store]?.openFailover !== undefined)
  if (!choice.events.includes('failover') || clustered.length === 0) return
  for (let time = 0; time < (choice.repeats ?? events.failover.repeats); time++) {
    const once = { ...choice, stores: clustered, repeats: 1 }
    await measureAll(once, ['failover'], ({ openFailover }) => (openFailover as NonNullable<Row['openFailover']>)())
  }
}

async function measureAll(
  { stores, repeats, seconds, done, failed }: Choice,
  chosen: readonly EventName[],
  open: (row: Row) => Promise<Site>,
): Promise<void> {
  const started: Started[] = []
  const beginnings: Promise<unknown>[] = []
  for (const store of stores) {
    try {
      const row = rows[store] as Row
      const site = await open(row)
      const pairs = await pairsOf(site, row)
      started.push({ store, site, pairs })
      beginnings.push(...windowNames.map((name) => pairs[name].holder.begin()))
    } catch (error) {
      failed(store, error as Error)
    }
  }
  await Promise.all(beginnings)
  const broken = new Set<Started>()
  for (const event of chosen) {
    const about: Event = events[event]
    const length = about.seconds === undefined ? 0 : (seconds ?? about.seconds)
    for (let time = 0; time < (repeats ?? about.repeats); time++) {
      const able = started.filter((one) => one.site.events[event] !== undefined && !broken.has(one))
      const measureAt = async (one: Started) => {
        await measureOnce(one.store, event, one.site, one.pairs, length).then(done, (error) => {
          broken.add(one)
          failed(one.store, error)
        })
      }
      if (length > 0) await Promise.all(able.map(measureAt))
      // Servers that start at the same moment slow each other.
      else for (const one of able) await measureAt(one)
    }
  }
  for (const { site, pairs } of started) {
    for (const { holder, starter } of Object.values(pairs)) {
      holder.stop()
      starter.stop()
    }
    await site.stop()
  }
}
