import { platform } from '#platform'
import { GraupelError } from '../../core/errors.js'
import { endWithin } from '../../core/timing.js'
import { storedFor } from '../http.js'
import { newVersion } from '../record.js'
import type { CheckedBucket } from './bucket.js'

/** What a proof has found out. */
export interface Proof {
  /** Whether the bucket refuses to delete an object whose tag is not the expected tag. */
  readonly deletesByCondition: boolean
}

/** How long a proof may take. It has nine requests. */
const proofMs = 10_000

/**
 * Proves that a bucket enforces conditions, on an object that no other process knows, and then deletes the
 * object. Only answers count: a failure, a lost answer or an object that has gone prove nothing. Each attempt
 * has an object of its own, because a write of the last attempt may still be under way.
 */
export class ConditionProof {
  readonly #bucket: CheckedBucket
  readonly #folder: string
  #proof: Promise<Proof> | undefined
  /** Objects of attempts that have failed. */
  readonly #leftBehind = new Set<string>()

  /** @param folder - The folder of its objects, which has no others. */
  constructor(bucket: CheckedBucket, folder: string) {
    this.#bucket = bucket
    this.#folder = folder
  }

  /**
   * Returns what one attempt has proved. Calls that come meanwhile wait for the same attempt.
   *
   * @throws GraupelError `ERR_STORE_UNSAFE` if the bucket does not enforce conditions; the errors of the
   * bucket if that is not known. The next call makes another attempt.
   */
  async proved(): Promise<Proof> {
    this.#proof ??= endWithin(
      platform,
      proofMs,
      undefined,
      (signal) => this.#prove(signal),
      () => new Error(`${this.#bucket.who} did not prove within ${proofMs / 1000} s that it enforces conditions`),
    )
    const proof = this.#proof
    try {
      return await proof
    } catch (error) {
      if (this.#proof === proof) this.#proof = undefined
      throw error
    }
  }

  async #prove(signal: AbortSignal): Promise<Proof> {
    const bucket = this.#bucket
    for (const name of this.#leftBehind) {
      await bucket.delete(name, undefined, signal)
      this.#leftBehind.delete(name)
    }
    const name = this.#folder + newVersion()
    const none = `${name}-none`
    this.#leftBehind.add(name)
    const first = await this.#mustLand(name, undefined, signal)
    if (await this.#lands(name, undefined, signal)) throw this.#unsafe('writes over an object despite If-None-Match')
    // Lands only if the first object was there all the time, so that it was a reason to refuse.
    const second = await this.#mustLand(name, first.tag, signal)
    if (await this.#lands(name, first.tag, signal)) throw this.#unsafe('writes over an object despite a stale If-Match')
    if (await this.#lands(none, second.tag, signal)) {
      this.#leftBehind.add(none)
      throw this.#unsafe('writes an object that is missing despite If-Match')
    }
    const { found: kept } = await bucket.get(name, signal)
    if (kept === undefined) throw this.#unusable(`lost ${name}, which nobody has deleted`)
    if (kept.text !== second.text) throw this.#unsafe('has changed an object by a write that it refused')
    await bucket.delete(name, first.tag, signal)
    const { found } = await bucket.get(name, signal)
    if (found !== undefined) await bucket.delete(name, second.tag, signal)
    this.#leftBehind.delete(name)
    return { deletesByCondition: found !== undefined }
  }

  /**
   * Makes a write that has to land. A client may repeat a write whose answer was lost, and then conflicts
   * with itself: the object decides.
   */
  async #mustLand(name: string, expected: string | undefined, signal: AbortSignal) {
    const text = storedFor('proof')
    const tag = await this.#bucket.put(name, text, expected, signal)
    if (tag !== undefined) return { text, tag }
    const { found } = await this.#bucket.get(name, signal)
    if (found?.text === text) return found
    throw this.#unusable(
      `refused to write ${expected === undefined ? 'a new object' : 'an object by its ETag'}, ${name}`,
    )
  }

  async #lands(name: string, expected: string | undefined, signal: AbortSignal): Promise<boolean> {
    return (await this.#bucket.put(name, storedFor('not to land'), expected, signal)) !== undefined
  }

  #unusable(fault: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `${this.#bucket.who} ${fault}; look whether a proxy changes ETags, a rule removes objects, or the service refuses quoted ETags, as Ceph does (docs/stores/object.md)`,
    )
  }

  #unsafe(fault: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNSAFE',
      `${this.#bucket.who} ${fault}, so two processes could have one node; use a service that enforces conditional writes (docs/stores/object.md)`,
    )
  }
}
