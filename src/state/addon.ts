import type { IdArray, Reservation } from './engine.js'
import type { Identity } from './key.js'

/**
 * The functions of the addon (`native/binding/addon.cc`, `calls.h`). They read everything but their arguments
 * from the mailbox.
 */
export interface Binding {
  readonly mailbox: ArrayBuffer
  next(): void
  observe(): void
  exceed(): void
  grant(): void
  grantUnused(): void
  close(): void
  /** Returns the round that it waited for; the outcome is in the mailbox. */
  awaitCeiling(round: number, blockMs: number): number
  fill(array: IdArray, from: number, to: number): number
  /** Writes numbers that ascend by a stride, without a generator; returns whether it has done so. */
  writeNumbers(array: IdArray, from: number, to: number, first: bigint, stride: number): boolean | undefined
  /**
   * Writes ids as UUIDs to the front of an array, and stops before an id whose time or node differs from
   * those of the first. Returns how many it has written.
   *
   * @param frame - The fields of `UuidFrame` (`native/core/uuid.h`).
   */
  writeUuids(
    ids: BigUint64Array,
    from: number,
    to: number,
    frame: BigUint64Array,
    random: Int32Array,
    uuids: Uint8Array,
  ): number | undefined
  /** Returns the text of the UUID whose bits are in the mailbox. */
  uuidText(): string | undefined
  /**
   * Opens a generator, which lives as long as the result. Its handle is in the mailbox. `undefined` if there
   * is a fault.
   */
  open(options: object): unknown
  /**
   * Opens a view of a generator, whose ids have these bits, too. Its handle is in the mailbox. `undefined` if
   * the generator is closed.
   */
  view(tagBits: bigint): unknown
  /** The fault of the last call that could not use a state. */
  fault(): Fault
  /**
   * The path of the page in which the generator counts, if it does not count in memory of the process; and
   * its last reservation, of which a closed generator has only the number 0.
   */
  report(): { readonly path?: string; readonly number: number } & Partial<Reservation>
  /** Closes every generator of this thread whose state is a file. */
  closeFiles(): void
  /** Returns the former word; `undefined` if there is a fault, or if the generator is closed. */
  raiseFloor(slot: bigint, highTick: number, observedTick: number): bigint | undefined
  /** False if the generator is closed, or its ceiling is not external. */
  raiseCeiling(slot: bigint): boolean
  /** Reads the system's clock; milliseconds since 1970. */
  wallMs(): number
  /** Writes the generation of the machine (`native/core/generation.h`) into the mailbox. */
  generation(): void
  /** Changes the generation of the machine for this process. */
  raiseGeneration(): void
  /** The path of the device that announces copies of the machine; empty without one. */
  generationDevice(): string
  /**
   * Writes a number if the key has none in this process; returns the number that is there afterwards. 0 only
   * reads.
   */
  keepEngine(key: string, engine: number): number
}

/** Why the native engine cannot open or use a state (`native/host/fault.h`). */
export interface Fault {
  /** One of `faultKinds` of `src/engine/native/fault.ts`. */
  readonly kind: number
  /** The number of a system call's error, and the system's text for it. */
  readonly error: number
  readonly reason: string
  readonly call: string
  readonly path: string
  /** One of `faultSubjects` there. */
  readonly subject: number
  /** A phrase for the message of an unsafe, damaged or lost state: what is wrong, or what happened to it. */
  readonly detail: string
  /** The ids of a state that is for other ids. */
  readonly found: Identity
  /** The format of a state of another version. */
  readonly format: number
  /** Milliseconds until the next tick, if the state has no slot before. */
  readonly waitMs: number
}
