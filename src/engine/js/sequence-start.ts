import { type SequenceStartMode, startModes } from '../engine.js'

/**
 * The sequence number with which a new tick begins; `native/core/sequence_start.h` in TypeScript, to the bit.
 *
 * Only the lower half of the sequence is begun with, so that at least half of a tick's capacity is left.
 */
export class SequenceStart {
  readonly #mode: number
  readonly #half: number
  #random: number

  /** One for all generators that begin with zero, because it has no state. */
  static readonly #zero = new SequenceStart('zero', 0, 1)

  static of(mode: SequenceStartMode, seed: number, sequenceBits: number): SequenceStart {
    return mode === 'zero' ? SequenceStart.#zero : new SequenceStart(mode, seed, sequenceBits)
  }

  private constructor(mode: SequenceStartMode, seed: number, sequenceBits: number) {
    this.#mode = startModes[mode]
    this.#half = sequenceBits === 1 ? 2 : 2 ** (sequenceBits - 1)
    this.#random = seed === 0 ? 1 : seed >>> 0
  }

  /** @param next - Sequence number of the state word. */
  first(next: number): number {
    if (this.#mode === startModes.zero) return 0
    if (this.#mode === startModes.rotate) return next < this.#half ? next : 0
    // Marsaglia's xorshift32 (Journal of Statistical Software 8/14, 2003).
    this.#random ^= this.#random << 13
    this.#random ^= this.#random >>> 17
    this.#random ^= this.#random << 5
    this.#random >>>= 0
    return this.#random % this.#half
  }
}
