// Declares `Disposable` for programs whose lib is older than ESNext and that have no @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import { checkVersion } from '../codec/uuid.js'
import { GraupelError, rangeError, show, showByJson, typeError } from '../core/errors.js'
import { readOptions } from '../core/options.js'
import { bufferGetter, byteOffsetGetter, lengthGetter } from '../core/typed-array.js'
import { createGenerator } from '../generator/create.js'
import type { IdGenerator } from '../generator/id-generator.js'
import { type GeneratorOptions, generatorRows } from '../generator/options.js'
import { composeId, type Field, genuineLayout, type Layout, type layouts, optionsElsewhere } from '../layout/index.js'
import { nativeUuids } from '../numbers/addon.js'
import { checkBytes } from '../numbers/array.js'
import { presentGeneration } from '../numbers/generation.js'
import { define, iterate, Numbers } from '../numbers/numbers.js'
import type { UuidVersion } from './bits.js'
import { type DecodedIdUuid, decodeUuid, parseUuid } from './decode.js'
import type { RandomUuidGenerator } from './random.js'
import { uuidWriter } from './writer.js'

/**
 * A source of ids with a layout: a generator, or a client of the id service. If its `engine` is `'js'`,
 * JavaScript writes the UUIDs; otherwise the addon does, if it loads.
 */
export type IdSource = Pick<IdGenerator, 'layout' | 'next' | 'nextAsync' | 'fill' | 'fillAsync' | 'take' | 'close'> &
  Partial<Pick<IdGenerator, 'engine' | 'node' | 'observe'>> & {
    stats(): object
    toJSON?(): object
  }

/** The version of the UUIDs that {@link createUuidGenerator} makes. */
export interface UuidVersionOption {
  /**
   * 7, or 8 for the same bits under another number. RFC 9562 recommends version 8 for UUIDs that name a node.
   * PostgreSQL and others read the time of version 7 only.
   *
   * @default 7
   */
  version?: UuidVersion
}

/** The options of {@link createUuidGenerator}: those of `createGenerator`, and the version. */
export type UuidOptions<F extends readonly Field[] = readonly Field[]> = GeneratorOptions<F> & UuidVersionOption

/**
 * Makes UUIDs, by the calls of a generator of ids. Made by {@link createUuidGenerator}. All calls can be
 * passed as functions: `Array.from({ length: 3 }, uuids.nextBytes)`.
 *
 * @example
 * const uuids = createUuidGenerator({ node: 7 })
 * uuids.next().length // 36
 */
export interface UuidGenerator<S extends IdSource = IdGenerator> extends RandomUuidGenerator, Disposable {
  /** The generator that counts. Its ids and these UUIDs share all slots, so it may be used beside them. */
  readonly ids: S
  /** The version of the UUIDs. */
  readonly version: UuidVersion
  /** Makes one UUID, in small letters. Blocks and throws as `ids.next`. */
  next(this: void): string
  /** Makes one UUID without blocking the event loop, as `ids.nextAsync` does. */
  nextAsync(this: void): Promise<string>
  /**
   * Fills an array with UUIDs of 16 bytes, and returns it. They ascend, if `ids` is a generator. Blocks as
   * `ids.fill`.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`, also if its length is no multiple of 16; as `next`,
   * with `filled`: how many UUIDs are at the front.
   */
  fill<A extends Uint8Array>(this: void, array: A): A
  /**
   * Fills an array without blocking the event loop. Do not use the array before the promise settles. @throws
   * as `fill`; the promise rejects.
   */
  fillAsync<A extends Uint8Array>(this: void, array: A): Promise<A>
  /**
   * Lets the next UUIDs be larger than a UUID that this thread has received, as `ids.observe` does for ids:
   * larger as a text, and as 16 bytes.
   *
   * @param uuid - A UUID of this version and layout, of any node; its text, or 16 bytes.
   * @returns The UUID, in small letters.
   * @throws as `ids.observe`; TypeError `ERR_OPTION_INVALID` if `ids` has no such call.
   */
  observe(this: void, uuid: string | Uint8Array): string
  /** The statistics of `ids`. */
  stats(this: void): ReturnType<S['stats']>
  /** Closes `ids`. */
  close(this: void): void
}

