import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const idBytes = 8

/** What the processes have appended to `file`, and to those that have its name with more behind it. */
export function recordsOf(file: string): BigUint64Array[] {
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(file)))
    .map((name) => readIds(join(dirname(file), name)))
}

export function readIds(file: string): BigUint64Array {
  const bytes = readFileSync(file)
  // Whoever was killed in the middle of an append may have left a part of an id.
  const whole = bytes.length - (bytes.length % idBytes)
  return new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole))
}

/** Takes a part of an id off the end of a file that others go on with; returns how many ids it has. */
export function mendEnd(file: string): number {
  const whole = Math.floor(statSync(file).size / idBytes)
  truncateSync(file, whole * idBytes)
  return whole
}

export function total(arrays: readonly BigUint64Array[]): number {
  return arrays.reduce((sum, { length }) => sum + length, 0)
}

export function duplicatesAmong(arrays: readonly BigUint64Array[]): number {
  const all = new BigUint64Array(total(arrays))
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  all.sort()
  let duplicates = 0
  for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) duplicates++
  return duplicates
}

/** How often an id is not above the one before it. */
export function descentsIn(ids: BigUint64Array): number {
  let descents = 0
  for (let i = 1; i < ids.length; i++) if ((ids[i] as bigint) <= (ids[i - 1] as bigint)) descents++
  return descents
}

/** A source of random numbers from 0 to 1 that starts anew from what it prints: GRAUPEL_SEED in the environment. */
export function seededRandom(purpose: string): () => number {
  const given = process.env['GRAUPEL_SEED']
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given)
  console.info(`${purpose}: GRAUPEL_SEED=${seed}`)
  // Mulberry32.
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
