import { show } from '../core/errors.js'
import type { Layout } from '../layout/index.js'
import { writeRun } from '../numbers/row.js'
import type { IdArray } from '../state/engine.js'
import { orderIn } from './replays.js'

/**
 * The media type of runs, and the bytes of one: `first` in 8, `count` and `stride` in 4 each, all
 * little-endian and unsigned.
 */
export const runsType = 'application/vnd.graupel.runs'
export const bytesOfRun = 16

/**
 * Runs of consecutive numbers, as the service sends them: `count` numbers, from `first` up by `stride`. They
 * are written out once.
 */
export class Runs {
  /** How many runs. */
  readonly length: number
  readonly #view: DataView
  /** How many numbers were written out; the run that comes next, and how many of its numbers were. */
  #written = 0
  #run = 0
  #ofRun = 0

  constructor(bytes: Uint8Array) {
    this.length = bytes.length / bytesOfRun
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  first(run: number): bigint {
    return this.#view.getBigUint64(run * bytesOfRun, true)
  }

  count(run: number): number {
    return this.#view.getUint32(run * bytesOfRun + 8, true)
  }

  stride(run: number): number {
    return this.#view.getUint32(run * bytesOfRun + 12, true)
  }

  last(run: number): bigint {
    return this.#at(run, this.count(run) - 1)
  }

  get written(): number {
    return this.#written
  }

  /**
   * Writes the next numbers to `array[from]` up to, but not including, `array[to]`. There must be so many.
   */
  write(array: IdArray, from: number, to: number): void {
    this.#written += to - from
    for (let at = from; at < to; ) {
      const length = this.count(this.#run)
      const count = Math.min(to - at, length - this.#ofRun)
      writeRun(array, at, count, this.#at(this.#run, this.#ofRun), this.stride(this.#run))
      at += count
      this.#ofRun += count
      if (this.#ofRun < length) continue
      this.#run++
      this.#ofRun = 0
    }
  }

  /** Leaves out the numbers up to `id` that come next, where all ascend. Returns how many were left out. */
  skip(id: bigint): number {
    const before = this.#written
    while (this.#run < this.length && this.last(this.#run) <= id) {
      this.#written += this.count(this.#run) - this.#ofRun
      this.#run++
      this.#ofRun = 0
    }
    if (this.#run < this.length && this.#at(this.#run, this.#ofRun) <= id) {
      const index = Number((id - this.first(this.#run)) / BigInt(this.stride(this.#run))) + 1
      this.#written += index - this.#ofRun
      this.#ofRun = index
    }
    return this.#written - before
  }

  /** Whether one of the first `end` numbers has 64 bits, so that it is negative in a BigInt64Array. */
  hasNegative(end: number): boolean {
    for (let run = 0, at = 0; at < end; at += this.count(run), run++) {
      if (this.#at(run, Math.min(this.count(run), end - at) - 1) >= 2n ** 63n) return true
    }
    return false
  }

  #at(run: number, index: number): bigint {
    return this.first(run) + BigInt(index) * BigInt(this.stride(run))
  }
}

/** Ids of one answer. Each id belongs to this client alone. */
export class Batch {
  readonly runs: Runs
  /** How many ids the runs have. */
  readonly count: number
  /**
   * The time of the request, which is before the ids were made: by a monotonic clock, and by the host's own.
   */
  readonly askedMs: number
  readonly askedWallMs: number
  /**
   * The generation of the machine from before the request: a copy that is made during the request may have
   * its answer, too.
   */
  readonly generation: number
  /** How many ids were left out before the batch was used. */
  skipped = 0

  constructor(runs: Runs, count: number, askedMs: number, askedWallMs: number, generation: number) {
    this.runs = runs
    this.count = count
    this.askedMs = askedMs
    this.askedWallMs = askedWallMs
    this.generation = generation
  }

  /** How many ids are left before the batch is used. */
  get left(): number {
    return this.count - this.skipped
  }

  /** Leaves out the ids up to `id`. Returns how many. */
  skip(id: bigint): number {
    const skipped = this.runs.skip(id)
    this.skipped += skipped
    return skipped
  }

  /**
   * Returns the larger age of two clocks: the monotonic clock stops while a machine sleeps, and the other
   * clock may be set back.
   */
  age(nowMs: number, nowWallMs: number): number {
    return Math.max(nowMs - this.askedMs, nowWallMs - this.askedWallMs)
  }
}

/**
 * Checks the runs of an answer.
 *
 * @param asked - How many numbers they have in all.
 * @param layout - The layout of the ids; `undefined` for numbers of a segment.
 * @returns What is wrong, as a sentence without its subject; `undefined` if nothing is.
 */
export function faultOf(runs: Runs, asked: number, layout: Layout | undefined): string | undefined {
  const bits = layout?.bits ?? 64
  const end = 1n << BigInt(bits)
  // In a run of ids, only the sequence differs.
  const { shift, bits: width } = layout?.sequence ?? { shift: 0, bits: 64 }
  const outside = BigInt.asUintN(64, ~(((1n << BigInt(width)) - 1n) << BigInt(shift)))
  const [tags, node] = [maskOf(layout?.tagFields), maskOf(layout?.nodeFields)]
  const orderOf = layout === undefined ? (id: bigint) => id : orderIn(layout)
  const type = layout === undefined ? 'of a number' : `of layout ${show(layout.name)}`
  let left = asked
  let before = 0n
  for (let run = 0; run < runs.length; run++) {
    const count = runs.count(run)
    const stride = runs.stride(run)
    const first = runs.first(run)
    if (count === 0 || stride === 0) return `has a run of ${count} numbers with stride ${stride}, from ${first} up`
    left -= count
    const last = runs.last(run)
    if (last >= end) return `has a run from ${first} to ${last}, which does not fit the ${bits} bits ${type}`
    if (count > 1 && (((first ^ last) | BigInt(stride)) & outside) !== 0n) {
      return `has a run from ${first} to ${last} by ${stride}, and only the sequence ${type} changes in a run`
    }
    if ((first & tags) !== 0n) return `has a run from ${first}, whose tags are not 0`
    if (((first ^ runs.first(0)) & node) !== 0n) {
      return `has ids of two nodes, such as ${runs.first(0)} and ${first}, and ids of one answer have one`
    }
    if (run > 0 && orderOf(first) <= orderOf(before)) {
      return `has ${first} after ${before}, and numbers of one answer ascend`
    }
    before = last
  }
  return left === 0 ? undefined : `has ${asked - left} numbers, and ${asked} were asked for`
}

/** The bits of some fields. */
function maskOf(fields: readonly { readonly shift: number; readonly bits: number }[] = []): bigint {
  return fields.reduce((mask, { shift, bits }) => mask | (((1n << BigInt(bits)) - 1n) << BigInt(shift)), 0n)
}
