/** The holder of a claim, and the ids it is for. */
export interface Claimant {
  /** Names the state; equal keys share one word. */
  readonly key: string
  /** The layout with its names; JSON. */
  readonly description: string
  /** Tells claimants of one process apart that share no memory. */
  readonly token: string
}

/** A claim that was taken. */
export interface Claimed {
  /** Number of the claim's latest step, by which {@link Claims.isHeld} finds it. */
  readonly step: number
  /** The claimant had the key already, so its own memory has the word. */
  readonly isOwn: boolean
  /** Without that memory, no slot below it may be issued; `undefined` where no former holder is known. */
  readonly floor: bigint | undefined
  /** No slot from it on may be issued. */
  readonly ceiling: bigint
}

/** The clock that a claim needs, in slots. */
export interface ClaimClock {
  /** The first slot of the tick that the clock shows. */
  nowSlot(): bigint
  /** The first slot of the tick after this one. */
  slotAfter(tick: number): bigint
  /**
   * The ceiling to write where no slot below `floor` is free.
   *
   * @param isOwn - The claimant has counted up to the floor itself; else it takes over there.
   */
  ceilingFrom(floor: bigint, isOwn: boolean): bigint
}

/**
 * The answer of {@link Claims.take} where the native engine of this process counts the key, in a thread that shares no
 * memory with this one.
 */
export const countedNatively = 'counted natively'

/**
 * The claims of this host (`src/host/claim.ts`). The js engine shares no memory with other processes, so it counts a key only
 * while its process holds the claim. All methods throw GraupelError `ERR_STATE_UNREACHABLE` where another process counts the
 * key, and `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE` or `ERR_STATE_CORRUPT` where the claim cannot be kept.
 */
export interface Claims {
  pathOf(key: string): string
  /** Whether there is a claim of the key, of any process. */
  exists(key: string): boolean
  /** Takes a key, or raises the ceiling of what the claimant has. */
  take(claimant: Claimant, clock: ClaimClock): Claimed | typeof countedNatively
  /** Whether a step is still there, and the claimant's: asked once in a tick, so that a claim that was deleted is noticed. */
  isHeld(claimant: Claimant, step: number): boolean
  /**
   * Gives the key back; `word` is the first slot that was not issued. Does nothing unless `step` is still the latest: another
   * thread of the claimant may have taken the key again.
   */
  release(claimant: Claimant, step: number, word: bigint): void
  /** Makes a native page of a claim: `open` opens it in spite of the claim, and raises its word to the floor. */
  handOver<T>(claimant: Claimant, clock: ClaimClock, open: (floor: bigint) => T): T
  /** 64 random bits. */
  randomBits(): bigint
}
