import { offsetOf } from '../../../src/pattern/time-zone.js'
import { VirtualTime } from '../../support/virtual-time.ts'
import { Judge } from './judge.ts'
import { Process } from './process.ts'
import { Server } from './server.ts'
import { type Random, randomFrom, type Shape, shapeFrom } from './shape.ts'

/** How long it takes without faults until each process has what it has taken. */
const calmMs = 60_000

export interface Outcome {
  readonly violation: string | undefined
  readonly shape: Shape
  readonly issued: number
  readonly periods: number
  readonly crashes: number
  /** Sums of what counters say. */
  readonly lost: number
  readonly recovered: number
  readonly conflicts: number
}

/** Some processes that count in one record, with faults at first, and with a new year in their middle. */
export class World {
  readonly random: Random
  readonly shape: Shape
  readonly time = new VirtualTime()
  readonly server: Server
  readonly judge: Judge
  isCalm = false
  readonly #beginMs: number
  readonly #processes: Process[] = []
  #running = 0
  #crashes = 0
  #tokens = 0
  readonly #end: Promise<void>
  finish: () => void = () => {}

  constructor(seed: number, forgets: boolean) {
    this.random = randomFrom(seed)
    this.shape = shapeFrom(this.random, forgets)
    const { faultsMs, timeZone, start } = this.shape
    this.#beginMs = Date.UTC(2027, 0) - offsetOf(timeZone) * 60_000 - faultsMs / 2
    this.server = new Server(start)
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
    return !this.isCalm && this.random() < chance
  }

  async run(): Promise<Outcome> {
    for (let number = 0; number < this.shape.processes; number++) this.#start()
    this.#fate()
    await this.time.until(this.#end)
    if (!this.hasFailed) this.judge.end(this.#processes)
    const stats = this.#processes.flatMap(({ counter }) => counter?.stats() ?? [])
    return {
      violation: this.judge.violation,
      shape: this.shape,
      issued: this.judge.issued,
      periods: new Set(this.server.applied.map(({ period }) => period)).size,
      crashes: this.#crashes,
      lost: stats.reduce((sum, { lost }) => sum + lost, 0),
      recovered: stats.reduce((sum, { recovered }) => sum + recovered, 0),
      conflicts: stats.reduce((sum, { conflicts }) => sum + conflicts, 0),
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

  async #fate(): Promise<void> {
    const { faultsMs, crashes, failovers } = this.shape
    const stepMs = 100
    for (let ms = 0; ms < faultsMs; ms += stepMs) {
      await this.time.sleep(stepMs)
      if (this.random() < (crashes * stepMs) / 1000) this.#crash()
      if (this.random() < (failovers * stepMs) / 1000) this.server.forget(1 + Math.floor(this.random() * 5))
    }
    this.isCalm = true
    await this.time.sleep(calmMs)
    if (this.#running > 0) this.judge.failed(new Error(`after ${calmMs} ms of calm a process has no number`))
  }

  #crash(): void {
    const living = this.#processes.filter(({ isDead }) => !isDead)
    const process = living[Math.floor(this.random() * living.length)] as Process
    process.crash()
    this.#crashes++
    this.#running--
    this.#start()
  }
}

export async function runWorld(seed: number, forgets = false): Promise<Outcome> {
  // A lost answer is an error, and its stack costs as much as all the rest of a call.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await new World(seed, forgets).run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
