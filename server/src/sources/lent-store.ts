import { randomUUID } from 'node:crypto'
import { GraupelError, isGraupelError } from 'graupel'
import type { Store } from 'graupel/stores'
import type { Load } from '../http/load.js'

/** How long a call of the store may take. Less than the default limit of a client's call, 2 s. */
const callMs = 1800

/** The record that names the store. No token may write in its folder. */
const identityKey = 'service/store'

/**
 * The store of the service as clients use it: with a deadline for each call, a bound for the calls under way,
 * and a name of its own.
 */
export class LentStore {
  readonly store: Store
  readonly #load: Load
  #identity: Promise<string> | undefined

  constructor(store: Store, load: Load) {
    this.store = store
    this.#load = load
  }

  /**
   * Makes a call of the store.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` if the outcome is not known; errors of this package. Problem
   * `ERR_OVERLOADED`
   */
  async call<T>(run: (store: Store, signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#load.enter()
    const signal = AbortSignal.timeout(callMs)
    try {
      return await Promise.race([run(this.store, signal), rejectedBy(signal)])
    } catch (error) {
      if (isGraupelError(error)) throw error
      throw new GraupelError('ERR_STORE_UNAVAILABLE', `the store '${this.store.name}' failed: ${error}`, {
        cause: error,
      })
    } finally {
      this.#load.leave()
    }
  }

  /**
   * Returns the name of the records, by which a client notices that two servers lend two stores. A store that
   * forgets would get another name, so it has none.
   *
   * @throws as `call`
   */
  async identity(): Promise<string | undefined> {
    if (!this.store.durable) return undefined
    this.#identity ??= this.call(identityOf)
    try {
      return await this.#identity
    } catch (error) {
      this.#identity = undefined
      throw error
    }
  }
}

async function identityOf(store: Store, signal: AbortSignal): Promise<string> {
  const found = await store.read(identityKey, signal)
  if (found !== undefined) return found.value
  // Another server may be faster, so what counts is the record.
  await store.write(identityKey, randomUUID(), undefined, signal)
  const written = await store.read(identityKey, signal)
  if (written === undefined) throw new Error(`the record ${identityKey} was written and is not there`)
  return written.value
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${callMs} ms`)))
  })
}
