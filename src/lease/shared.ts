/** What a lease is at a moment, as its generators in all threads see it. */
export interface LeaseView {
  readonly status: LeaseStatus
  /** Goes up with every node that was acquired; each has a state of its own. */
  readonly generation: number
  readonly node: number
  /** No id has an earlier tick. */
  readonly floor: number
  /** No id has this tick or a later one. */
  readonly ceiling: number
  /** When the store has last acknowledged a ceiling; milliseconds since 1970. */
  readonly renewedMs: number
  /** When the next renewal is to begin; milliseconds since 1970. */
  readonly dueMs: number
  /** Whether a renewal has begun and not ended. */
  readonly isRenewing: boolean
  /** How long the last renewal took. */
  readonly roundTripMs: number
  /** Renewals that the store has acknowledged. */
  readonly renewals: number
  /** Renewals and acquisitions that have failed. */
  readonly failures: number
  /** Why the last one has failed; empty after one that has not. */
  readonly failure: string
}

const statuses = ['held', 'released', 'ended'] as const
/** `held`: ids may be made below the ceiling. `released`: it was given back. `ended`: it was lost, and no other node could be had. */
type LeaseStatus = (typeof statuses)[number]

// The memory: 64-bit integers, and then the text of the failure in UTF-8. The first word is odd while the others are written.
const fields = [
  'sequence',
  'status',
  'generation',
  'node',
  'floor',
  'ceiling',
  'renewedMs',
  'dueMs',
  'isRenewing',
  'roundTripMs',
  'renewals',
  'failures',
  'textBytes',
] as const
const textAt = fields.length * 8
const maxTextBytes = 1024
export const sharedBytes = textAt + maxTextBytes
/** Reads of a view that is being written, before it is taken for one whose writer was ended. */
const maxReads = 10_000

/** The memory in which the thread of a lease tells all others what the lease is. That thread alone writes. */
export class SharedLease {
  readonly memory: SharedArrayBuffer | ArrayBuffer
  readonly #words: BigInt64Array
  readonly #text: Uint8Array

  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.memory = memory
    this.#words = new BigInt64Array(memory, 0, fields.length)
    this.#text = new Uint8Array(memory, textAt, maxTextBytes)
  }

  /** Memory that threads share, where the platform has that. */
  static make(): SharedLease {
    return new SharedLease(
      typeof SharedArrayBuffer === 'function' ? new SharedArrayBuffer(sharedBytes) : new ArrayBuffer(sharedBytes),
    )
  }

  /** `undefined` where the thread of the lease was ended while it wrote. */
  read(): LeaseView | undefined {
    for (let reads = 0; reads < maxReads; reads++) {
      const before = Atomics.load(this.#words, 0)
      if (before % 2n !== 0n) continue
      const at = (field: (typeof fields)[number]) => Number(Atomics.load(this.#words, fields.indexOf(field)))
      // A copy, because decoders refuse memory that is shared.
      const failure = new TextDecoder().decode(this.#text.slice(0, at('textBytes')))
      const view: LeaseView = {
        status: statuses[at('status')] ?? 'ended',
        generation: at('generation'),
        node: at('node'),
        floor: at('floor'),
        ceiling: at('ceiling'),
        renewedMs: at('renewedMs'),
        dueMs: at('dueMs'),
        isRenewing: at('isRenewing') === 1,
        roundTripMs: at('roundTripMs'),
        renewals: at('renewals'),
        failures: at('failures'),
        failure,
      }
      if (Atomics.load(this.#words, 0) === before) return view
    }
    return undefined
  }

  write(view: LeaseView): void {
    const words = this.#words
    const text = new TextEncoder().encode(view.failure).subarray(0, maxTextBytes)
    const values = { ...view, status: statuses.indexOf(view.status), textBytes: text.length }
    Atomics.add(words, 0, 1n)
    for (const [at, field] of fields.entries()) {
      if (field !== 'sequence') Atomics.store(words, at, BigInt(Math.round(Number(values[field]))))
    }
    this.#text.set(text)
    Atomics.add(words, 0, 1n)
  }
}
