import type { NodeSet } from '../../../src/lease/group.js'
import { Group } from '../../../src/lease/group.js'
import { readGroup } from '../../../src/lease/record.js'
import { letFaultsHappen, type Tally, withoutStacks } from '../../simulation/nature.ts'
import type { Moment } from '../../simulation/report.ts'
import { Server } from '../../simulation/server.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import { Judge, type Violation } from './judge.ts'
import { Process } from './process.ts'
import { type Setting, type Shape, shapeFrom } from './shape.ts'

/**
 * The true time at which the world begins, and the epoch of its ids. The world begins at tick 100 or later.
 */
const startMs = 1_000_000_000_000
const epochMs = startMs - 100_000
/**
 * Each process has a node within this time after the faults have ended. It may wait for a proof that no
 * longer holds, for another proof, each for ten seconds and a skew, and then for other leases to expire.
 */
const settledAfterMs = 60_000
/**
 * After the clocks of a world were set right, an acquisition ends within this time, perhaps with an error. It
 * may read and write several times, and wait for a server that is trusted once more.
 */
const acquiredAfterMs = 30_000
const maxCopies = 2

/** The faults that come by themselves. */
const natural = [
  'failover',
  'flush',
  'restart',
  'cut',
  'pause',
  'crash',
  'clockStep',
  'replica',
  'migrate',
  'evict',
  'copy',
  'clockAhead',
  'transaction',
] as const

export interface Outcome extends Tally {
  readonly virtualMs: number
  readonly violation: Violation | undefined
  readonly shape: Shape
  readonly acquired: number
  readonly issued: number
  readonly issuedByCopies: number
  /** Empty, unless the run is recorded. */
  readonly moments: readonly Moment[]
}

/**
 * Runs some processes and one server for a while with faults, and then without until each process has had a
 * node.
 */
export class World {
  readonly random: Random
  readonly shape: Shape
  readonly time = new VirtualTime()
  readonly tally: Tally = { kills: 0, faults: 0 }
  readonly judge: Judge
  readonly server: Server
  readonly group: Group
  isCalm: boolean
  /** By how much all clocks are ahead. */
  #aheadMs = 0
  #wasSetRight = false
  readonly moments: Moment[] = []
  readonly #isRecorded: boolean
  readonly #processes: Process[] = []
  readonly #settled = new Set<number>()
  readonly #end: Promise<void>
  #finish: () => void = () => {}
  #begin: () => void = () => {}
  #tokens = 0

