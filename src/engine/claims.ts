/** The holder of a claim, and the ids it is for. */
export interface Claimant {
  /** Names the state; equal keys share one word. */
  readonly key: string
  /** The layout with its names; JSON. */
  readonly description: string
  /** Names the memory that holds the word. Threads that share no memory are different owners. */
  readonly owner: string
}

/** A claim that was taken. */
export interface Claimed {
  /** Number of the claim's latest step, by which {@link Claims.isHeld} finds it. */
  readonly step: number
  /** The claimant held the claim before, so its own memory has the word. */
  readonly isOwn: boolean
  /** A claimant that did not hold the claim before issues no slot below the floor. */
  readonly floor: bigint
  /** The claimant issues no slot from the ceiling on. */
  readonly ceiling: bigint
}

/** What all threads of a claimant share. */
export interface Held {
  /** Number of the step by which they count; 0 if they hold no claim. Set once the floor of a new claim is raised. */
  step: number
  /** The first slot that was not issued; 0 if that is not known. */
  readonly word: bigint
}

/** A step that leaves the key to the page. */
export interface PageStep {
  /** The name of the step's file, and the name that its successor would have. */
  readonly name: string
  readonly next: string
  /** The page issues no slot below it. */
  readonly floor: bigint
}

/** The clock that a claim needs, in slots. */
export interface ClaimClock {
  /** The first slot of the tick that the clock shows. */
  nowSlot(): bigint
  /** The first slot after `tick` and after the tick that the clock shows. */
  slotAfter(tick: number): bigint
  /** The ceiling of a step whose process issues slots from `floor` on. @param isOwn - As in {@link Claimed}. */
  ceilingFrom(floor: bigint, isOwn: boolean): bigint
  /** The first slot that the layout does not have. */
  readonly endSlot: bigint
  readonly maxTick: number
}

/**
 * The claims of this host (`src/host/claim.ts`). The js engine shares no memory with other processes, so it counts a key only
 * while its process holds the key's claim. Methods throw GraupelError `ERR_STATE_UNREACHABLE` if another process counts the
 * key, and `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_MISMATCH` or `ERR_STATE_CORRUPT` if the claim, or the page
 * beside it, cannot be used.
 */
export interface Claims {
  pathOf(key: string): string
  /**
   * Takes a key, or raises the ceiling of a claim that the claimant holds.
   *
   * @param held - What all threads of the claimant share.
   */
  take(claimant: Claimant, clock: ClaimClock, held: Held): Claimed
  /** Whether a step of the claimant is still there. Asked once in a tick, so that a deletion of the claim is noticed. */
  isHeld(claimant: Claimant, step: number): boolean
  /**
   * Gives the key back; `word` is the first slot that was not issued. Does nothing unless `step` is still the latest: another
   * thread of the claimant may have taken the key again.
   */
  release(claimant: Claimant, step: number, word: bigint): void
  /** Lets a page count the key of the claim at a path; `undefined` if there is no claim any more. */
  giveToPage(path: string, claimant: Claimant, clock: ClaimClock): PageStep | undefined
  /** 64 random bits. */
  randomBits(): bigint
}
