import { requireAtomics } from '../core/atomics.js'
import { GraupelError } from '../core/errors.js'
import { hash, low } from '../core/typed-array.js'
import { utf8 } from '../core/utf8.js'

// The memory that all threads of a process share, for the js engine: a hash table of states that only grows.
// It is read and written by Atomics, whose operations are sequentially consistent, so their order needs no
// argument.
//
// - byte 0: the version of this format; 0 before the first use
// - byte 4: bytes in use; the rest is free
// - byte 8: a random number that names this memory to other processes; 0 until it is needed
// - byte 16: the generation of the machine, as far as this process knows it
// - byte 24: the engine of this process; 0 before its first generator
// - byte 32: 4 096 buckets, each the offset of its first record or 0
// - then records, 8-byte aligned, and histories (src/engine/js/history.ts)
//
// A record: the next record's offset, the key's length, the fields below, the key in UTF-8.

const version = 8
const buckets = 4096
const generationAt = 16
/** The first generation of the addon, as in `generation_posix.cc`. */
const addonsFirst = 1n << 40n
const engineAt = 24
const bucketsAt = 32
const headerBytes = bucketsAt + buckets * 4
const recordBytes = 56

/** The fields of 4 bytes in a record, in units of 4 bytes from its beginning. */
export const fields32 = {
  next: 0,
  keyLength: 1,
  /** Offset of the history; 0 if there is none. */
  history: 2,
  /** Link of the claim by which the process holds the key; 0 if it never held a claim. */
  link: 3,
  /** Twice the number of generators, and 1 more while the process holds the key's claim. */
  users: 4,
} as const

/** The fields of 8 bytes in a record, in units of 8 bytes from its beginning. */
export const fields64 = {
  word: 3,
  highTick: 4,
  /** 0 if there is none. */
  ceiling: 5,
  /** The latest tick to which observed ids have led the word. */
  observedTick: 6,
} as const

/** The size up to which the table may grow: the size of the memory that a platform makes. */
const maxBytes = 256 * 1024 * 1024

/** Returns the lower 32 bits of the generation of the machine in the memory of a table. */
export function generationIn(memory: SharedArrayBuffer | ArrayBuffer): Int32Array {
  return new Int32Array(memory, generationAt + low * 4, 1)
}

/** Finds states by key, and makes missing states. All threads may use it at once. */
export class StateTable {
  readonly words64: BigUint64Array
  readonly words32: Int32Array
  /**
   * The lower 32 bits of the generation of the machine, which are enough for so many copies. Of a fixed
   * length and read without Atomics: that takes 1 ns, `Atomics.load` 6 ns, and a view that follows the memory
   * 16 ns (Node 20). Each id calls the clock before, so no compiler can read the generation once for several
   * ids.
   */
  readonly generationWord: Int32Array
  readonly #memory: SharedArrayBuffer | ArrayBuffer
  readonly #bytes: Uint8Array

