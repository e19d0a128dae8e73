import { readOffset } from '../../../src/pattern/calendar.js'
import { letFaultsHappen, type Tally, withoutStacks } from '../../simulation/nature.ts'
import type { Moment } from '../../simulation/report.ts'
import { Server } from '../../simulation/server.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import { Judge } from './judge.ts'
import { Process } from './process.ts'
import { type Shape, shapeFrom } from './shape.ts'

/** The time after the faults within which each process has given out every number that it has taken. */
const calmMs = 60_000
const natural = ['failover', 'cut', 'pause', 'crash'] as const

export interface Outcome extends Tally {
  readonly virtualMs: number
  readonly violation: string | undefined
  readonly shape: Shape
  readonly issued: number
  readonly periods: number
  readonly crashes: number
  /** Sums of the counters' statistics. */
  readonly lost: number
  readonly recovered: number
  readonly conflicts: number
  /** The world's log, which is empty unless requested. */
  readonly moments: readonly Moment[]
}

/**
 * Some processes that count in one record, first with faults. A new year begins in the middle of the faults.
 */
export class World {
  readonly random: Random
  readonly shape: Shape
  readonly time = new VirtualTime()
  readonly tally: Tally = { kills: 0, faults: 0 }
  readonly server: Server
  readonly judge: Judge
  readonly moments: Moment[] = []
  isCalm = false
  finish: () => void = () => {}
  readonly #isRecorded: boolean
  readonly #beginMs: number
  /** All lives of all processes. */
  readonly #processes: Process[] = []
  readonly #end: Promise<void>
  #running = 0
  #tokens = 0

  constructor(seed: number, durable: boolean, isRecorded: boolean) {
    this.random = randomFrom(seed)
    this.shape = shapeFrom(this.random, durable)
    this.#isRecorded = isRecorded
    const { steps, stepMs, timeZone } = this.shape
    this.#beginMs = Date.UTC(2027, 0) - readOffset(timeZone) * 60_000 - (steps * stepMs) / 4
    this.server = new Server(this.random, this.shape, () => this.trueMs())
    this.judge = new Judge(this)
    this.#end = new Promise((resolve) => {
      this.finish = resolve
    })
  }

  get hasFailed(): boolean {
    return this.judge.violation !== undefined
  }

  trueMs(): number {
    return this.#beginMs + this.time.monotonicMs()
  }

  newToken(): string {
    return `t${++this.#tokens}`
  }

  happens(chance: number): boolean {
    if (this.isCalm || this.random() >= chance) return false
    this.tally.faults++
    return true
  }

  note(process: number | undefined, _node: number | undefined, text: () => string): void {
    if (this.#isRecorded) this.moments.push({ atMs: this.time.monotonicMs(), process, text: text() })
  }

  write(process: number, key: string, value: string, expected: string | undefined): string | undefined {
    const before = this.server.read(key)
    const version = this.server.write(key, value, expected)
    if (version !== undefined) {
      this.judge.applied(process, before?.value, value)
      this.note(process, undefined, () => `its write lands as ${version}: ${value}`)
    }
    return version
  }

  loseWrites(): void {
    this.server.failOver()
    this.note(undefined, undefined, () => `fails over: ${this.server}`)
  }

  async run(): Promise<Outcome> {
    for (let number = 0; number < this.shape.processes; number++) this.#start()
    this.#nature()
    await this.time.until(this.#end)
    if (!this.hasFailed) this.judge.end(this.#processes)
    const stats = this.#processes.flatMap(({ counter }) => counter?.stats() ?? [])
    const sumOf = (what: 'lost' | 'recovered' | 'conflicts') => stats.reduce((sum, { [what]: count }) => sum + count, 0)
    const { violation, issued, periods } = this.judge
    return {
      ...this.tally,
      virtualMs: this.time.monotonicMs(),
      violation,
      shape: this.shape,
      issued,
      periods,
      crashes: this.#processes.length - this.shape.processes,
      lost: sumOf('lost'),
      recovered: sumOf('recovered'),
      conflicts: sumOf('conflicts'),
      moments: this.moments,
    }
  }

  #start(): void {
    const process = new Process(this.#processes.length, this)
    this.#processes.push(process)
    this.#running++
    process.live().then(() => {
      if (--this.#running === 0) this.finish()
    }, this.judge.failed.bind(this.judge))
  }

  async #nature(): Promise<void> {
    await letFaultsHappen(this, natural, this.#faults, this.#processes)
    await this.time.sleep(calmMs)
    if (this.#running > 0) this.judge.failed(new Error(`after ${calmMs} ms of calm a process has no number`))
  }

  readonly #faults: Record<(typeof natural)[number], () => void> = {
    failover: () => this.loseWrites(),
    cut: () => {
      const one = this.random() < 0.3 ? this.server : this.#anyProcess()
      one.isCut = !one.isCut
    },
    pause: () => this.#anyProcess().pause('between two steps'),
    crash: () => {
      this.#anyProcess().crash()
      this.#running--
      this.#start()
    },
  }

  #anyProcess(): Process {
    const living = this.#processes.filter(({ isDead }) => !isDead)
    return living[Math.floor(this.random() * living.length)] as Process
  }
}

export async function runWorld(seed: number, durable: boolean, isRecorded = false): Promise<Outcome> {
  const world = new World(seed, durable, isRecorded)
  return isRecorded ? world.run() : withoutStacks(() => world.run())
}