/**
 * Makes a generator of UUIDs (RFC 9562, version 7). Time, node and sequence are those of an id of the same
 * node, so two UUIDs are never equal, whatever their random bits are, and they sort as ids of `ids` do.
 *
 * The random bits, of which there are at least 40, keep them apart from UUIDs of other programs, and make
 * them hard to guess.
 *
 * @param options - The options of `createGenerator`, and `version`; or `ids`, a generator or a client to take
 * the slots from, and `version`.
 * @throws as `createGenerator`; RangeError `ERR_LAYOUT_INVALID` if sequence, node and tags have more than 34
 * bits, or the sequence more than 32.
 * @example
 * const uuids = createUuidGenerator({ node: 7 })
 * decodeUuid(uuids.next(), layouts.twitter).node // 7
 */
export function createUuidGenerator<S extends IdSource>(options: { ids: S } & UuidVersionOption): UuidGenerator<S>
export function createUuidGenerator<const F extends readonly Field[] = layouts.Twitter>(
  options?: UuidOptions<F>,
): UuidGenerator<IdGenerator<F>>
export function createUuidGenerator(given: { ids?: IdSource } & UuidOptions = {}): UuidGenerator<IdSource> {
  if (typeof (given as Partial<IdSource> | null)?.next === 'function') {
    throw typeError('ERR_OPTION_INVALID', 'the options are a generator or a client; pass it as { ids: … }')
  }
  const names = [...Object.keys(generatorRows), 'version', 'ids']
  const { version = 7, ids, ...options } = readOptions(given, names, '{ node: 7 }', optionsElsewhere)
  if ((options.node as unknown) === 'random') {
    throw typeError(
      'ERR_NODE_INVALID',
      "node is 'random'; createRandomUuidGenerator() makes UUIDs without a node",
      'node',
    )
  }
  checkVersion(version)
  if (ids === undefined) {
    const own = createGenerator(options)
    try {
      return new Uuids(own, version)
    } catch (error) {
      own.close()
      throw error
    }
  }
  const [other] = Object.entries(options).find(([, value]) => value !== undefined) ?? []
  if (other !== undefined) {
    throw typeError('ERR_OPTION_INVALID', `${other} is given beside ids, which decides it; leave ${other} out`, other)
  }
  if (typeof ids !== 'object' || ids === null || typeof ids.next !== 'function') {
    throw typeError('ERR_OPTION_INVALID', `ids is ${show(ids)}; pass a generator, or a client of ids`, 'ids')
  }
  return new Uuids(ids, version)
}

/** UUIDs of one `fill` of ids. */
const chunk = 8192

class Uuids implements UuidGenerator<IdSource> {
  readonly ids: IdSource
  readonly version: UuidVersion
  declare readonly next: () => string
  declare readonly nextAsync: () => Promise<string>
  declare readonly nextBytes: (target?: Uint8Array, at?: number) => Uint8Array
  declare readonly fill: <A extends Uint8Array>(array: A) => A
  declare readonly fillAsync: <A extends Uint8Array>(array: A) => Promise<A>
  declare readonly take: (count: number) => string[]
  declare readonly observe: (uuid: string | Uint8Array) => string
  declare readonly stats: () => object
  declare readonly close: () => void
  readonly #writeAll: (ids: BigUint64Array, uuids: Uint8Array) => void

