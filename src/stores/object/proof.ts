import { platform } from '#platform'
import { GraupelError, isGraupelError } from '../../core/errors.js'
import { endWithin } from '../../core/timing.js'
import { storedFor } from '../http.js'
import { newVersion } from '../record.js'
import { type CheckedBucket, ConflictError, type StoredObject } from './bucket.js'

/** The result of a proof. */
export interface Proof {
  /** Whether the bucket refuses to delete an object whose tag is not the expected tag. */
  readonly deletesByCondition: boolean
}

/** Whether an error says that the bucket is not safe, whatever comes later. */
function isUnsafe(error: unknown): boolean {
  return isGraupelError(error) && error.code === 'ERR_STORE_UNSAFE'
}

/** How long a proof may take. It has 13 requests. */
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
   * bucket if that is not known. After an error other than `ERR_STORE_UNSAFE`, the next call makes another
   * attempt: a bucket that enforces conditions only at times would pass one of many.
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
      if (this.#proof === proof && !isUnsafe(error)) this.#proof = undefined
      throw error
    }
  }

  async #prove(signal: AbortSignal): Promise<Proof> {
    await this.#clean(signal)
    try {
      return await this.#proveBy(this.#folder + newVersion(), signal)
    } catch (error) {
      // No other attempt would delete its objects.
      if (isUnsafe(error)) await this.#clean(signal).catch(() => {})
      throw error
    }
  }

  async #proveBy(name: string, signal: AbortSignal): Promise<Proof> {
    const bucket = this.#bucket
    const none = `${name}-none`
    this.#leftBehind.add(name).add(none)
    const first = await this.#mustLand(name, undefined, 2, signal)
    // Lands only if the first object was there all the time, so that it was a reason to refuse the other.
    const second = await this.#mustLand(name, first.tag, 2, signal)
    await this.#mustShow(name, second, first, signal)
    const third = await this.#mustLand(name, second.tag, 1, signal)
    // The tags of two writes may be equal if they have the second and the size.
    if ((await bucket.put(name, storedFor('not to land'), second.tag, signal)) !== undefined) {
      throw this.#unsafe('writes over an object despite a stale If-Match')
    }
    const created = await bucket.put(none, storedFor('not to land'), third.tag, signal)
    // A client that repeats a write which has landed is refused.
    if (created !== undefined || (await bucket.get(none, signal)).found !== undefined) {
      throw this.#unsafe('writes an object that is missing despite If-Match')
    }
    this.#leftBehind.delete(none)
    await this.#mustShow(name, third, second, signal)
    await bucket.delete(name, second.tag, signal)
    // Not a read, which a cache could answer.
    const fourth = await this.#write(name, third.tag, 1, signal)
    // With its tag, because the client of Google repeats no other deletes.
    await bucket.delete(name, fourth?.tag, signal)
    this.#leftBehind.delete(name)
    return { deletesByCondition: fourth !== undefined }
  }

  /** Deletes the objects that are left. */
  async #clean(signal: AbortSignal): Promise<void> {
    for (const name of this.#leftBehind) {
      await this.#bucket.delete(name, undefined, signal)
      this.#leftBehind.delete(name)
    }
  }

  /** Makes writes at once, one of which has to land. */
  async #mustLand(name: string, expected: string | undefined, count: 1 | 2, signal: AbortSignal) {
    const landed = await this.#write(name, expected, count, signal)
    if (landed !== undefined) return landed
    throw this.#unusable(
      `refused to write ${expected === undefined ? 'a new object' : 'an object by its ETag'}, ${name}`,
    )
  }

  /**
   * Makes writes at once, and returns the object of the one that has landed. A client may repeat a write
   * whose answer was lost, and then conflicts with itself: if no write has landed, the object decides.
   *
   * @throws GraupelError `ERR_STORE_UNSAFE` if two have landed
   */
  async #write(
    name: string,
    expected: string | undefined,
    count: 1 | 2,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined> {
    const texts = Array.from({ length: count }, () => storedFor('proof'))
    const put = (text: string) => this.#bucket.put(name, text, expected, signal)
    const landed: StoredObject[] = []
    for (const [i, outcome] of (await Promise.allSettled(texts.map(put))).entries()) {
      const text = texts[i] as string
      if (outcome.status === 'rejected' && !(outcome.reason instanceof ConflictError)) throw outcome.reason
      // No other write is under way now.
      const tag = outcome.status === 'rejected' ? await put(text) : outcome.value
      if (tag !== undefined) landed.push({ text, tag })
    }
    if (landed.length > 1) {
      throw this.#unsafe(
        expected === undefined
          ? 'writes over an object despite If-None-Match'
          : 'lets two writes land that expect the same ETag in If-Match',
      )
    }
    if (landed.length === 1) return landed[0]
    const { found } = await this.#bucket.get(name, signal)
    return found !== undefined && texts.includes(found.text) ? found : undefined
  }

  /** Proves that a read shows a write, and not what was there before. */
  async #mustShow(name: string, { text, tag }: StoredObject, before: StoredObject, signal: AbortSignal) {
    const { found } = await this.#bucket.get(name, signal)
    if (found === undefined) throw this.#unusable(`lost ${name}, which nobody has deleted`)
    if (found.text === before.text) throw this.#unusable(`answered a read of ${name} with its text before a write`)
    if (found.text !== text) throw this.#unsafe('has changed an object by a write that it refused')
    if (found.tag !== tag) throw this.#unusable(`answered a read of ${name} with another ETag than the write`)
  }

  #unusable(fault: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `${this.#bucket.who} ${fault}; look whether a proxy changes ETags or keeps answers, a rule removes objects, or the service refuses quoted ETags, as Ceph does (docs/stores/object.md)`,
    )
  }

  #unsafe(fault: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNSAFE',
      `${this.#bucket.who} ${fault}, so two processes could have one node; use a service that enforces conditional writes (docs/stores/object.md)`,
    )
  }
}
