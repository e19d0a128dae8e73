import { memoryStore } from '../../../src/stores/memory-store.js'
import { faultOf, someOf } from '../../simulation/faults.ts'
import { type Tally, withoutStacks } from '../../simulation/nature.ts'
import type { Moment } from '../../simulation/report.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import type { Start } from './load.ts'
import { Program } from './program.ts'
import { type CallMoment, type Network, storeFor, type Written } from './server.ts'

/** How often each event comes, in a world whose store and machines have faults. */
const usual = { park: 4, resume: 4, twice: 1, release: 1, copy: 1, hook: 0.5, outage: 1 }
const kinds = Object.keys(usual) as (keyof typeof usual)[]
const startMs = 1_000_000_000_000

export interface Setting {
  /**
   * Programs park all leases and then resume all, without faults. No node is left when all are parked, also
   * if they are parked in the middle of an acquisition.
   */
  readonly isOrderly?: boolean
  /** Machines are also copied some turns after the answer to a write, and the program then parks at once. */
  readonly copiesAtAnswers?: boolean
}

export interface Outcome extends Tally {
  readonly virtualMs: number
  readonly violation: { readonly text: string } | undefined
  readonly issued: number
  readonly parked: number
  readonly moments: readonly Moment[]
}

interface Process {
  readonly network: Network
  readonly programs: readonly Program[]
  raise(): void
}

/** Some processes with two leases each, whose programs park and resume them at any time. */
class World {
  violation: { readonly text: string } | undefined
  issued = 0
  parked = 0
  readonly time = new VirtualTime()
  readonly tally: Tally = { kills: 0, faults: 0 }
  readonly moments: Moment[] = []
  readonly #random: Random
  readonly #isOrderly: boolean
  readonly #copiesAtAnswers: boolean
  readonly #isRecorded: boolean
  readonly #server = memoryStore({ assumeOneProcess: true })
  readonly #processes: Process[] = []
  readonly #programs: Program[] = []
  readonly #issuedBy = new Map<bigint, number>()
  /** Called at the moments of each write that takes or renews a node. */
  #onTaking: (moment: CallMoment, program: Program) => void = () => {}

  constructor(
    start: Start,
    seed: number,
    { isOrderly = false, copiesAtAnswers = false }: Setting,
    isRecorded: boolean,
  ) {
    this.#random = randomFrom(seed)
    this.#isOrderly = isOrderly
    this.#copiesAtAnswers = copiesAtAnswers
    this.#isRecorded = isRecorded
    const faults = this.#random() < 0.5
    for (let number = 0; number < (isOrderly ? 1 : 2); number++) {
      this.#startProcess(start, number, { isAway: false, isFaulty: faults && !isOrderly, isPrompt: isOrderly })
    }
  }