  constructor(ids: IdSource, version: UuidVersion) {
    this.ids = ids
    this.version = version
    showByJson(this, 'UuidGenerator')
    const native = ids.engine === 'js' ? undefined : nativeUuids()
    const { bits, set, setId, write, fill, text } = uuidWriter(genuineLayout(ids.layout as Layout), version, native)
    const { next, nextAsync } = ids
    const nextSet = Numbers.inHalves(ids, set) ?? (() => setId(next()))
    this.#writeAll = fill
    define(this, 'next', Numbers.inHalves(ids, write) ?? (() => text(next())))
    define(this, 'nextAsync', async () => text(await nextAsync()))
    define(this, 'nextBytes', (given?: Uint8Array, position = 0): Uint8Array => {
      const target = given === undefined ? new Uint8Array(16) : given
      // Without an array, the second argument is the index that Array.from() passes.
      const at = given === undefined ? 0 : position
      checkBytes(target, at)
      nextSet()
      // Again, because a user's clock may have transferred it.
      checkBytes(target, at)
      setWord(target, at, bits.word0)
      setWord(target, at + 4, bits.word1)
      setWord(target, at + 8, bits.word2)
      setWord(target, at + 12, bits.word3)
      return target
    })
    define(this, 'fill', <A extends Uint8Array>(array: A) => this.#fill(array))
    define(this, 'fillAsync', <A extends Uint8Array>(array: A) => this.#fillAsync(array))
    define(this, 'take', (count: number) => ids.take(count).map((id) => text(id)))
    define(this, 'observe', (uuid: string | Uint8Array) => this.#observe(uuid))
    define(this, 'stats', () => ids.stats())
    define(this, 'close', () => ids.close())
  }

  #observe(uuid: string | Uint8Array): string {
    const { ids, version } = this
    const layout = ids.layout as Layout
    if (ids.observe === undefined) {
      throw typeError('ERR_OPTION_INVALID', 'ids has no call observe; pass a generator or a client as ids', 'ids')
    }
    const text = parseUuid(uuid)
    const seen = decodeUuid(text, layout)
    if (seen.version !== version) {
      throw rangeError(
        'ERR_ID_INVALID',
        `the UUID ${show(text)} has version ${seen.version}, and not ${version}; observe UUIDs of one version`,
      )
    }
    try {
      ids.observe(ids.node === undefined ? lastOfTick(seen.id, layout) : slotOn(ids.node, seen, layout))
    } catch (error) {
      const { code, message, retryAfterMs, option } = error as GraupelError
      if (code !== 'ERR_CLOCK_SKEW') throw error
      const details = {
        cause: error,
        ...(option !== undefined && { option }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
      throw new GraupelError(code, `the UUID ${show(text)} of node ${seen.node} is refused: as ${message}`, details)
    }
    return text
  }

  #fill<A extends Uint8Array>(array: A): A {
    const count = checkBytes(array)
    const ids = new BigUint64Array(Math.min(count, chunk))
    const generation = presentGeneration()
    const isCopied = () => presentGeneration() !== generation
    for (let done = 0; done < count; done += ids.length) {
      const part = ids.subarray(0, count - done)
      try {
        this.ids.fill(part)
      } catch (error) {
        throw this.#failed(error, ids, array, isCopied() ? undefined : done)
      }
      // The other copies of the machine have the UUIDs of the parts before.
      if (isCopied()) return this.#fill(array)
      this.#write(part, array, 16 * done)
    }
    return array
  }

  async #fillAsync<A extends Uint8Array>(array: A): Promise<A> {
    const count = checkBytes(array)
    // All at once, because another call may take ids while this one waits.
    const ids = new BigUint64Array(count)
    try {
      await this.ids.fillAsync(ids)
    } catch (error) {
      throw this.#failed(error, ids, array, 0)
    }
    this.#write(ids, array, 0)
    return array
  }

  [Symbol.iterator](): IterableIterator<string> {
    return iterate(() => this.next())
  }

  [Symbol.dispose](): void {
    this.close()
  }

  toJSON(): object {
    return { version: this.version, ...this.ids.toJSON?.() }
  }

  /** Writes the UUIDs of ids to an array, from a byte on. */
  #write(ids: BigUint64Array, array: Uint8Array, at: number): void {
    // Again, because the array may have been transferred since the ids were asked for, for example by a
    // user's clock.
    checkBytes(array)
    // An array of our own, because a subclass could hide the elements.
    const uuids = new Uint8Array(bufferGetter.call(array), byteOffsetGetter.call(array) + at, 16 * ids.length)
    this.#writeAll(ids, uuids)
  }

  /** Writes and counts the UUIDs from before an error. @param done - `undefined` if none counts. */
  #failed(error: unknown, ids: BigUint64Array, array: Uint8Array, done: number | undefined): unknown {
    const { filled } = Object(error) as { filled?: number }
    if (filled === undefined) return error
    if (done === undefined) return Object.assign(error as object, { filled: 0 })
    // An array that was transferred meanwhile has no room.
    const count = Math.min(done + filled, lengthGetter.call(array) / 16)
    if (count > done) this.#write(ids.subarray(0, count - done), array, 16 * done)
    Object.assign(error as object, { filled: count })
    return error
  }
}

/**
 * The id of a node that has the tick and the sequence of a UUID. In a UUID the sequence stands before node
 * and tags, so the next UUID needs a later number than this one has, and may keep its tick.
 */
function slotOn(node: number, { timestampMs, sequence }: DecodedIdUuid, layout: Layout): bigint {
  const tags = Object.fromEntries(layout.tagFields.map(({ name }) => [name, 0]))
  return composeId({ timestampMs, sequence, node, tags }, layout)
}

/** The largest id of a tick. The next ids of a client may be of any node, so they need a later tick. */
function lastOfTick(id: bigint, { timestamp }: Layout): bigint {
  return id | ((1n << BigInt(timestamp.shift)) - 1n)
}

/** Writes a word, the most significant byte first. */
function setWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}
