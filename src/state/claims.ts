import type { Identity } from './key.js'

/** The holder of a claim, and the ids that the claim is for. */
export interface Claimant extends Identity {
  /** Names the memory that has the word. Threads that share no memory are different owners. */
  readonly owner: string
}

/** A claim that was taken. */
export interface Claimed {
  /** The link that the threads had when the claim was read. */
  readonly from: number
  /** The claim's latest link, by which {@link Claims.isHeld} finds it. */
  readonly link: number
  /** The claimant already held the claim, so its own memory has the word. */
  readonly isOwn: boolean
  /** A claimant that did not hold the claim before issues no slot below the floor. */
  readonly floor: bigint
  /** The claimant issues no slot from the ceiling on. */
  readonly ceiling: bigint
}

/** The fields of a claim that all threads of a claimant share. Another thread may change them at any time. */
export interface Held {
  /**
   * The claim's link: 32 bits of its token, which is random; 0 if the threads never held the claim. Not its
   * number: a claim that was deleted begins with the same numbers again. Set after the floor of a new claim
   * is raised.
   */
  readonly link: number
  /** The first slot that was not issued; 0 if it is not known. */
  readonly word: bigint
  /** The first slot that no thread may issue; 0 if there is none. */
  readonly ceiling: bigint
}

/** A link that leaves the key to the page. */
export interface PageLink {
  /** The name of the link's file, and the name that its successor would have. */
  readonly claimLink: string
  readonly claimNext: string
  /** The page issues no slot below it. */
  readonly claimFloor: bigint
}

/** A clock that is read in slots (`src/engine/slots.ts`). */
export interface ClaimClock {
  /** The first slot of the tick that the clock shows. */
  nowSlot(): bigint
  /** The first slot that is after `tick` and after the tick that the clock shows. */
  slotAfter(tick: number): bigint
  /**
   * The ceiling of a link whose process issues slots from `floor` on. @param isOwn - As in {@link Claimed}.
   */
  ceilingFrom(floor: bigint, isOwn: boolean): bigint
  /** The first slot that the layout does not have. */
  readonly endSlot: bigint
  readonly maxTick: number
}

/**
 * The claims of this host (`src/host/claim.ts`). The js engine shares no memory with other processes, so it
 * counts a key only while its process holds the key's claim. Methods throw GraupelError
 * `ERR_STATE_UNREACHABLE` if another process counts the key, and `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`,
 * `ERR_STATE_MISMATCH` or `ERR_STATE_CORRUPT` if the claim, or the page beside the claim, cannot be used.
 */
export interface Claims {
  pathOf(key: string): string
  /**
   * Takes a key, or raises the ceiling of a claim that the claimant holds.
   *
   * @param held - Read while the claim is taken.
   * @param wanted - A slot that the claimant wants to issue: the ceiling is above it.
   */
  take(claimant: Claimant, clock: ClaimClock, held: Held, wanted: bigint): Claimed
  /**
   * Whether a link of the claimant still exists. Called once in a tick, so that a deletion of the claim is
   * noticed.
   */
  isHeld(claimant: Claimant, link: number): boolean
  /**
   * Gives the key back; `word` is the first slot that was not issued. Does nothing unless `link` is still the
   * latest link, because another thread of the claimant may have taken the key again.
   */
  release(claimant: Claimant, link: number, word: bigint): void
  /**
   * Leaves the key of the claim at a path to the page beside it; `undefined` if there is no claim any more.
   */
  giveToPage(path: string, ids: Identity, clock: ClaimClock): PageLink | undefined
  /** 64 random bits. */
  randomBits(): bigint
}
