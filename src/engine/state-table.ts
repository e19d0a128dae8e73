import { GraupelError } from '../errors.js'

// The memory that all threads of a process share, for the js engine: a hash table of states that only grows. All of
// it is reached by Atomics, whose operations are sequentially consistent, so no order has to be argued for here.
//
//   byte 0   version of this format, 0 while nobody has used the memory
//   byte 4   bytes in use; what lies beyond is free
//   byte 8   a random number that names this memory to other processes; 0 while it is not needed
//   byte 16  4 096 buckets, each the offset of its first record or 0
//   then     records, 8-byte aligned, and histories (src/engine/state.ts)
//
// A record: next record's offset, key's length, history's offset or 0, step of the claim or 0, generators, unused (4 bytes
// each); the state word; the high tick; the ceiling or 0 (8 bytes each); the key in UTF-8.

const version = 2
const buckets = 4096
const bucketsAt = 16
const headerBytes = bucketsAt + buckets * 4
const recordBytes = 48

/** Where, in 4-byte units from its beginning, a record has what. */
const nextAt = 0
const keyLengthAt = 1

/** How large the table may become; address space, not memory, is what it costs before it is used. */
const mostBytes = 256 * 1024 * 1024
const firstBytes = 64 * 1024

/** Makes memory for a {@link StateTable}: shared where the platform has that, private elsewhere (pages that are not isolated). */
export function makeStateMemory(): SharedArrayBuffer | ArrayBuffer {
  const options = { maxByteLength: mostBytes }
  return typeof SharedArrayBuffer === 'function'
    ? new SharedArrayBuffer(firstBytes, options)
    : new ArrayBuffer(firstBytes, options)
}

/** Finds states by key, and makes those that are missing. Any number of threads may do so at once. */
export class StateTable {
  readonly words64: BigUint64Array
  readonly words32: Int32Array
  readonly #memory: SharedArrayBuffer | ArrayBuffer
  readonly #bytes: Uint8Array

  /** @throws GraupelError `ERR_STATE_UNREACHABLE` where another version of the package keeps its states there. */
  constructor(memory: SharedArrayBuffer | ArrayBuffer) {
    this.#memory = memory
    // Without a length these views follow the memory as it grows.
    this.words64 = new BigUint64Array(memory)
    this.words32 = new Int32Array(memory)
    this.#bytes = new Uint8Array(memory)
    Atomics.compareExchange(this.words32, 1, 0, headerBytes)
    const found = Atomics.compareExchange(this.words32, 0, 0, version)
    if (found !== 0 && found !== version) {
      throw new GraupelError(
        'ERR_STATE_UNREACHABLE',
        `another copy of graupel in this process keeps its states in format ${found}, this one reads format ${version}; install one version`,
      )
    }
  }

  /** Tells the memory apart from that of other processes, and of threads that cannot reach it. */
  get token(): string {
    const fresh = crypto.getRandomValues(new BigUint64Array(1))[0] as bigint
    return (Atomics.compareExchange(this.words64, 1, 0n, fresh) || fresh).toString(16)
  }

  /** The offset in bytes of the state for `key`. @throws GraupelError `ERR_STATE_FULL` */
  find(key: string): number {
    const bytes = new TextEncoder().encode(key)
    const bucket = bucketsAt / 4 + (hash(bytes) % buckets)
    let made = 0
    for (;;) {
      const first = Atomics.load(this.words32, bucket)
      for (let at = first; at !== 0; at = Atomics.load(this.words32, at / 4 + nextAt)) {
        if (this.#hasKey(at, bytes)) return at
      }
      // Complete before it is linked, so whoever finds it finds all of it. If somebody linked another record
      // meanwhile, look again: it may be this key's.
      if (made === 0) made = this.#makeRecord(bytes)
      Atomics.store(this.words32, made / 4 + nextAt, first)
      if (Atomics.compareExchange(this.words32, bucket, first, made) === first) return made
    }
  }

  /** Takes zeroed memory, 8-byte aligned; its offset in bytes. @throws GraupelError `ERR_STATE_FULL` */
  allocate(bytes: number): number {
    const size = (bytes + 7) & ~7
    for (;;) {
      const at = Atomics.load(this.words32, 1)
      if (at + size > mostBytes) {
        throw new GraupelError(
          'ERR_STATE_FULL',
          `the states of this process fill ${mostBytes} bytes, as many as there may be; use fewer different namespaces and nodes`,
        )
      }
      this.#growTo(at + size)
      if (Atomics.compareExchange(this.words32, 1, at, at + size) === at) return at
    }
  }

  #makeRecord(key: Uint8Array): number {
    const at = this.allocate(recordBytes + key.length)
    Atomics.store(this.words32, at / 4 + keyLengthAt, key.length)
    this.#bytes.set(key, at + recordBytes)
    return at
  }

  #hasKey(at: number, key: Uint8Array): boolean {
    if (Atomics.load(this.words32, at / 4 + keyLengthAt) !== key.length) return false
    for (let i = 0; i < key.length; i++) {
      if (this.#bytes[at + recordBytes + i] !== key[i]) return false
    }
    return true
  }

  #growTo(bytes: number): void {
    while (this.#memory.byteLength < bytes) {
      const size = Math.min(mostBytes, Math.max(bytes, this.#memory.byteLength * 2))
      try {
        if ('grow' in this.#memory) this.#memory.grow(size)
        else this.#memory.resize(size)
      } catch (cause) {
        // Another thread may have grown it further in between; anything else is out of memory.
        if (this.#memory.byteLength < bytes) {
          throw new GraupelError(
            'ERR_STATE_FULL',
            `the states of this process need ${bytes} bytes, which the system refuses`,
            { cause },
          )
        }
      }
    }
  }
}

/** FNV-1a, 32 bits (draft-eastlake-fnv): only spreads keys over buckets, equality is decided by the key itself. */
function hash(bytes: Uint8Array): number {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
