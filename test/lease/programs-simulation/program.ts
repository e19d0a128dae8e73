import type { Lease } from '../../../src/lease/lease.js'
import type { Store } from '../../../src/stores/store.js'
import type { Modules } from './load.ts'
import type { Written } from './server.ts'

/** Four nodes, and four ids a tick. */
const layoutSpec = {
  name: 'four',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 40],
    ['worker', 2],
    ['sequence', 2],
  ],
} as const

/** A lease of a process, its generator, and what the program has called. */
export class Program {
  readonly process: number
  lease: Lease | undefined
  /** The program has called `park()`, and not yet `resume()`. */
  isStopped = false
  /** The records of nodes that the lease has taken and not begun to give back, by the token in each. */
  readonly #written = new Map<string, string>()
  /** Whether the last call of a record was a read, by its key. */
  readonly #isRead = new Map<string, boolean>()
  /** Tokens of nodes that belong to the original, if the process is a copy. */
  readonly #ofOriginal = new Set<string>()
  readonly #modules: Modules
  readonly #store: Store
  #ids: { next(): bigint } | undefined
  #lastId = -1n
  #isAcquiring = false
  #parked = Promise.resolve()
  #isParking = false

  constructor(process: number, modules: Modules, store: Store) {
    this.process = process
    this.#modules = modules
    this.#store = store
  }

  /** Acquires a lease, if the program has none. */
  async start(): Promise<void> {
    if (this.#isAcquiring || (this.lease !== undefined && !this.lease.signal.aborted)) return
    this.#isAcquiring = true
    const { acquireLease, createGenerator, defineLayout } = this.#modules
    try {
      const layout = defineLayout(layoutSpec as never)
      const options = { store: this.#store, layout, windowMs: 300, callTimeoutMs: 150, maxClockSkewMs: 100 }
      this.lease = await acquireLease({ ...options, acquireTimeoutMs: 1000 } as never)
      this.#ids = createGenerator({ lease: this.lease, maxWaitMs: 0, onOverflow: 'throw' } as never)
      this.#lastId = -1n
      this.isStopped = false
    } catch {
      this.lease = undefined
    } finally {
      this.#isAcquiring = false
    }
  }

  get isHeld(): boolean {
    return this.lease?.toJSON().state === 'held'
  }

  get isParked(): boolean {
    return this.lease?.toJSON().state === 'parked'
  }

  /** Makes an id, if the lease allows it. @throws Error if the lease is parked, or the id does not ascend */
  next(): bigint | undefined {
    if (this.#ids === undefined) return undefined
    let id: bigint
    try {
      id = this.#ids.next()
    } catch {
      return undefined
    }
    if (this.isStopped) throw new Error(`process ${this.process} makes an id while its lease is parked`)
    if (id <= this.#lastId) throw new Error(`process ${this.process} makes an id that is not above the one before`)
    this.#lastId = id
    return id
  }

  async park(): Promise<void> {
    if (this.lease === undefined || this.lease.signal.aborted) return
    const parked = this.lease.park().catch(() => {})
    this.#written.clear()
    this.isStopped = true
    this.#isParking = true
    this.#parked = parked
    await parked
    if (parked === this.#parked) this.#isParking = false
  }

  async resume(): Promise<void> {
    if (this.lease === undefined || this.lease.signal.aborted) return
    this.isStopped = false
    await this.lease.resume().catch(() => {})
  }

  /**
   * Notes a call of the lease. @throws Error if a copy gives back a node of the original. It may raise the
   * ceiling by a renewal that was under way.
   */
  calls(key: string, record: Written | undefined): void {
    this.#isRead.set(key, record === undefined)
    if (record === undefined) return
    if (record.isReleased) this.#written.delete(record.token)
    else this.#written.set(record.token, key)
    if (record.isReleased && this.#ofOriginal.has(record.token))
      throw new Error(`process ${this.process} gives back ${key}, which belongs to the original`)
  }

  /**
   * The machine is copied, and this process is the copy. What was sealed before, or is being given back
   * without any id, belongs to neither.
   */
  becomesCopy(): void {
    if (this.isStopped || this.#isParking || this.lease?.signal.aborted) return
    for (const [token, key] of this.#written) if (!this.#isRead.get(key)) this.#ofOriginal.add(token)
  }

  async release(): Promise<void> {
    const released = this.lease?.release()
    this.#written.clear()
    await released
  }
}
