import { readSegments } from '../../../src/segments/store-source.js'
import { keyOf } from '../../../src/stores/record.js'
import { letFaultsHappen, type Tally, withoutStacks } from '../../simulation/nature.ts'
import type { Moment } from '../../simulation/report.ts'
import { type Entries, Server } from '../../simulation/server.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import { beginGlobals } from './globals.ts'
import { Judge } from './judge.ts'
import { Process } from './process.ts'
import { type Setting, type Shape, shapeFrom } from './shape.ts'

/**
 * The time after the end of the faults within which each thread must have numbers of newly fetched segments.
 */
const settledAfterMs = 60_000
const key = keyOf('orders')
const natural = ['failover', 'restore', 'cut', 'pause', 'crash'] as const

export interface Outcome extends Tally {
  readonly virtualMs: number
  readonly violation: string | undefined
  readonly shape: Shape
  readonly issued: number
  readonly writes: number
  /** The world's log, which is empty unless requested. */
  readonly moments: readonly Moment[]
}

/**
 * Some processes and one server: first with faults, then without faults until each thread has had new
 * numbers.
 */
export class World {
  readonly random: Random
  readonly shape: Shape
  readonly time = new VirtualTime()
  readonly tally: Tally = { kills: 0, faults: 0 }
  readonly judge: Judge
  readonly server: Server
  readonly moments: Moment[] = []
  isCalm = false
  readonly #isRecorded: boolean
  readonly #processes: Process[] = []
  readonly #settled = new Set<number>()
  readonly #end: Promise<void>
  #finish: () => void = () => {}

  constructor(seed: number, setting: Setting, isRecorded: boolean) {
    this.random = randomFrom(seed)
    this.shape = shapeFrom(this.random, setting)
    this.#isRecorded = isRecorded
    beginGlobals(this.random)
    this.#end = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.judge = new Judge(this.shape, () => this.#finish())
    this.server = new Server(this.random, this.shape, () => this.time.monotonicMs())
  }

  happens(chance: number): boolean {
    if (this.isCalm || this.random() >= chance) return false
    this.tally.faults++
    return true
  }

  note(process: number | undefined, _node: number | undefined, text: () => string): void {
    if (this.#isRecorded) this.moments.push({ atMs: this.time.monotonicMs(), process, text: text() })
  }

  settles(process: number): void {
    this.#settled.add(process)
    if (this.isCalm && this.#settled.size === this.shape.processes) this.#finish()
  }

  write(process: number, ...[at, value, expected]: [string, string, string | undefined]): string | undefined {
    const version = this.server.write(at, value, expected)
    if (version !== undefined) {
      const { next, incarnation } = readSegments({ key, value, version }, 'orders')
      this.judge.applied(next)
      this.note(process, undefined, () => `its write lands as ${version}: next ${next}, ${incarnation || 'durable'}`)
    }
    return version
  }

  /** Fails over to an older state if the gap covers the difference, else to the present state. */
  loseWrites(): void {
    const { forgets } = this.shape
    const older: Entries = forgets === 'all' ? new Map() : this.server.earlier()
    const isLost = forgets === 'all' || (forgets === 'gaps' && older.has(key)) || this.#isCovered(older)
    this.server.failOver(isLost ? older : this.server.entries)
    this.note(undefined, undefined, () => `fails over: ${this.server}, next ${nextOf(this.server.entries)}`)
  }

  async run(): Promise<void> {
    for (let number = 0; number < this.shape.processes; number++) this.#start(number)
    this.#nature().catch((error) => this.judge.fails('the world', error))
    await this.time.until(this.#end)
  }

  /**
   * Whether the gap covers a state. It does not cover a lost record, because a new process then begins at
   * `start`.
   */
  #isCovered(older: Entries): boolean {
    const next = nextOf(older)
    return next === undefined ? this.judge.highest === 0n : this.judge.highest <= next + this.#gap
  }

  /**
   * Restores an older copy. Each process must have fetched after the copy was made, because nothing else
   * shows the restoration.
   */
  #restore(): void {
    const older = this.server.earlier()
    const next = nextOf(older) ?? 0n
    const isNoticed = this.#processes.every(({ last }) => last >= next && last + 1n + this.#gap >= this.judge.highest)
    if (!isNoticed && this.shape.forgets !== 'copies') return
    this.server.restore(older)
    this.note(undefined, undefined, () => `is restored: ${this.server}, next ${next}`)
  }

  get #gap(): bigint {
    const { failoverGap, stride } = this.shape.numbering
    return BigInt(failoverGap * stride)
  }

  #start(number: number): void {
    const process = new Process(number, this)
    this.#processes[number] = process
    process.live().catch((error) => this.judge.fails(`process ${number}`, error))
  }

  async #nature(): Promise<void> {
    await letFaultsHappen(this, natural, this.#faults, this.#processes)
    this.settles(this.#settled.values().next().value ?? -1)
    await this.time.sleep(settledAfterMs)
    const missing = this.#processes.find(({ number }) => !this.#settled.has(number))
    if (missing !== undefined) this.judge.hasNone(`process ${missing.number}`, settledAfterMs)
  }

  readonly #faults: Record<(typeof natural)[number], () => void> = {
    failover: () => this.loseWrites(),
    restore: () => this.#restore(),
    cut: () => {
      const one = this.random() < 0.3 ? this.server : this.#anyProcess()
      one.isCut = !one.isCut
    },
    pause: () => this.#anyProcess().pause('between two steps'),
    crash: () => {
      // A new process cannot know that an older copy was restored.
      if (this.shape.forgets === 'covered' && (nextOf(this.server.entries) ?? 0n) < this.judge.highest) return
      const process = this.#anyProcess()
      process.crash()
      this.#settled.delete(process.number)
      this.#start(process.number)
    },
  }

  #anyProcess(): Process {
    return this.#processes[Math.floor(this.random() * this.#processes.length)] as Process
  }
}

function nextOf(entries: Entries): bigint | undefined {
  const entry = entries.get(key)
  return entry && readSegments(entry, 'orders').next
}

export async function runWorld(seed: number, setting: Setting, isRecorded = false): Promise<Outcome> {
  const world = new World(seed, setting, isRecorded)
  await (isRecorded ? world.run() : withoutStacks(() => world.run()))
  const { shape, judge, moments } = world
  const { violation, issued, writes } = judge
  return { ...world.tally, virtualMs: world.time.monotonicMs(), violation, shape, issued, writes, moments }
}
