import { closedError, GraupelError, rangeError, typeError } from '../core/errors.js'
import { high } from '../core/halves.js'
import type { Clock } from '../core/timing.js'
import type { IdArray } from '../engine/engine.js'
import { checkCount, checkIdArray, copyIds, isSigned, lengthOf, signError } from '../generator/array.js'
import { endless, inspectWith } from '../generator/object.js'
import { fillInTurn, Turns } from '../generator/turns.js'
import { type DecodedId, decode, type Field, type Layout } from '../layout/index.js'
import type { BaseClient, ClientStats } from './id-client.js'
import { makersOf } from './makers.js'
import type { Choice } from './options.js'
import { Prefetched } from './prefetched.js'
import { Replays } from './replays.js'
import { Requests } from './request.js'
import { Servers } from './server.js'
import { objectOf, Supply } from './supply.js'

/** Waits for ids. @param wanted - How many the call needs. */
type Arrival = (wanted: number) => Promise<void>

/** The class behind {@link connect}. @internal */
export class Client implements BaseClient {
  declare readonly next: () => bigint
  declare readonly nextNumber: () => number
  declare readonly nextString: () => string
  declare readonly nextAsync: () => Promise<bigint>
  readonly #choice: Choice
  readonly #prefetched: Prefetched
  readonly #servers: Servers
  readonly #supply: Supply
  readonly #turns = new Turns()
  #isClosed = false

