import type { StoreEntry } from '../../../src/stores/store.js'

/** A write that the server has applied. */
export interface Applied {
  readonly process: number
  readonly period: string
  /** The counts that it took, both included. */
  readonly first: number
  readonly last: number
}

interface Count {
  readonly period: string
  readonly count: number
}

/** The store's side: one record for each key, and a note of who has taken which counts. */
export class Server {
  readonly applied: Applied[] = []
  losses = 0
  #entry: StoreEntry | undefined
  #writes = 0
  readonly #past: (StoreEntry | undefined)[] = [undefined]
  readonly #start: number

  constructor(start: number) {
    this.#start = start
  }

  read(): StoreEntry | undefined {
    return this.#entry
  }

  write(process: number, key: string, value: string, expected: string | undefined): string | undefined {
    if (this.#entry?.version !== expected) return undefined
    const before = this.#entry && (JSON.parse(this.#entry.value) as Count)
    const { period, count } = JSON.parse(value) as Count
    const first = before?.period === period ? before.count + 1 : this.#start
    this.applied.push({ process, period, first, last: count })
    const version = `v${++this.#writes}`
    this.#entry = { key, value, version }
    this.#past.push(this.#entry)
    return version
  }

  /** Another server takes over, which has not heard of the last writes. */
  forget(writes: number): void {
    this.losses++
    this.#entry = this.#past[Math.max(0, this.#past.length - 1 - writes)]
    this.#past.push(this.#entry)
  }
}
