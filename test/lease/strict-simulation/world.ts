import { someOf } from '../../simulation/faults.ts'
import { letFaultsHappen, type Tally, withoutStacks } from '../../simulation/nature.ts'
import type { CallFaults } from '../../simulation/network.ts'
import type { Moment } from '../../simulation/report.ts'
import { Server } from '../../simulation/server.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import type { Start } from '../programs-simulation/load.ts'
import { RealTimeOrder } from './order.ts'
import { Program } from './program.ts'

const startMs = 1_000_000_000_000
/** The time for which clients go on after the faults, in which the group has to answer again. */
const calmMs = 20_000

const usualFaults: CallFaults & Record<(typeof natural)[number] | 'pauseInAnswer', number> = {
  lostRequest: 0.004,
  lostReply: 0.004,
  sentTwice: 0.004,
  slow: 0.02,
  staleList: 0.1,
  pauseInCall: 0.002,
  lossInCall: 0,
  pauseInAnswer: 0.002,
  failover: 1,
  replica: 1,
  cut: 1,
  pause: 4,
  crash: 1,
  release: 2,
  clockStep: 3,
  storeStep: 1,
}

/** The faults that come by themselves. The store is durable: it forgets nothing that it has acknowledged. */
const natural = ['failover', 'replica', 'cut', 'pause', 'crash', 'release', 'clockStep', 'storeStep'] as const

/** Faults that replace the usual ones, and a rule of the program that is left out. */
export interface Setting {
  readonly faults?: Partial<typeof usualFaults>
  /** The term is read after the id is made, instead of before. */
  readonly takesTermLate?: boolean
}

export interface Outcome extends Tally {
  readonly virtualMs: number
  readonly violation: { readonly text: string } | undefined
  readonly answers: number
  readonly holders: number
  readonly moments: readonly Moment[]
}

/** Some servers of a strict group, of which one has the node, and clients that ask any of them. */
export class World {
  readonly time = new VirtualTime()
  readonly tally: Tally = { kills: 0, faults: 0 }
  readonly random: Random
  readonly setting: Setting
  readonly shape
  readonly server: Server
  readonly moments: Moment[] = []
  readonly order = new RealTimeOrder()
  violation: { readonly text: string } | undefined
  /** How often a process became the holder. */
  holders = 0
  isCalm = false
  #storeAheadMs = 0
  readonly #programs: Program[] = []
  readonly #start: Start
  readonly #isRecorded: boolean
  #isOver = false

  constructor(start: Start, seed: number, setting: Setting, isRecorded: boolean) {
    this.random = randomFrom(seed)
    this.#start = start
    this.setting = setting
    this.#isRecorded = isRecorded
    const one = <T>(...of: T[]) => of[Math.floor(this.random() * of.length)] as T
    this.shape = {
      programs: one(2, 2, 3),
      windowMs: one(2000, 3000),
      maxClockSkewMs: 1000,
      durable: true,
      clockMs: one(1, 1, 1000),
      steps: one(12, 24),
      stepMs: 3000,
      faults: { ...someOf(usualFaults, this.random), ...setting.faults },
    }
    this.server = new Server(this.random, this.shape, () => this.trueMs())
  }

  /** The server, and by how much its clock is ahead. */
  get store() {
    return { server: this.server, aheadMs: () => this.#storeAheadMs }
  }

  trueMs(): number {
    return startMs + this.time.monotonicMs()
  }

  happens(chance: number): boolean {
    if (this.isCalm || this.random() >= chance) return false
    this.tally.faults++
    return true
  }

  loseWrites(): void {
    this.server.failOver()
  }

  note(process: number | undefined, node: number | undefined, text: () => string): void {
    if (this.#isRecorded) this.moments.push({ atMs: this.time.monotonicMs(), process, node, text: text() })
  }

  async run(): Promise<void> {
    for (let number = 0; number < this.shape.programs; number++) this.#startProgram(number)
    for (let client = 0; client < 3; client++) void this.#ask(client)
    await letFaultsHappen(this, natural, this.#faults, this.#programs)
    await this.time.sleep(calmMs)
    this.#isOver = true
    if (!this.#programs.some(({ isHolder }) => isHolder)) {
      this.violation ??= { text: `no server answers ${calmMs} ms after the faults have ended` }
    }
  }

  #startProgram(number: number): void {
    const program = new Program(number, this, this.#start)
    this.#programs[number] = program
    void program.live()
  }

  /** A client sends requests, and does not wait for an answer that may never come. */
  async #ask(client: number): Promise<void> {
    while (!this.#isOver && this.violation === undefined) {
      void this.#request(client)
      await this.time.sleep(this.random() * (this.isCalm ? 500 : 60))
    }
  }

  async #request(client: number): Promise<void> {
    const madeMs = this.time.monotonicMs()
    const program = this.#any()
    await this.time.sleep(this.random() * 4)
    await program.awake()
    const made = await program.answer()
    if (made === undefined) return
    await this.time.sleep(this.random() < 0.1 ? this.random() * 500 : this.random() * 4)
    const { inversions } = this.order
    this.order.add({ madeMs, givenMs: this.time.monotonicMs(), ...made })
    const [first] = inversions
    if (first === undefined || this.violation !== undefined) return
    const { before, after } = first
    this.violation = {
      text: `client ${client} asks at ${madeMs} ms and gets ${after.first}, and ${before.last} was given at ${before.givenMs} ms`,
    }
    this.note(program.number, 0, () => `INVERSION: ${this.violation?.text}`)
  }

  readonly #faults: Record<(typeof natural)[number], () => void> = {
    failover: () => this.server.failOver(),
    replica: () => this.server.moveReplica(this.random() < 0.5),
    cut: () => {
      const one = this.random() < 0.3 ? this.server : this.#any()
      one.isCut = !one.isCut
    },
    pause: () => this.#any().pause('between two steps'),
    crash: () => {
      const program = this.#any()
      program.crash()
      this.#startProgram(program.number)
    },
    release: () => void this.#any().release(),
    clockStep: () => this.#any().stepClock(),
    storeStep: () => {
      this.#storeAheadMs += (this.random() - 0.4) * 10_000
      this.note(undefined, undefined, () => `its clock is now ${Math.round(this.#storeAheadMs)} ms ahead`)
    },
  }

  #any(): Program {
    return this.#programs[Math.floor(this.random() * this.#programs.length)] as Program
  }
}

export async function runWorld(
  start: Start,
  seed: number,
  setting: Setting = {},
  isRecorded = false,
): Promise<Outcome> {
  const world = new World(start, seed, setting, isRecorded)
  await withoutStacks(() => world.time.until(world.run()))
  const { violation, order, holders, moments } = world
  return { ...world.tally, virtualMs: world.time.monotonicMs(), violation, answers: order.answers, holders, moments }
}