  constructor(choice: Choice, clocks: Clock) {
    this.#choice = choice
    this.#prefetched = new Prefetched({ ...choice, clocks }, () => this.#supply.ask())
    this.#servers = new Servers(choice.urls, clocks.random())
    this.#supply = new Supply({
      choice,
      clocks,
      requests: new Requests(choice, clocks, new Replays(choice.layout)),
      servers: this.#servers,
      prefetched: this.#prefetched,
    })
    const { layout } = choice
    const methods = {
      ...makersOf(this.#prefetched, () => this.#refill()),
      ...(layout !== undefined && layout.bits > 53 && { nextNumber: refuseNumbers(layout) }),
      nextAsync: () => this.#nextAsync(),
    }
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true })
    }
  }

  /** Waits for the first ids. @throws GraupelError as `nextAsync` */
  begin(): Promise<void> {
    return this.#inTurn(async (wait) => {
      if (!this.#look(1)) await wait(1)
    })
  }

  get layout(): Layout {
    return this.#choice.layout as Layout
  }

  fill<A extends IdArray>(array: A): A {
    this.#checkArray(array)
    for (let at = 0; at < lengthOf(array); ) {
      try {
        this.#refill()
        at += this.#write(array, at)
      } catch (error) {
        throw Object.assign(error as Error, { filled: at })
      }
    }
    return array
  }

  async fillAsync<A extends IdArray>(array: A): Promise<A> {
    this.#checkArray(array)
    if (lengthOf(array) === 0) return array
    return fillInTurn(
      array,
      (fill: (wait: Arrival) => Promise<void>) => this.#inTurn(fill),
      (missing, wait) => (this.#look(missing) ? undefined : wait(missing)),
      (at) => this.#write(array, at),
    )
  }

  take(count: number): bigint[] {
    checkCount(count)
    return Array.from(this.fill(new BigUint64Array(count)))
  }

  [Symbol.iterator](): IterableIterator<bigint> {
    return endless(this)
  }

  decode(id: bigint | string): DecodedId<readonly Field[]> {
    if (this.#choice.layout !== undefined) return decode(id, this.#choice.layout)
    throw typeError('ERR_OPTION_INVALID', `numbers of the segment '${this.#choice.segment}' have no layout to decode`)
  }

  stats(): ClientStats {
    const servers = this.#servers.all.map((server) => server.stats())
    const sum = (name: 'requests' | 'failures') => servers.reduce((total, server) => total + server[name], 0)
    return {
      issued: this.#prefetched.issued,
      left: this.#prefetched.left,
      dropped: this.#prefetched.dropped,
      count: this.#supply.step,
      batches: this.#supply.batches,
      requests: sum('requests'),
      failures: sum('failures'),
      failure: this.#supply.failure?.message ?? '',
      servers,
    }
  }

  toJSON() {
    const { urls, layout, segment } = this.#choice
    return { urls, ...(layout === undefined ? { segment } : { layout: layout.name }) }
  }

  [inspectWith](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `IdClient ${inspect(this.toJSON(), options)}`
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#prefetched.clear()
    this.#supply.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** Whether there are ids; asks for more where it is time. */
  #look(wanted: number): boolean {
    if (this.#isClosed) throw closedError(objectOf(this.#choice))
    const found = this.#prefetched.look()
    if (found !== 'some') this.#supply.ask(found === 'none' ? wanted : 0)
    return found !== 'none'
  }

  /** @throws as `next`, where none is left. */
  #refill(): void {
    if (this.#look(1)) return
    const { failure } = this.#supply
    if (failure !== undefined) throw againOf(failure)
    throw new GraupelError(
      'ERR_EMPTY',
      `${objectOf(this.#choice)} has no id ready: the next ids come in a later turn of the event loop; await nextAsync()`,
    )
  }

  async #nextAsync(): Promise<bigint> {
    if (this.#turns.isEmpty && this.#look(1)) return this.next()
    return this.#inTurn(async (wait) => {
      // Looked at in the turn in which it is taken: what has come may go to a call of next() before this one goes on.
      while (!this.#look(1)) await wait(1)
      return this.next()
    })
  }

  /** Runs a call after those that were made before it. */
  #inTurn<T>(call: (wait: Arrival) => Promise<T>): Promise<T> {
    return this.#turns
      .take((wait) => call((wanted) => wait(() => this.#supply.arrival(wanted))))
      .catch((error) => {
        // A failure is told to all calls that wait for it, each with an error of its own.
        throw againOf(error)
      })
  }

  #checkArray(array: unknown): asserts array is IdArray {
    checkIdArray(array)
    if (this.#isClosed) throw closedError(objectOf(this.#choice))
  }

  /** Writes what the batch has, from a place of the array on; how many. */
  #write(array: IdArray, at: number): number {
    const { ids, halves, at: from } = this.#prefetched
    const count = Math.min(ids.length - from, lengthOf(array) - at)
    if (isSigned(array, this.#choice.layout ?? { bits: 64 })) {
      for (let i = from; i < from + count; i++) {
        if ((halves[2 * i + high] as number) >= 2 ** 31) throw this.#signError(ids[i] as bigint)
      }
    }
    copyIds(array, ids.subarray(from, from + count), at)
    this.#prefetched.skip(count)
    if (this.#prefetched.isLate) this.#supply.ask()
    return count
  }

  #signError(id: bigint): Error {
    const { layout } = this.#choice
    if (layout !== undefined) return signError(layout)
    const text = `the number ${id} is negative in a BigInt64Array; pass a BigUint64Array`
    return rangeError('ERR_ARRAY_INVALID', text)
  }
}

/** For layouts whose ids do not fit a number: the call of every id is refused, and not only of those that are large already. */
function refuseNumbers({ name, bits }: Layout): () => never {
  return () => {
    throw rangeError(
      'ERR_NUMBER_UNSAFE',
      `ids of layout '${name}' have ${bits} bits, a number holds 53; use next() or nextString(), or layouts.js53`,
    )
  }
}

/** The same failure as an error that no other call has, because each may get `filled`. */
function againOf(failure: unknown): unknown {
  if (!(failure instanceof GraupelError)) {
    const { code, message } = Object(failure)
    // Those of the token.
    if (failure instanceof TypeError) return typeError(code, message)
    return failure instanceof RangeError ? rangeError(code, message) : failure
  }
  const { code, message, status, retryAfterMs } = failure
  return new GraupelError(code, message, {
    cause: failure.cause ?? failure,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
