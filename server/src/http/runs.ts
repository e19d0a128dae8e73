import type { Layout } from 'graupel'

/** Numbers that ascend by one stride: `first`, `first + stride`, and so on. */
export interface NumberRun {
  readonly first: bigint
  readonly count: number
  /** From 1 to 2^32 - 1. */
  readonly stride: number
}

/**
 * The bytes of a run: `first` in 8 bytes, `count` and `stride` in 4 bytes each, all little-endian and
 * unsigned.
 */
const bytesOfRun = 16

/** The strides of the numbers that make a run. */
export interface RunRule {
  /** No two numbers that were made by one source are closer. */
  readonly stride: number
  /** The bits that all numbers of a run have in common. */
  readonly fixed: bigint
}

/** Returns the rule for ids: in a run, only the sequence differs. So a run never crosses a tick. */
export function runRuleOf({ sequence }: Layout): RunRule {
  const changing = ((1n << BigInt(sequence.bits)) - 1n) << BigInt(sequence.shift)
  // A stride of 2^32 has no room in a run. With a stride of 1, which changes a fixed bit, each id is a run.
  return { stride: sequence.shift < 32 ? 2 ** sequence.shift : 1, fixed: BigInt.asUintN(64, ~changing) }
}

/** Collects ascending numbers, part by part, as runs. */
export class Runs {
  readonly #done: NumberRun[] = []
  readonly #rule: RunRule
  readonly #stride: bigint
  #first = 0n
  #last = 0n
  #count = 0

  constructor(rule: RunRule) {
    this.#rule = rule
    this.#stride = BigInt(rule.stride)
  }

  add(numbers: BigUint64Array): void {
    for (let at = 0; at < numbers.length; ) {
      const next = numbers[at] as bigint
      if (this.#count === 0 || next - this.#last !== this.#stride || !this.#isBeside(next)) {
        this.#finish()
        this.#first = next
      }
      const end = this.#endOf(numbers, at)
      this.#count += end - at
      this.#last = numbers[end - 1] as bigint
      at = end
    }
  }

  /** Returns the runs of all numbers that were added. */
  all(): readonly NumberRun[] {
    this.#finish()
    return this.#done
  }

  #finish(): void {
    if (this.#count > 0) this.#done.push({ first: this.#first, count: this.#count, stride: this.#rule.stride })
    this.#count = 0
  }

  #isBeside(number: bigint): boolean {
    return ((number ^ this.#first) & this.#rule.fixed) === 0n
  }

  /**
   * Returns the index behind the numbers that ascend by the stride from index `at` on. It looks at few of
   * them: numbers are at least a stride apart, so those between two numbers are consecutive if the two are as
   * many strides apart as places.
   */
  #endOf(numbers: BigUint64Array, at: number): number {
    const from = numbers[at] as bigint
    const reaches = (index: number) => {
      const number = numbers[index] as bigint
      return number - from === BigInt(index - at) * this.#stride && this.#isBeside(number)
    }
    if (reaches(numbers.length - 1)) return numbers.length
    let within = at
    let width = 1
    while (within + width < numbers.length && reaches(within + width)) {
      within += width
      width *= 2
    }
    let beyond = Math.min(within + width, numbers.length - 1)
    while (beyond - within > 1) {
      const middle = (within + beyond) >> 1
      if (reaches(middle)) within = middle
      else beyond = middle
    }
    return beyond
  }
}

/** Writes runs as bytes. */
export function bytesOfRuns(runs: readonly NumberRun[]): Buffer {
  const bytes = Buffer.allocUnsafe(runs.length * bytesOfRun)
  let at = 0
  for (const { first, count, stride } of runs) {
    at = bytes.writeBigUInt64LE(first, at)
    at = bytes.writeUInt32LE(count, at)
    at = bytes.writeUInt32LE(stride, at)
  }
  return bytes
}

/** Writes runs as JSON, with `first` as text. */
export function jsonOfRuns(runs: readonly NumberRun[]): Buffer {
  const parts = runs.map(({ first, count, stride }) => `{"first":"${first}","count":${count},"stride":${stride}}`)
  return Buffer.from(`{"runs":[${parts.join(',')}]}`, 'latin1')
}