  #startProcess(start: Start, number: number, network: Network): void {
    const { time } = this
    const modules = start({
      wallMs: () => startMs + time.monotonicMs(),
      monotonicMs: () => time.monotonicMs(),
      later: (callback, ms) => time.later(callback, ms),
      background: (callback, ms) => time.later(callback, ms),
      random: this.#random,
    })
    const programs = [0, 1].map(() => {
      const onCall = (key: string, record?: Written) => void this.#try(() => program.calls(key, record))
      const store = storeFor(this.#server, time, this.#random, network, onCall, (moment) => {
        this.#onTaking(moment, program)
      })
      const program: Program = new Program(number, modules, store)
      return program
    })
    this.#programs.push(...programs)
    this.#processes.push({ network, programs, raise: () => modules.raiseGeneration() })
  }

  async run(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.start()))
    if (this.#isOrderly) await this.#runOrderly()
    else await this.#runFaults()
    if (this.violation !== undefined) return
    for (const { network } of this.#processes) {
      network.isAway = false
      network.isFaulty = false
    }
    // An attempt may join one that a fault of before ends, or find that all nodes are held for a window.
    for (let attempts = 0; attempts < 5 && !this.#programs.every(({ isHeld }) => isHeld); attempts++) {
      await Promise.all(this.#programs.map((program) => (program.isParked ? program.resume() : program.start())))
      await this.time.sleep(500)
    }
    this.#burst()
    await this.time.sleep(1)
    this.#burst()
    for (const program of this.#programs) {
      if (!program.isHeld) this.#violate(`a lease of process ${program.process} has no node in the end`)
    }
    if (!this.#isOrderly) return
    await Promise.all(this.#programs.map((program) => program.release()))
    await this.#checkNothingIsLeft()
  }

  async #runFaults(): Promise<void> {
    const faults = someOf(usual, this.#random)
    for (let step = 0; step < 40 && this.violation === undefined; step++) {
      await this.time.sleep(this.#random() < 0.5 ? this.#random() * 5 : this.#random() * 150)
      this.#burst()
      if (this.#copiesAtAnswers) this.#copyAtAnswer()
      const kind = faultOf(kinds, faults, this.#random)
      if (kind === undefined) continue
      const program = this.#any(this.#programs)
      this.#note(program.process, kind)
      this.#act(kind, program)
      this.#burst()
      void program.start()
    }
  }

  #act(kind: keyof typeof usual, program: Program): void {
    const process = this.#processes[program.process] as Process
    if (['copy', 'hook', 'outage'].includes(kind)) this.tally.faults++
    if (kind === 'park') {
      this.parked++
      void program.park()
    } else if (kind === 'resume') void program.resume()
    else if (kind === 'twice') {
      void program.resume()
      void program.resume()
      if (this.#random() < 0.5) void program.park()
    } else if (kind === 'release') void program.release()
    else if (kind === 'outage') process.network.isAway = !process.network.isAway
    else if (kind === 'hook') process.raise()
    else this.#copy(process)
  }

  /** The process is the copy from here on. The device has told it before anything else happens. */
  #copy(process: Process): void {
    process.raise()
    for (const copied of process.programs) copied.becomesCopy()
  }

  /** Copies the machine after the next answer to a write that takes or renews a node. */
  #copyAtAnswer(): void {
    const [toCopy, toPark] = [Math.floor(this.#random() * 24), Math.floor(this.#random() * 4)]
    this.#onTaking = (moment, program) => {
      if (moment !== 'answered') return
      this.#onTaking = () => {}
      void afterTurns(toCopy).then(async () => {
        this.#note(program.process, `copy, ${toCopy} turns after an answer`)
        this.#copy(this.#processes[program.process] as Process)
        await afterTurns(toPark)
        this.#note(program.process, `park, ${toPark} turns after the copy`)
        this.#act('park', program)
      })
    }
  }

  async #runOrderly(): Promise<void> {
    for (let round = 0; round < 3 && this.violation === undefined; round++) {
      for (const call of ['park', 'resume'] as const) {
        await this.time.sleep(this.#random() * 200)
        const calls: Promise<void>[] = []
        for (const program of this.#programs) {
          for (let times = this.#random() < 0.3 ? 2 : 1; times > 0; times--) calls.push(program[call]())
          this.#note(program.process, call)
          this.#burst()
          if (this.#random() < 0.5) await this.time.sleep(this.#random() * 60)
          if (this.#random() < 0.3) await calls.at(-1)
          this.#burst()
        }
        await Promise.all(calls)
        this.parked++
        if (call === 'park') {
          await this.#checkNothingIsLeft()
          if (this.#random() < 0.7) await this.#interruptResume()
        }
      }
    }
  }

  /** Resumes all leases, and parks them again when one of them takes a node: during the call, or after it. */
  async #interruptResume(): Promise<void> {
    const at: CallMoment = this.#random() < 0.5 ? 'done' : 'answered'
    const turns = Math.floor(this.#random() * 12)
    let parked: Promise<unknown> | undefined
    const parkAll = () => {
      if (parked !== undefined) return parked
      for (const program of this.#programs) this.#note(program.process, `park, ${turns} turns after a write is ${at}`)
      parked = Promise.all(this.#programs.map((program) => program.park()))
      return parked
    }
    const interrupted = new Promise<unknown>((resolve) => {
      this.#onTaking = (moment) => {
        if (moment !== at) return
        this.#onTaking = () => {}
        void afterTurns(turns).then(parkAll).then(resolve)
      }
    })
    const resumed = Promise.all(this.#programs.map((program) => program.resume()))
    // The nodes are given back when park() has ended, also if resume() has not.
    await Promise.race([interrupted, resumed.then(parkAll)])
    this.#burst()
    await this.#checkNothingIsLeft()
  }

  /** Each node that was taken in an orderly world is given back when no lease has one. */
  async #checkNothingIsLeft(): Promise<void> {
    for (const { key } of await this.#server.list('groups/')) {
      for (const entry of await this.#server.list(`leases/${key.split('/')[1]}/0/`)) {
        if (!JSON.parse(entry.value).isReleased) this.#violate(`${entry.key} is left for a window`)
      }
    }
  }

  /** Makes ids of all programs at one time. */
  #burst(): void {
    for (let i = 0; i < 3; i++) {
      for (const program of this.#programs) {
        const id = this.#try(() => program.next())
        if (id === undefined) continue
        this.issued++
        const other = this.#issuedBy.get(id)
        if (other !== undefined) this.#violate(`process ${program.process} makes an id of process ${other}`)
        this.#issuedBy.set(id, program.process)
      }
    }
  }

  /** Notes an error of the judge. */
  #try<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      this.#violate((error as Error).message)
      return undefined
    }
  }

  #any<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T
  }

  #note(process: number, text: string): void {
    if (this.#isRecorded) this.moments.push({ atMs: this.time.monotonicMs(), process, text })
  }

  #violate(text: string): void {
    this.violation ??= { text }
  }
}

export async function runWorld(start: Start, seed: number, setting: Setting, isRecorded = false): Promise<Outcome> {
  const world = new World(start, seed, setting, isRecorded)
  await withoutStacks(() => world.time.until(world.run()))
  const { violation, issued, parked, moments } = world
  return { ...world.tally, virtualMs: world.time.monotonicMs(), violation, issued, parked, moments }
}

/** Waits for some turns of the queue of microtasks. */
async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined
}