  /**
   * @throws GraupelError `ERR_STATE_UNREACHABLE` if another version of the package keeps its states in this
   * memory, or the runtime has no Atomics.
   */
  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    requireAtomics()
    this.#memory = memory
    // Without a length these views follow the memory as it grows.
    this.words64 = new BigUint64Array(memory)
    this.words32 = new Int32Array(memory)
    this.#bytes = new Uint8Array(memory)
    this.generationWord = generationIn(memory)
    Atomics.compareExchange(this.words32, 1, 0, headerBytes)
    const found = Atomics.compareExchange(this.words32, 0, 0, version)
    if (found !== 0 && found !== version) {
      throw new GraupelError(
        'ERR_STATE_UNREACHABLE',
        `another copy of graupel in this process keeps its states in format ${found}, and this copy reads format ${version}; install one version`,
      )
    }
  }

  /**
   * The name of this memory. Threads that cannot reach the memory have another name, and so do other
   * processes.
   */
  token(randomBits: () => bigint): string {
    const fresh = randomBits()
    return (Atomics.compareExchange(this.words64, 1, 0n, fresh) || fresh).toString(16)
  }

  /**
   * The lower 32 bits of the generation of the machine (`native/core/generation.h`), as far as it is known.
   */
  generation(): number {
    return Atomics.load(this.generationWord, 0) >>> 0
  }

  /** Raises the generation to the addon's, or above each that was known, and above the addon's first. */
  raiseGeneration(to?: number): void {
    const at = generationAt / 8
    this.raise(at, to === undefined ? addonsFirst : BigInt(to))
    if (to === undefined) Atomics.add(this.words64, at, 1n)
  }

  /** The offset in bytes of the state for `key`. @throws GraupelError `ERR_STATE_FULL` */
  find(key: string): number {
    const bytes = utf8(key)
    const bucket = bucketsAt / 4 + (hash(bytes) % buckets)
    let made = 0
    for (;;) {
      const first = Atomics.load(this.words32, bucket)
      for (let at = first; at !== 0; at = Atomics.load(this.words32, at / 4 + fields32.next)) {
        if (this.#hasKey(at, bytes)) return at
      }
      // A record is complete before it is linked, so that a thread never finds a part of it. If another
      // thread has linked a record meanwhile, look again: it may be the record of this key.
      if (made === 0) made = this.#makeRecord(bytes)
      Atomics.store(this.words32, made / 4 + fields32.next, first)
      if (Atomics.compareExchange(this.words32, bucket, first, made) === first) return made
    }
  }

  /**
   * Writes the number of an engine if there is none, and returns the number that is there afterwards. 0 only
   * reads.
   */
  keepEngine(engine: number): number {
    return Atomics.compareExchange(this.words32, engineAt / 4, 0, engine) || engine
  }

  /** Whether this is the first call with a key, in all threads of the process. No generator has the key. */
  isFirst(key: string): boolean {
    return Atomics.add(this.words32, this.find(key) / 4 + fields32.users, 1) === 0
  }

  /** Raises an element of `words64` to a value, if the element is lower. */
  raise(index: number, value: bigint): void {
    for (;;) {
      const seen = Atomics.load(this.words64, index)
      if (seen >= value || Atomics.compareExchange(this.words64, index, seen, value) === seen) return
    }
  }

  /**
   * Allocates zeroed memory, 8-byte aligned, and returns its offset in bytes. @throws GraupelError
   * `ERR_STATE_FULL`
   */
  allocate(bytes: number): number {
    const size = (bytes + 7) & ~7
    for (;;) {
      const at = Atomics.load(this.words32, 1)
      if (at + size > maxBytes) {
        throw new GraupelError(
          'ERR_STATE_FULL',
          `the states of this process fill ${maxBytes} bytes, which is the limit; use fewer namespaces and nodes`,
        )
      }
      this.#growTo(at + size)
      if (Atomics.compareExchange(this.words32, 1, at, at + size) === at) return at
    }
  }

  #makeRecord(key: Uint8Array): number {
    const at = this.allocate(recordBytes + key.length)
    Atomics.store(this.words32, at / 4 + fields32.keyLength, key.length)
    this.#bytes.set(key, at + recordBytes)
    return at
  }

  #hasKey(at: number, key: Uint8Array): boolean {
    if (Atomics.load(this.words32, at / 4 + fields32.keyLength) !== key.length) return false
    for (let i = 0; i < key.length; i++) {
      if (this.#bytes[at + recordBytes + i] !== key[i]) return false
    }
    return true
  }

  #growTo(bytes: number): void {
    while (this.#memory.byteLength < bytes) {
      const size = Math.min(maxBytes, Math.max(bytes, this.#memory.byteLength * 2))
      try {
        if ('grow' in this.#memory) this.#memory.grow(size)
        else this.#memory.resize(size)
      } catch (cause) {
        // Another thread may have grown it further meanwhile. Otherwise the system is out of memory.
        if (this.#memory.byteLength < bytes) {
          throw new GraupelError(
            'ERR_STATE_FULL',
            `the states of this process need ${bytes} bytes, which the system refuses; use fewer namespaces and nodes`,
            { cause },
          )
        }
      }
    }
  }
}
