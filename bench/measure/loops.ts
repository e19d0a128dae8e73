import { high, low } from '../../src/core/typed-array.js'
import type { Foreign, Source, Subject } from '../contract.ts'

// The timed loops. Each loop only makes ids and keeps them. If two builds are in one process, each build has
// an instance of this module, because V8's type feedback from one generator would slow the other.

export interface Loop {
  run(): void | Promise<void>
  /** Returns the kept ids; not timed. */
  ids(): BigUint64Array
}

export type Keep = (source: Source, size: number, subject: Subject) => Loop | undefined

export const keepNext: Keep = (source, size, { isAsync, toId = BigInt }) => {
  if (source.next === undefined) return undefined
  const generator = source as Required<Source>
  if (isAsync) {
    const kept = new Array(size).fill('')
    const run = async () => {
      for (let i = 0; i < kept.length; i++) kept[i] = await generator.next()
    }
    return { run, ids: () => idsOf(kept, toId) }
  }
  const first = generator.next()
  if (typeof first === 'bigint') {
    const kept = new BigUint64Array(size)
    const run = () => {
      for (let i = 0; i < kept.length; i++) kept[i] = generator.next()
    }
    return { run, ids: () => kept }
  }
  const kept = new Array(size).fill(first)
  const run = () => {
    for (let i = 0; i < kept.length; i++) kept[i] = generator.next()
  }
  return { run, ids: () => idsOf(kept, toId) }
}

/**
 * Keeps each id as a bigint, which V8 then has to allocate. An element of a BigUint64Array needs no bigint.
 */
export const keepBigints: Keep = (source, size) => {
  const generator = source as Required<Source>
  const kept = new Array<bigint>(size).fill(generator.next())
  const run = () => {
    for (let i = 0; i < kept.length; i++) kept[i] = generator.next()
  }
  return { run, ids: () => BigUint64Array.from(kept) }
}

export const keepStrings: Keep = (source, size, subject) => {
  if (source.nextString === undefined) return undefined
  const generator = source as Required<Source>
  return keepNext({ next: () => generator.nextString() }, size, { ...subject, toId: BigInt })
}

/** Converts ids, five times as fast as `BigUint64Array.from()`. */
function idsOf(kept: readonly Foreign[], toId: (made: Foreign) => bigint) {
  const ids = new BigUint64Array(kept.length)
  for (let i = 0; i < ids.length; i++) ids[i] = toId(kept[i])
  return ids
}

/** Times a string together with a use of it, because V8 may leave a part of the work to the first reader. */
function keepUsed(source: Source, size: number, subject: Subject, use: (id: string) => string) {
  if (source.nextString === undefined) return undefined
  const generator = source as Required<Source>
  return keepNext({ next: () => use(generator.nextString()) }, size, subject)
}

/** Copies each string to a buffer. */
export const keepWritten: Keep = (source, size, subject) => {
  const buffer = Buffer.alloc(64)
  return keepUsed(source, size, subject, (id) => {
    buffer.write(id, 'latin1')
    return id
  })
}

/**
 * Looks each string up in a Map of 256 other keys. Adding keys would time the growth of the Map, whose
 * garbage makes some batches a third slower.
 */
export const keepAsKeys: Keep = (source, size, subject) => {
  const map = new Map(Array.from({ length: 256 }, (_, i) => [String(2n ** 60n + BigInt(i)), i]))
  return keepUsed(source, size, subject, (id) => {
    if (map.has(id)) throw new Error(`the id ${id} is not new`)
    return id
  })
}

/** Puts each string into JSON. */
export const keepInJson: Keep = (source, size, subject) => {
  const toId = (json: string) => BigInt(JSON.parse(json).id)
  return keepUsed(source, size, { ...subject, toId }, (id) => JSON.stringify({ id }))
}

export const keepNumbers: Keep = (source, size, subject) => {
  if (source.nextNumber === undefined) return undefined
  const generator = source as Required<Source>
  return keepNext({ next: () => generator.nextNumber() }, size, subject)
}

/** Fills arrays of `size` with 65 536 ids in all. */
export const keepFilled: Keep = (source, size) => {
  if (source.fill === undefined) return undefined
  const generator = source as Required<Source>
  const kept = new BigUint64Array(65_536)
  const arrays = Array.from({ length: kept.length / size }, (_, i) => kept.subarray(i * size, (i + 1) * size))
  const run = () => {
    for (const array of arrays) generator.fill(array)
  }
  return { run, ids: () => kept }
}

/** Makes the texts of UUIDs. */
function uuidsOf(source: Source): { next(): string; toId(uuid: string): bigint } | undefined {
  if (source.nextUuid === undefined) return undefined
  const { idOfUuid = BigInt } = source
  const generator = source as Required<Source>
  return { next: () => generator.nextUuid(), toId: idOfUuid as (uuid: string) => bigint }
}

export const keepUuids: Keep = (source, size, subject) => {
  const uuids = uuidsOf(source)
  return uuids && keepNext(uuids, size, { ...subject, toId: uuids.toId })
}

/** Copies each UUID to a buffer. */
export const keepUuidsWritten: Keep = (source, size, subject) => {
  const uuids = uuidsOf(source)
  return uuids && keepWritten({ nextString: uuids.next }, size, { ...subject, toId: uuids.toId })
}

/** Fills an array with 65 536 UUIDs of layout `wide`. */
export const keepUuidsFilled: Keep = (source, size) => {
  if (source.fillUuids === undefined) return undefined
  const generator = source as Required<Source>
  const kept = new Uint8Array(16 * size)
  const run = () => {
    generator.fillUuids(kept)
  }
  const ids = () => {
    const slots = slotsOf(kept)
    const id = generator.idOfUuid(kept.subarray(0, 16))
    if (((id ^ (slots[0] as bigint)) & 0xffffn) !== 0n) throw new Error('the UUIDs are not of layout wide')
    return slots
  }
  return { run, ids }
}

/**
 * Reads times and sequence numbers of UUIDs of layout `wide`: 48 bits of milliseconds, twelve bits of the
 * sequence behind the version, and its last four behind the variant. To decode each UUID would take a hundred
 * times as long as to make it.
 */
function slotsOf(uuids: Uint8Array): BigUint64Array {
  const read = new DataView(uuids.buffer, uuids.byteOffset)
  const slots = new BigUint64Array(uuids.length / 16)
  const halves = new Uint32Array(slots.buffer)
  for (let i = 0; i < slots.length; i++) {
    const word = read.getUint32(16 * i + 4)
    const lower = (word & 0xffff_0000) | ((word & 0xfff) << 4) | ((read.getUint8(16 * i + 8) >> 2) & 15)
    halves[2 * i + high] = read.getUint32(16 * i)
    halves[2 * i + low] = lower
  }
  return slots
}

export const keepFilledAsync: Keep = (source, size) => {
  if (source.fillAsync === undefined) return undefined
  const generator = source as Required<Source>
  const kept = new BigUint64Array(size)
  const run = async () => {
    await generator.fillAsync(kept)
  }
  return { run, ids: () => kept }
}

/** Converts each id, and keeps the results. */
export function keepResults<T>(given: readonly T[], use: (one: T) => unknown) {
  const results = new Array<unknown>(given.length).fill(undefined)
  const run = () => {
    for (let i = 0; i < given.length; i++) results[i] = use(given[i] as T)
  }
  return { run, results }
}

/** Returns whether a subject makes 64-bit ids, which can be checked. */
export function makesIds({ group }: Subject) {
  return group === 'graupel' || group === 'rival'
}
