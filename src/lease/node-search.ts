import type { StoreCalls } from '../stores/calls.js'
import type { StoreEntry } from '../stores/store.js'
import { type Group, hash } from './group.js'
import { type LeaseRecord, readLease } from './record.js'
import type { LeaseClock, LeaseRules } from './rules.js'

/** A free node, and what the store has for it. */
export interface Candidate {
  readonly node: number
  readonly entry: StoreEntry | undefined
  readonly record: LeaseRecord | undefined
}

/** Why a node was not had. */
export interface Exhausted {
  /** How many nodes were looked at, and all are held. */
  readonly held: number
  /** Who holds them; some, if there are many. */
  readonly owners: readonly string[]
  /** The store's time when the first of them may be free; `undefined` where there are none. */
  readonly freeAtMs: number | undefined
}

/** A fleet of a hundred thousand never lists itself: as many shards are looked at in one attempt. */
const maxShards = 8

/** Looks for a free node: one that is released, or expired, or was never used. */
export class NodeSearch {
  readonly #calls: StoreCalls
  readonly #group: Group
  readonly #rules: LeaseRules
  readonly #clock: LeaseClock

  constructor(calls: StoreCalls, group: Group, rules: LeaseRules, clock: LeaseClock) {
    this.#calls = calls
    this.#group = group
    this.#rules = rules
    this.#clock = clock
  }

  /**
   * Of the best kind there is, one at random, so that processes that start together seldom meet.
   *
   * @param token - Of the lease; a node that it had before is free to it.
   * @param nowMs - The store's time.
   */
  async find(token: string, nowMs: number, signal: AbortSignal | undefined): Promise<Candidate | Exhausted> {
    const { nodes } = this.#group
    const visited = new Set<number>()
    const held: LeaseRecord[] = []
    // By the owner's name at first, so that a process finds the node it had; then at random.
    let index = hash(this.#rules.owner) % nodes.count
    for (let i = 0; i < maxShards; i++) {
      const shard = this.#group.shardOf(nodes.at(index))
      index = Math.floor(this.#clock.random() * nodes.count)
      if (visited.has(shard)) continue
      visited.add(shard)
      const entries = new Map(
        (await this.#calls.list(this.#group.folderOf(shard), signal)).map((entry) => [entry.key, entry]),
      )
      const kinds: Candidate[][] = [[], [], []]
      for (const node of this.#group.nodesOf(shard)) {
        const entry = entries.get(this.#group.keyOf(node))
        const record = entry && readLease(entry, this.#group)
        const kind = this.#kindOf(record, token, nowMs)
        if (kind === undefined) held.push(record as LeaseRecord)
        else kinds[kind]?.push({ node, entry, record })
      }
      const best = kinds.find((candidates) => candidates.length > 0)
      if (best !== undefined) return best[Math.floor(this.#clock.random() * best.length)] as Candidate
    }
    const freeAt = held.map((record) => this.freeAtMs(record))
    return {
      held: held.length,
      owners: someOf(held.map(({ owner }) => owner)),
      freeAtMs: freeAt.length === 0 ? undefined : Math.min(...freeAt),
    }
  }

  /** How good a node is: 0 where it is free and was this owner's, 1 free, 2 never used; `undefined` where it is held. */
  #kindOf(record: LeaseRecord | undefined, token: string, nowMs: number): 0 | 1 | 2 | undefined {
    if (record === undefined) return 2
    if (record.token === token) return 0
    if (this.freeAtMs(record) >= nowMs) return undefined
    return record.owner === this.#rules.owner ? 0 : 1
  }

  /** The store's time after which another may have a node without disturbing its holder. */
  freeAtMs({ ceiling, isReleased }: LeaseRecord): number {
    const endMs = this.#group.timeOf(ceiling)
    // What was released may have been used ahead of the clock, and its next holder would have to wait.
    return isReleased ? endMs - this.#rules.maxClockSkewMs : endMs + this.#rules.maxClockSkewMs
  }
}

/** The first texts, each once, and how many more there are. */
function someOf(texts: string[]): string[] {
  const all = [...new Set(texts)]
  return all.length <= 6 ? all : [...all.slice(0, 5), `${all.length - 5} others`]
}
