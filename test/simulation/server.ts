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

/**
 * A server of a cluster that gets the folders of another server, one after the other. It answers for folders
 * that do not exist.
 */
interface Target {
  readonly life: number
  readonly aheadMs: number
  readonly folders: Set<string>
}

/**
 * A server of the store. One that is not durable loses what it has acknowledged; once it was replaced, it
 * answers no more.
 */
export class Server {
  entries: Entries = new Map()
  life = 1
  /** How often it has lost what it held. */
  losses = 0
  /** How often an older copy was put in its place. */
  restores = 0
  isCut = false
  /**
   * The data that the synchronous replica has confirmed. Set while the replica is away: then writes are
   * shown, but not answered.
   */
  #confirmed: Entries | undefined
  /** By how much its clock is ahead; two lives are within the skew that is allowed. */
  #aheadMs: number
  #target: Target | undefined
  #lives = 1
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

  nowMs(key?: string): number {
    const { clockMs } = this.#shape
    return Math.floor((this.#trueMs() + (this.#targetOf(key)?.aheadMs ?? this.#aheadMs)) / clockMs) * clockMs
  }

  /** The life of the server that has the folder of a key. */
  lifeOf(key?: string): number {
    return this.#targetOf(key)?.life ?? this.life
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
    if (this.#targetOf(key) !== undefined) this.#target?.folders.add(folderOf(key))
    this.#set(new Map(this.entries).set(key, { key, value, version }))
    return version
  }

  /** A transaction ends with its writes, whose records were locked. */
  commit(written: Entries): void {
    this.#set(new Map([...this.entries, ...written]))
  }

  /** Another server takes over, with another clock. If the store is not durable, it lacks the last writes. */
  failOver(left?: Entries): void {
    this.#begin()
    this.#lose(left ?? this.earlier())
  }

  get isReplicaAway(): boolean {
    return this.#confirmed !== undefined
  }

  /**
   * The synchronous replica of a durable server goes away. Later it returns and confirms all writes, or takes
   * over without them.
   */
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

  /** A migration to another server of the cluster begins, moves a folder, or ends. */
  migrate(): void {
    if (this.#shape.durable) return
    const left = this.#folders().filter((folder) => !this.#target?.folders.has(folder))
    if (this.#target === undefined) {
      this.#target = { life: ++this.#lives, aheadMs: this.#newAheadMs(), folders: new Set() }
    } else if (left.length > 0 && this.#random() < 0.7) {
      this.#target.folders.add(left[Math.floor(this.#random() * left.length)] as string)
    } else {
      const { life, aheadMs } = this.#target
      this.life = life
      this.#aheadMs = aheadMs
      this.#target = undefined
    }
  }

  /** The server evicts one folder, and goes on. */
  evict(): void {
    const folders = this.#folders()
    const evicted = folders[Math.floor(this.#random() * folders.length)]
    this.#lose(new Map([...this.entries].filter(([key]) => folderOf(key) !== evicted)))
  }

  /**
   * Its clock steps within the skew that is allowed, also back; then everything is deleted, and the server
   * goes on.
   */
  flush(): void {
    this.#aheadMs = this.#newAheadMs()
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
    this.life = ++this.#lives
    this.#aheadMs = this.#newAheadMs()
  }

  #lose(left: Entries): void {
    if (this.#shape.durable) return
    this.losses++
    // Only the folders that this server has are lost.
    const moved = this.#target?.folders ?? new Set()
    const kept = [...this.entries].filter(([key]) => moved.has(folderOf(key)))
    this.#set(new Map([...[...left].filter(([key]) => !moved.has(folderOf(key))), ...kept]))
  }

  #folders(): string[] {
    return [...new Set([...this.entries.keys()].map(folderOf))]
  }

  /**
   * The target of the migration, if it answers for a key: it has the folder, or the folder does not exist.
   */
  #targetOf(key: string | undefined): Target | undefined {
    if (this.#target === undefined || key === undefined) return this.#target
    const folder = folderOf(key)
    return this.#target.folders.has(folder) || !this.#folders().includes(folder) ? this.#target : undefined
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

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1)
}
