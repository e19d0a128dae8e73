import type { StoreEntry } from '../../src/stores/store.js'
import type { Random } from '../support/random.ts'

interface ServerShape {
  readonly durable: boolean
  readonly maxClockSkewMs: number
  /** In which steps its clock goes. */
  readonly clockMs: number
}

/** The data of a server. */
export type Entries = ReadonlyMap<string, StoreEntry>

/** A server of the store. One that is not durable loses what it has acknowledged; once it was replaced, it answers no more. */
export class Server {
  entries: Entries = new Map()
  life = 1
  /** How often it has lost what it held. */
  losses = 0
  /** How often an older copy was put in its place. */
  restores = 0
  isCut = false
  /** The data that the synchronous replica has confirmed. Set while the replica is away: then writes are shown, but not answered. */
  #confirmed: Entries | undefined
  /** By how much its clock is ahead; two lives are within the skew that is allowed. */
  #aheadMs: number
  #writes = 0
  /** The data after each write and each loss. */
  readonly #past: Entries[] = [new Map()]
  readonly #random: Random
  readonly #shape: ServerShape
  readonly #trueMs: () => number

  /** @param trueMs - The true time, in milliseconds since 1970. */
  constructor(random: Random, shape: ServerShape, trueMs: () => number) {
    this.#random = random
    this.#shape = shape
    this.#trueMs = trueMs
    this.#aheadMs = this.#newAheadMs()
  }

  nowMs(): number {
    const { clockMs } = this.#shape
    return Math.floor((this.#trueMs() + this.#aheadMs) / clockMs) * clockMs
  }

  read(key: string): StoreEntry | undefined {
    return this.entries.get(key)
  }

  /** The token in the record of a node. */
  holderOf(node: number): string | undefined {
    const entry = [...this.entries.values()].find(({ key }) => key.startsWith('leases/') && key.endsWith(`/${node}`))
    return entry && JSON.parse(entry.value).token
  }

  /** @param isStale - As it was some writes ago. */
  list(folder: string, isStale: boolean): StoreEntry[] {
    const entries = isStale ? this.earlier() : this.entries
    return [...entries.values()].filter(({ key }) => key.startsWith(folder))
  }

  write(key: string, value: string, expected: string | undefined): string | undefined {
    if (this.entries.get(key)?.version !== expected) return undefined
    const version = `v${++this.#writes}`
    this.#set(new Map(this.entries).set(key, { key, value, version }))
    return version
  }

  /** Another server takes over, with another clock. If the store is not durable, it lacks the last writes. */
  failOver(left?: Entries): void {
    this.#begin()
    this.#lose(left ?? this.earlier())
  }

  get isReplicaAway(): boolean {
    return this.#confirmed !== undefined
  }

  /** The synchronous replica of a durable server goes away. Later it returns and confirms all writes, or takes over without them. */
  moveReplica(isPromoted: boolean): void {
    if (!this.#shape.durable) return
    if (this.#confirmed === undefined) this.#confirmed = this.entries
    else if (isPromoted) this.#promote(this.#confirmed)
    else this.#confirmed = undefined
  }

  /** An older copy is put in its place, and nothing tells that. */
  restore(left: Entries): void {
    this.losses++
    this.restores++
    this.#set(left)
  }

  /** It starts again, with what it had, or with nothing. */
  restart(): void {
    this.#begin()
    if (this.#random() < 0.5) this.#lose(new Map())
  }

  /** Everything is deleted, and the server goes on. */
  flush(): void {
    this.#lose(new Map())
  }

  /** For people. */
  toString(): string {
    const records = [...this.entries.values()].map(({ key, version }) => {
      const [folder, ...names] = key.split('/')
      const what = folder === 'leases' ? `node ${names.at(-1)}` : folder === 'numbers' ? names.join('/') : 'the group'
      return `${what} as ${version}`
    })
    return `life ${this.life}, with ${records.join(', ') || 'nothing'}`
  }

  #promote(confirmed: Entries): void {
    this.#confirmed = undefined
    this.#begin()
    this.losses++
    this.#set(confirmed)
  }

  #begin(): void {
    this.life++
    this.#aheadMs = this.#newAheadMs()
  }

  #lose(left: Entries): void {
    if (this.#shape.durable) return
    this.losses++
    this.#set(left)
  }

  #set(entries: Entries): void {
    this.entries = entries
    this.#past.push(entries)
  }

  /** Draws earlier data: usually recent; seldom an old copy, or data of a server that was replaced before. */
  earlier(): Entries {
    const { length } = this.#past
    const back = this.#random() < 0.85 ? 1 + Math.floor(this.#random() * 4) : Math.floor(this.#random() * length)
    return this.#past[Math.max(0, length - 1 - back)] as Entries
  }

  #newAheadMs(): number {
    const { maxClockSkewMs, clockMs } = this.#shape
    return (this.#random() - 0.5) * (maxClockSkewMs - (clockMs > 1 ? clockMs : 0))
  }
}
