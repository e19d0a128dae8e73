import { type Holding, LeaseProtocol } from '../../../src/lease/protocol.js'
import type { StoreEntry } from '../../../src/stores/store.js'
import { Machine } from '../../simulation/machine.ts'
import { type Caller, type Rectangle, sequences } from './judge.ts'
import { WatchedCalls } from './network.ts'
import type { World } from './world.ts'

/** Milliseconds for which attempts at one write go on. */
const writeMs = 5000

/**
 * One life of a process: from its start to its crash. It acquires a node, issues ids, renews, moves and gives
 * back.
 */
export class Process extends Machine {
  #skewMs = 0
  readonly #world: World
  readonly #protocol: LeaseProtocol
  readonly #caller: Caller
  #own: Rectangle | undefined
  /** The first slot that may be issued, as the word of an engine. */
  #nextSlot = 0
  /** The tick after the last used tick; `undefined` before the first. */
  #nextTick: number | undefined

  /** The rectangle with which a copy begins. */
  #copied: Rectangle | undefined
  #holding: Holding | undefined
  /** The records that an open transaction on its connection has written. No other process sees them. */
  transaction: Map<string, StoreEntry> | undefined
  /** The time at which the last acquisition began. */
  #acquiresSinceMs = 0
  /** Whether the process knows that it is a copy, and that its node belongs to the original. */
  #knowsOfCopy = false

  /** @param original - The process of which this one is a copy. */
  constructor(number: number, world: World, original?: Process) {
    super(number, world, 2 * world.shape.windowMs)
    this.#world = world
    this.#caller = { process: number, lastId: original === undefined ? -1 : original.#caller.lastId }
    this.setClock()
    if (original !== undefined) this.#continue(original)
    const { durable, windowMs, maxClockSkewMs } = world.shape
    const rules = { windowMs, maxClockSkewMs, durable, strict: false, owner: `process ${number}`, writeMs }
    const clock = {
      wallMs: () => this.#wallMs(),
      monotonicMs: () => this.monotonicMs(),
      random: world.random,
      newToken: () => world.newToken(),
    }
    this.#protocol = new LeaseProtocol({ calls: new WatchedCalls(this, world), group: world.group, rules, clock })
  }

  /** Ends the faults of the process. */
  override recover(): void {
    super.recover()
    this.transaction = undefined
    this.setClock()
  }

  /** Whether it has a node that no copy of it has. */
  get canBeCopied(): boolean {
    return this.#own !== undefined && this.#own.copied === undefined && !this.isDead && !this.#knowsOfCopy
  }

  /** Milliseconds since the last acquisition began. It has not ended, or another begins soon. */
  get acquiresForMs(): number {
    return this.monotonicMs() - this.#acquiresSinceMs
  }

