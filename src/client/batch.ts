/** Ids of one answer. Each belongs to this client alone. */
export class Batch {
  readonly ids: BigUint64Array
  /** The same memory in halves of 32 bits. */
  readonly halves: Uint32Array
  /** When they were asked for, which is before they were made: by a monotonic clock, and by the host's own. */
  readonly askedMs: number
  readonly askedWallMs: number

  constructor(ids: BigUint64Array, askedMs: number, askedWallMs: number) {
    this.ids = ids
    this.halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
    this.askedMs = askedMs
    this.askedWallMs = askedWallMs
  }

  /** Milliseconds by the clock that says more: the monotonic one stops where a machine sleeps, the other may be set back. */
  age(nowMs: number, nowWallMs: number): number {
    return Math.max(nowMs - this.askedMs, nowWallMs - this.askedWallMs)
  }
}

export const emptyBatch = new Batch(new BigUint64Array(0), 0, 0)
