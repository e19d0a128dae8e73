/** The arithmetic of slots of one layout: `tick << sequenceBits | sequence`, in up to 64 bits, so a bigint. */
export class Slots {
  /** How many sequence numbers a tick has. */
  readonly capacity: number
  readonly #bits: bigint
  readonly #sequenceBits: number

  constructor(sequenceBits: number) {
    this.capacity = 2 ** sequenceBits
    this.#bits = BigInt(sequenceBits)
    this.#sequenceBits = sequenceBits
  }

  at(tick: number, sequence: number): bigint {
    return (BigInt(tick) << this.#bits) + BigInt(sequence)
  }

  tickOf(slot: bigint): number {
    return Number(slot >> this.#bits)
  }

  sequenceOf(slot: bigint): number {
    return Number(BigInt.asUintN(this.#sequenceBits, slot))
  }
}

/** Consecutive slots that a reservation has passed over. The sequence carries into the next tick. */
export interface SlotRange {
  /** Tick and sequence number of the first slot. */
  tick: number
  sequence: number
  count: number
}