  #continue(original: Process): void {
    const { judge, shape } = this.#world
    const own = original.#own as Rectangle
    this.#skewMs = original.#skewMs
    this.#nextSlot = original.#nextSlot
    this.#nextTick = original.#nextTick
    this.#knowsOfCopy = shape.copiesAreTold
    // A copy that is told issues nothing in the rectangle of the original.
    this.#own = shape.copiesAreTold ? { ...own, process: this.number } : judge.isCopied(own, this.number)
    this.#holding = original.#holding
    this.#copied = this.#own
    this.#world.note(this.number, own.node, () => `is a copy of process ${original.number}`)
  }

  crash(): void {
    this.isDead = true
    this.transaction = undefined
    this.#world.note(this.number, this.#own?.node, () => 'crashes')
  }

  /** Sets the clock within the skew that is allowed. */
  setClock(): void {
    this.#skewMs = (this.#world.random() - 0.5) * this.#world.shape.maxClockSkewMs * 0.5
  }

  stepClock(): void {
    this.#skewMs += (this.#world.random() - 0.6) * 30_000
    this.#world.note(this.number, undefined, () => `its clock is now ${ahead(this.#skewMs)}`)
  }

  /**
   * Issues some ids at the time of its clock, above the last id: it runs ahead of a clock that has stepped
   * back.
   */
  issue(): void {
    const own = this.#own
    if (own === undefined || this.isStopped || this.#knowsOfCopy) return
    const { random, judge, group } = this.#world
    const first = Math.max(this.#nextSlot, group.tickAt(this.#wallMs()) * sequences)
    const count = random() < 0.1 ? 20 : 1 + Math.floor(random() * 3)
    const end = Math.min(own.ceiling * sequences, first + count)
    if (first >= end) return
    for (let slot = first; slot < end; slot++) judge.issues(this.#caller, own, slot)
    this.#nextSlot = end
    this.#nextTick = Math.ceil(end / sequences)
    this.#world.note(this.number, own.node, () => `issues ids of ${ticks(first, end - 1)}`)
  }

  async live(): Promise<void> {
    let token = this.#world.newToken()
    for (;;) {
      const own = this.#copied ?? this.#begin(await this.#acquire(token))
      this.#copied = undefined
      const end = await this.#hold(own)
      // A node that is lost is used up to its ceiling, until there is another node.
      if (end === 'settled') return this.#world.settles(this.number)
      if (end === 'lost' && !this.#knowsOfCopy) continue
      token = this.#world.newToken()
      await this.sleep(this.#world.random() * 2000)
    }
  }

  async #acquire(token: string): Promise<Holding> {
    for (;;) {
      this.#acquiresSinceMs = this.monotonicMs()
      let why: string
      try {
        const got = await this.#protocol.acquire(token)
        if (!('held' in got)) return got
        why = `there are ${got.held} nodes held`
      } catch (error) {
        why = (error as Error).message
        // If the clock of the process is wrong, an operator sets it.
        this.setClock()
      }
      this.#world.note(this.number, undefined, () => `cannot acquire: ${why.slice(0, 70)}`)
      await this.sleep(300 + this.#world.random() * 700)
    }
  }

  #begin(holding: Holding): Rectangle {
    const { node, record } = holding
    this.#protocol.accept()
    const own = this.#world.judge.holds(this.number, node, record.floor, record.ceiling)
    this.#own = own
    this.#holding = holding
    this.#knowsOfCopy = false
    this.#world.note(this.number, node, () => `acquires the node: [${own.floor}, ${own.ceiling})`)
    this.#world.begins()
    // Begins at the floor, and above the ids that the caller has had from the node before.
    this.#nextSlot = Math.max(this.#nextTick ?? 0, own.floor) * sequences
    return own
  }

  /**
   * Works until the node is lost or given back; `settled` if the process used the node after the faults had
   * ended.
   */
  async #hold(own: Rectangle): Promise<'lost' | 'released' | 'settled'> {
    const { random, judge, server, shape } = this.#world
    const { node } = own
    for (;;) {
      const holding = this.#holding as Holding
      if (this.#knowsOfCopy) return 'lost'
      this.issue()
      await this.sleep((shape.windowMs / 3) * (0.5 + random() / 2))
      this.issue()
      const isFine = this.#isFine(own)
      if (isFine || this.#world.happens(shape.faults.release)) {
        await this.#release(holding, own)
        return isFine ? 'settled' : 'released'
      }
      try {
        const renewed = await this.#protocol.renew(holding)
        if (renewed === 'lost' && server.losses === 0 && own.copied === undefined) {
          judge.toldLost(own, server.holderOf(node) === holding.record.token)
        }
        if (typeof renewed === 'string') {
          this.#world.note(this.number, node, () => `is told that the node is ${renewed}`)
          return 'lost'
        }
        this.#holding = renewed
        judge.raised(own, renewed.record.ceiling)
        this.#world.note(this.number, node, () => `has renewed: [${own.floor}, ${own.ceiling})`)
      } catch (error) {
        this.#world.note(this.number, node, () => `cannot renew: ${(error as Error).message.slice(0, 70)}`)
      }
    }
  }

  async #release(holding: Holding, own: Rectangle): Promise<void> {
    // The engine stops first. If the last used tick is of another node, or there is none, only the clock is
    // known.
    this.#own = undefined
    const next = this.#nextTick ?? this.#world.group.tickAt(this.#wallMs())
    this.#world.judge.ended(own, Math.max(own.floor, next))
    this.#world.note(this.number, own.node, () => `gives the node back from tick ${next} on`)
    // If the release fails, the node is free when its ceiling has passed.
    await this.#protocol.release(holding, next).catch(() => {})
  }

  /** Whether the faults have ended, and the process can issue an id of its clock's tick. */
  #isFine({ floor, ceiling }: Rectangle): boolean {
    const tick = this.#world.group.tickAt(this.#wallMs())
    return this.#world.isCalm && tick >= floor && tick < ceiling
  }

  #wallMs(): number {
    return this.#world.hostMs() + this.#skewMs
  }
}

function ticks(firstSlot: number, lastSlot: number): string {
  const first = Math.floor(firstSlot / sequences)
  const last = Math.floor(lastSlot / sequences)
  return first === last ? `tick ${first}` : `the ticks ${first} to ${last}`
}

function ahead(ms: number): string {
  return `${Math.abs(Math.round(ms))} ms ${ms < 0 ? 'behind' : 'ahead'}`
}
