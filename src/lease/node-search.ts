import { hash } from '../core/typed-array.js'
import { utf8 } from '../core/utf8.js'
import type { StoreEntry } from '../stores/store.js'
import { type LeaseRecord, readLease } from './record.js'
import type { LeaseParts, Proof, ServerLife } from './server-life.js'
import { Watch } from './watch.js'

/** A free node, and the record that the store has for it. */
export interface Candidate {
  readonly node: number
  readonly entry: StoreEntry | undefined
  readonly record: LeaseRecord | undefined
  /** The proof for the server that has the node. */
  readonly proof: Proof
}

/** The reason why no node was found. */
export interface Exhausted {
  /** How many nodes were looked at. All of them are held. */
  readonly held: number
  /** The owners of these nodes; some of them, if there are many. */
  readonly owners: readonly string[]
  /** The store's time when the first of them may be free; `undefined` if no node was looked at. */
  readonly freeAtMs: number | undefined
}

/**
 * The most shards that one attempt lists, so that a fleet of a hundred thousand never lists all of itself.
 */
const maxShards = 8

/** Finds a free node: a node that was released, has expired, or was never used. */
export class NodeSearch {
  readonly #parts: LeaseParts
  readonly #life: ServerLife
  readonly #watch: Watch
  /** Depends on the owner's name, so that a process first looks where it had a node. */
  readonly #firstIndex: number

  constructor(parts: LeaseParts, life: ServerLife) {
    this.#parts = parts
    this.#life = life
    this.#watch = new Watch(parts.clock)
    this.#firstIndex = hash(utf8(parts.rules.owner)) % parts.group.nodes.count
  }

  /**
   * Finds a node of the best kind, at random, so that processes that start together seldom choose the same
   * node.
   *
   * @param token - The token of the lease. A node that the lease had before is free to it.
   * @throws as `ServerLife.prove`
   */
  async find(token: string, signal: AbortSignal | undefined): Promise<Candidate | Exhausted> {
    const { nodes } = this.#parts.group
    const visited = new Set<number>()
    const held: LeaseRecord[] = []
    let index = this.#firstIndex
    for (let looks = 0; looks < maxShards; looks++) {
      const shard = this.#parts.group.shardFrom(index, visited)
      // The shards after the first are drawn at random.
      index = Math.floor(this.#parts.clock.random() * nodes.count)
      // Goes on, because the seeds of the simulations count the draws.
      if (shard === undefined) continue
      visited.add(shard)
      const proof = await this.#life.prove(shard, signal)
      const entries = new Map(
        (await this.#parts.calls.list(this.#parts.group.folderOf(shard), signal)).map((entry) => [entry.key, entry]),
      )
      const kinds: Candidate[][] = [[], [], []]
      for (const node of this.#parts.group.nodesOf(shard)) {
        const entry = entries.get(this.#parts.group.keyOf(node))
        const record = entry && readLease(entry, this.#parts.group)
        const kind = this.#kindOf(entry, record, token, proof.nowMs)
        if (kind === undefined) held.push(record as LeaseRecord)
        else kinds[kind]?.push({ node, entry, record, proof })
      }
      const best = kinds.find((candidates) => candidates.length > 0)
      if (best !== undefined) return best[Math.floor(this.#parts.clock.random() * best.length)] as Candidate
    }
    const freeAt = held.map((record) => this.freeAtMs(record))
    return {
      held: held.length,
      owners: someOf(held.map(({ owner }) => owner)),
      freeAtMs: freeAt.length === 0 ? undefined : Math.min(...freeAt),
    }
  }

  /**
   * The kind of a node, best first: 0 was this owner's, 1 is free, 2 was never used; `undefined` if the node
   * is held.
   */
  #kindOf(
    entry: StoreEntry | undefined,
    record: LeaseRecord | undefined,
    token: string,
    nowMs: number,
  ): 0 | 1 | 2 | undefined {
    if (entry === undefined || record === undefined) return 2
    if (record.token === token) return 0
    // No clock of a host or a store decides for a strict lease whether the holder still answers.
    const isWatched = this.#parts.rules.strict && !record.isReleased
    const isFree = isWatched ? this.#watch.isOver(entry, record.windowMs) : this.freeAtMs(record) < nowMs
    if (!isFree) return undefined
    return record.owner === this.#parts.rules.owner ? 0 : 1
  }

  /** The store's time after which another process may take a node without disturbing its holder. */
  freeAtMs({ ceiling, isReleased }: LeaseRecord): number {
    const endMs = this.#parts.group.timeOf(ceiling)
    // Ids of a released node may be ahead of the clock, and its next holder would have to wait.
    return isReleased ? endMs - this.#parts.rules.maxClockSkewMs : endMs + this.#parts.rules.maxClockSkewMs
  }
}

/** The first texts, each once, and the number of the others. */
function someOf(texts: string[]): string[] {
  const all = [...new Set(texts)]
  return all.length <= 6 ? all : [...all.slice(0, 5), `${all.length - 5} others`]
}