  constructor(seed: number, setting: Setting, isRecorded: boolean) {
    this.random = randomFrom(seed)
    this.shape = shapeFrom(this.random, setting)
    this.#isRecorded = isRecorded
    this.#end = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.judge = new Judge(({ text, node }) => {
      this.note(undefined, node, () => `VIOLATION: ${text}`)
      this.#finish()
    })
    this.server = new Server(this.random, this.shape, () => this.hostMs())
    const { nodes, tickMs, beginsWell } = this.shape
    const choice: NodeSet = { count: nodes, at: (index) => index, has: (node) => node < nodes }
    this.group = new Group('simulated', 'simulated ids', { epochMs, tickMs, maxTick: 2 ** 41 - 1, nodes }, choice)
    this.isCalm = beginsWell
  }

  trueMs(): number {
    return startMs + this.time.monotonicMs()
  }

  /** The time of the clocks, but for their skews. */
  hostMs(): number {
    return this.trueMs() + this.#aheadMs
  }

  /** Whether the transaction of another process has written a record. */
  isLocked(key: string, process: Process): boolean {
    return this.#processes.some((other) => other !== process && other.transaction?.has(key))
  }

  newToken(): string {
    return `t${++this.#tokens}`
  }

  happens(chance: number): boolean {
    if (this.isCalm || this.random() >= chance) return false
    this.tally.faults++
    return true
  }

  note(process: number | undefined, node: number | undefined, text: () => string): void {
    if (this.#isRecorded) this.moments.push({ atMs: this.time.monotonicMs(), process, node, text: text() })
  }

  /** A process has a node. */
  begins(): void {
    this.#begin()
  }

  /** A process has had a node after the faults had ended. */
  settles(process: number): void {
    this.#settled.add(process)
    if (this.#settled.size === this.#processes.length) this.#finish()
  }

  loseWrites(): void {
    if (this.random() < 0.7) this.server.failOver()
    else this.server.flush()
    this.note(undefined, undefined, () => `loses writes: ${this.server}`)
  }

  async run(): Promise<void> {
    const { processes, beginsWell } = this.shape
    this.#start(0)
    const first = new Promise<void>((resolve) => {
      this.#begin = resolve
    })
    if (beginsWell) await this.time.until(first)
    this.isCalm = false
    for (let number = 1; number < processes; number++) this.#start(number)
    this.#nature()
    await this.time.until(this.#end)
  }

  #start(number: number, original?: Process): void {
    const process = new Process(number, this, original)
    this.#processes[number] = process
    process.live().catch((error) => this.judge.fails(number, error))
  }

  async #nature(): Promise<void> {
    await letFaultsHappen(this, natural, this.#faults, this.#processes)
    this.#setRight()
    await this.time.sleep(settledAfterMs)
    const missing = this.#processes.find(
      (process) =>
        !this.#settled.has(process.number) && !(this.#wasSetRight && process.acquiresForMs < acquiredAfterMs),
    )
    if (missing === undefined) this.#finish()
    else this.judge.hasNoNode(missing.number, settledAfterMs)
  }

  readonly #faults: Record<(typeof natural)[number], () => void> = {
    failover: () => {
      if (this.#wasSetRight) return
      this.server.failOver()
      this.note(undefined, undefined, () => `fails over: ${this.server}`)
    },
    flush: () => {
      if (this.#wasSetRight) return
      this.server.flush()
      this.note(undefined, undefined, () => `is flushed: ${this.server}`)
    },
    restart: () => {
      if (this.#wasSetRight) return
      this.server.restart()
      this.note(undefined, undefined, () => `starts again: ${this.server}`)
    },
    cut: () => {
      // Cuts the server off from all, or one process from the server, or ends a cut.
      const one = this.random() < 0.3 ? this.server : this.#anyProcess()
      one.isCut = !one.isCut
      const whose = one === this.server ? undefined : (one as Process).number
      this.note(whose, undefined, () => (one.isCut ? 'is cut off' : 'is cut off no more'))
    },
    pause: () => this.#anyProcess().pause('between two steps'),
    crash: () => {
      const process = this.#anyProcess()
      process.crash()
      this.#start(process.number)
    },
    clockStep: () => this.#anyProcess().stepClock(),
    migrate: () => {
      this.server.migrate()
      this.note(undefined, undefined, () => `moves a folder to another server, or begins or ends that: ${this.server}`)
    },
    evict: () => {
      if (this.#wasSetRight) return
      this.server.evict()
      this.note(undefined, undefined, () => `evicts a folder: ${this.server}`)
    },
    copy: () => {
      const original = this.#anyProcess()
      if (original.canBeCopied && this.#processes.length < this.shape.processes + maxCopies) {
        this.#start(this.#processes.length, original)
      }
    },
    clockAhead: () => {
      if (this.#wasSetRight) return
      if (this.#aheadMs === 0) {
        this.#aheadMs = 5000 + this.random() * 55_000
        this.server.restart()
        this.note(undefined, undefined, () => `starts ${Math.round(this.#aheadMs)} ms ahead: ${this.server}`)
      } else this.#setRight()
    },
    transaction: () => {
      const process = this.#anyProcess()
      const { transaction } = process
      const isKept = transaction !== undefined && this.random() < 0.3
      if (isKept) this.server.commit(transaction)
      process.transaction = transaction === undefined && !process.isDead ? new Map() : undefined
      const what = transaction === undefined ? 'BEGIN' : isKept ? 'COMMIT' : 'ROLLBACK'
      this.note(process.number, undefined, () => `its connection gets ${what}: ${this.server}`)
    },
    replica: () => {
      this.server.moveReplica(this.random() < 0.5)
      this.note(
        undefined,
        undefined,
        () => `${this.server.isReplicaAway ? 'waits for its replica' : 'is confirmed'}: ${this.server}`,
      )
    },
  }

  /**
   * Sets the clocks right, if a process has seen the present life of the server. Otherwise the server may
   * have forgotten ceilings that no record tells of any more (docs/leases.md, "What is not guaranteed").
   */
  #setRight(): void {
    const entry = this.server.read(this.group.lifeKeyOf(0))
    const seen = entry && readGroup(entry, this.group.ids)
    if (this.#aheadMs === 0 || seen?.incarnation !== `life ${this.server.life}` || seen.sinceMs === 0) return
    this.#aheadMs = 0
    this.#wasSetRight = true
    this.note(undefined, undefined, () => 'has the true time again')
  }

  #anyProcess(): Process {
    return this.#processes[Math.floor(this.random() * this.#processes.length)] as Process
  }
}

export async function runWorld(seed: number, setting: Setting, isRecorded = false): Promise<Outcome> {
  const world = new World(seed, setting, isRecorded)
  await (isRecorded ? world.run() : withoutStacks(() => world.run()))
  const { shape, judge, moments } = world
  return {
    ...world.tally,
    virtualMs: world.time.monotonicMs(),
    violation: judge.violation,
    shape,
    acquired: judge.acquired,
    issued: judge.issued,
    issuedByCopies: judge.issuedByCopies,
    moments,
  }
}
