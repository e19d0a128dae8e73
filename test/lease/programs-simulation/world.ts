import { memoryStore } from '../../../src/stores/memory-store.js'
import { faultOf, someOf } from '../../simulation/faults.ts'
import { withoutStacks } from '../../simulation/nature.ts'
import type { Moment } from '../../simulation/report.ts'
import { type Random, randomFrom } from '../../support/random.ts'
import { VirtualTime } from '../../support/virtual-time.ts'
import type { Start } from './load.ts'
import { Program } from './program.ts'
import { type Network, storeFor } from './server.ts'

/** How often each event comes, in a world whose store and machines have faults. */
const usual = { park: 4, resume: 4, twice: 1, release: 1, copy: 1, hook: 0.5, outage: 1 }
const kinds = Object.keys(usual) as (keyof typeof usual)[]
const startMs = 1_000_000_000_000

/** Worlds in which programs park all leases and then resume all, without faults: no node is left. */
export interface Setting {
  readonly isOrderly?: boolean
}

export interface Outcome {
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
  readonly moments: Moment[] = []
  readonly #random: Random
  readonly #isOrderly: boolean
  readonly #isRecorded: boolean
  readonly #server = memoryStore()
  readonly #processes: Process[] = []
  readonly #programs: Program[] = []
  readonly #issuedBy = new Map<bigint, number>()

  constructor(start: Start, seed: number, { isOrderly = false }: Setting, isRecorded: boolean) {
    this.#random = randomFrom(seed)
    this.#isOrderly = isOrderly
    this.#isRecorded = isRecorded
    const faults = this.#random() < 0.5
    for (let number = 0; number < (isOrderly ? 1 : 2); number++) {
      this.#startProcess(start, number, { isAway: false, isFaulty: faults && !isOrderly })
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
      const store = storeFor(this.#server, time, this.#random, network, (key, record) => {
        this.#try(() => program.calls(key, record))
      })
      const program: Program = new Program(number, modules, store)
      return program
    })
    this.#programs.push(...programs)
    this.#processes.push({ network, programs, raise: () => modules.raiseMachineGeneration() })
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
    if (this.#isOrderly) await this.#checkNothingIsLeft()
  }

  async #runFaults(): Promise<void> {
    const faults = someOf(usual, this.#random)
    for (let step = 0; step < 40 && this.violation === undefined; step++) {
      await this.time.sleep(this.#random() < 0.5 ? this.#random() * 5 : this.#random() * 150)
      this.#burst()
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
    else {
      // This process is the copy from here on. The device has told it before anything else happens.
      process.raise()
      for (const copied of process.programs) copied.becomesCopy()
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
      }
    }
  }

  /** Each node that was taken in an orderly world is given back in the end. */
  async #checkNothingIsLeft(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.release()))
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
  return { violation, issued, parked, moments }
}
