import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { idFilesIn, Slot } from './crew.ts'
import { type Happening, type Proof, prove } from './proof.ts'
import { weathers } from './proxy.ts'
import type { OpenSite, Site } from './sites.ts'
import type { Work } from './work.ts'

/**
 * Milliseconds after the last fault until every process works again: a server may have to live for 10 s, and
 * windows of leases end.
 */
const recoveryMs = 60_000

export interface Run extends Proof {
  /** The number of times that each fault was made. */
  readonly faults: Record<string, number>
  readonly seconds: number
}

export interface Extent {
  readonly processes: number
  /**
   * Faults go on for this time, until there are this many ids, and until enough faults of the server have
   * come.
   */
  readonly ms: number
  readonly ids: number
  /** The longest pause of a caller between two calls. */
  readonly pauseMs: number
  /** The kinds of faults of the server that are enough, drawn at random; all by default. */
  readonly serverFaults?: number
}

/**
 * Runs several processes on one store, with faults by a seeded schedule; then proves what the processes have
 * written.
 */
export async function runChaos(open: OpenSite, work: Work, extent: Extent, random: () => number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-chaos-'))
  const site = await open(extent.processes, folder, random)
  const chaos = new Chaos(site, work, folder, extent, random)
  try {
    await chaos.rage(extent)
    const findings = await chaos.settle()
    await chaos.end()
    const proof = await prove(folder, work.subject, chaos.happenings, chaos.clockOffsetMs)
    return {
      ...proof,
      findings: [...chaos.deaths(), ...findings, ...proof.findings],
      faults: chaos.faults(),
      seconds: Math.round(chaos.elapsedMs() / 1000),
    }
  } finally {
    await chaos.kill()
    await site.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Chaos {
  readonly happenings: Happening[] = []
  readonly clockOffsetMs = Date.now() - monotonicMs()
  readonly #site: Site
  readonly #work: Work
  readonly #folder: string
  readonly #random: () => number
  readonly #slots: Slot[]
  readonly #startMs = monotonicMs()
  /** The slots whose process has a fault at the moment. */
  readonly #busy = new Set<Slot>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #kinds: Record<string, (slot: Slot) => Promise<void>>

  constructor(site: Site, work: Work, folder: string, { processes, pauseMs }: Extent, random: () => number) {
    this.#site = site
    this.#work = work
    this.#folder = folder
    this.#random = random
    this.#slots = Array.from(
      { length: processes },
      (_, number) => new Slot(number, site, work, folder, random, pauseMs),
    )
    this.#kinds = {
      stopped: (slot) => this.#stopped(slot),
      killed: (slot) => this.#killed(slot),
      released: (slot) => this.#released(slot),
      'clock stepped': (slot) => this.#clockStepped(slot),
      ...(site.proxies.length > 0 && {
        cut: (slot) => this.#cut(slot),
        ...Object.fromEntries(weathers.map((weather) => [weather, (slot: Slot) => this.#weather(slot, weather)])),
      }),
    }
  }

  elapsedMs = () => monotonicMs() - this.#startMs
  deaths = () => this.#slots.flatMap(({ deaths }) => deaths)

  faults(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { what } of this.happenings) {
      if (!what.startsWith('well again')) counts[what] = (counts[what] ?? 0) + 1
    }
    return counts
  }

  async rage({ ms, ids, serverFaults: enough = Number.POSITIVE_INFINITY }: Extent): Promise<void> {
    const serverFaults = this.#raging()
    // Only a store that may forget makes leases wait after a fault.
    const serverFaultMs = Math.min(this.#work.serverFaultMs, this.#site.losses === undefined ? 5000 : Infinity)
    let nextServerMs = serverFaultMs
    let isEachMade = false
    let made = 0
    while (this.elapsedMs() < ms || !(isEachMade || made >= enough) || idsIn(this.#folder) < ids) {
      if (this.deaths().length > 0) break
      await this.#strike()
      if (this.elapsedMs() < nextServerMs) continue
      isEachMade = (await serverFaults.next()).value
      made++
      nextServerMs = this.elapsedMs() + serverFaultMs * (0.8 + this.#random() / 2)
    }
    await Promise.all(this.#underWay)
  }

  /**
   * Makes the faults of the server one by one, in another order each time. Yields whether each fault was
   * made.
   */
  async *#raging(): AsyncGenerator<boolean, never> {
    const { faults, losses } = this.#site
    const all = { ...faults, ...(this.#work.survivesLosses && losses) }
    for (let round = 0; ; round++) {
      const left = Object.keys(all)
      while (left.length > 0) {
        await this.#made(this.#work.idsBeforeCopy)
        // The copy is some seconds old when it is brought back.
        await this.#site.copy()
        await sleep(1000 + this.#random() * 2000)
        const [name] = left.splice(Math.floor(this.#random() * left.length), 1) as [string]
        const dead = this.#work.deadly.includes(name) && round % 2 === 0 ? await this.#killAll() : []
        this.#happens(name)
        await all[name]?.()
        this.#happens(`well again: ${name}`)
        for (const slot of dead) slot.start()
        yield round > 0 || left.length === 0
      }
    }
  }

  /** Kills all processes, after the faults of single processes have ended. */
  async #killAll(): Promise<readonly Slot[]> {
    await Promise.all(this.#underWay)
    this.#happens('all processes killed')
    await this.kill()
    return this.#slots
  }

  /** Waits until this many more ids were made. */
  async #made(count: number): Promise<void> {
    const before = idsIn(this.#folder)
    const endMs = monotonicMs() + recoveryMs
    while (idsIn(this.#folder) < before + count && this.deaths().length === 0 && monotonicMs() < endMs) {
      await this.#strike()
    }
  }

  /** Makes one fault of one process, after a while. */
  async #strike(): Promise<void> {
    await sleep(this.#work.processFaultMs * (1 / 3 + (this.#random() * 4) / 3))
    const kinds = Object.keys(this.#kinds)
    const kind = kinds[Math.floor(this.#random() * kinds.length)] as string
    const free = this.#slots.filter((slot) => !this.#busy.has(slot) && (kind !== 'clock stepped' || slot.hasClock))
    const slot = free[Math.floor(this.#random() * free.length)]
    if (slot === undefined) return
    this.#happens(kind, this.#slots.indexOf(slot))
    this.#busy.add(slot)
    const work = (this.#kinds[kind] as (slot: Slot) => Promise<void>)(slot).then(() => {
      this.#busy.delete(slot)
      this.#underWay.delete(work)
    })
    this.#underWay.add(work)
  }

  async #stopped(slot: Slot): Promise<void> {
    slot.stop()
    await sleep(200 + this.#random() * 4000)
    slot.go()
  }

  async #killed(slot: Slot): Promise<void> {
    await slot.kill()
    await sleep(this.#random() * 1000)
    slot.start()
  }

  async #released(slot: Slot): Promise<void> {
    await slot.leave()
    slot.start()
  }

  async #clockStepped(slot: Slot): Promise<void> {
    // SQLite has the clock of the process, and a ceiling that is an hour ahead makes the node unusable for an
    // hour.
    const isFar = this.#site.proxies.length > 0 && this.#random() < 0.2
    slot.clock = isFar ? (this.#random() < 0.5 ? 3600 : -3600) : Math.round((this.#random() - 0.5) * 60) / 10
    await sleep(1500 + this.#random() * 4000)
    slot.clock = 0
    await sleep(1000)
  }

  async #cut(slot: Slot): Promise<void> {
    this.#site.proxies[this.#slots.indexOf(slot)]?.cut()
  }

  async #weather(slot: Slot, weather: (typeof weathers)[number]): Promise<void> {
    const proxy = this.#site.proxies[this.#slots.indexOf(slot)]
    if (proxy === undefined) return
    proxy.weather = weather
    await sleep(300 + this.#random() * 4000)
    proxy.weather = 'fair'
  }

  #happens(what: string, slot?: number): void {
    this.happenings.push({ monotonicMs: monotonicMs(), what, ...(slot !== undefined && { slot }) })
  }

  /**
   * Waits after the faults until each thread of each process makes ids again. Returns the threads that do
   * not.
   */
  async settle(): Promise<string[]> {
    const watched = this.#slots.map((slot) => ({ slot, sizes: new Map<string, Set<number>>() }))
    const startMs = monotonicMs()
    while (this.deaths().length === 0) {
      for (const { slot, sizes } of watched) {
        for (const [thread, ids] of slot.written()) sizes.set(thread, (sizes.get(thread) ?? new Set()).add(ids))
      }
      // The first growth may come from a call that began before the end of the faults. The second growth does
      // not.
      const isGoing = (seen: Set<number>) => seen.size > 2
      const late = watched.filter(({ slot, sizes }) => [...sizes.values()].filter(isGoing).length < slot.threads)
      if (late.length === 0) break
      if (monotonicMs() - startMs > recoveryMs) {
        // Asked before the processes end, because their connections end with them.
        const connections = (await this.#site.connections?.()) ?? 'not known'
        await this.end()
        return late.map(({ slot, sizes }) => {
          const growths = [...sizes].map(([thread, seen]) => `${thread}: ${[...seen].slice(0, 3).join(' ')}`)
          const missing = `no ids ${recoveryMs} ms after the last fault: ids by threads ${growths.join(', ')}`
          return `${missing}; ${slot.story()}; connections of the server: ${connections}`
        })
      }
      await sleep(100)
    }
    return []
  }

  async end(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.leave()))
  }

  kill = () => Promise.all(this.#slots.map((slot) => slot.kill()))
}

function idsIn(folder: string): number {
  return idFilesIn(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size / 8, 0)
}

/** A clock that is the same in all processes of this machine. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
