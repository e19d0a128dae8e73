import { GraupelError } from '../core/errors.js'
import { damagedState, otherFormat, type StateKind, stateFormat } from '../state/errors.js'

// The bytes of pages and state files: docs/state-format.md describes them, native/host writes them, and in
// TypeScript this module alone knows their offsets.

export const magic = 'graupel\n'
export const kinds = { page: 1, file: 2 } as const
/** The exact sizes in bytes. */
export const sizes = { page: 16_384, file: 8192 } as const
/** Enough to see that a file is too long. */
export const maxBytes = 16_385

/** Offsets in the header of pages and state files. */
export const headerAt = {
  format: 8,
  kind: 12,
  lineage: 16,
  bootId: 32,
  keyLength: 72,
  descriptionLength: 76,
  checksum: 84,
  texts: 96,
  end: 3072,
} as const

/** Offsets in a page, after the header. */
export const pageAt = { users: 3072, word: 3968, highTick: 3976, historyAt: 3984, last: 3992, history: 4096 } as const

/** Offsets in an entry of the table at `pageAt.users`. */
const userAt = { pid: 0, pidNamespace: 4, end: 8 } as const

/** Offsets in a state file, after the header. */
export const fileAt = {
  lineage: 4096,
  bootId: 4112,
  intended: 4152,
  durable: 4160,
  word: 4168,
  isClean: 4176,
  checksum: 4180,
} as const

const bootIdBytes = 40

/** The word of a page whose slots another page counts. */
export const sealed = 0xffff_ffff_ffff_ffffn
/** Stands for a pid if there were more processes than entries. */
const tooMany = 0xffff_ffff

interface Common {
  /** The ids that it is for (`src/state/key.ts`). */
  readonly key: string
  /** The layout of the ids with its names. */
  readonly description: string
  /** The lineage of a page, or of the page that has the last id of a state file; 32 hex digits. */
  readonly lineage: string
  readonly bootId: string
}

/** The part of a page that counts slots. */
export interface Counter {
  /** The first slot that was not issued. */
  readonly word: bigint
  readonly isSealed: boolean
  /** The latest tick that the clock has shown to a process that reserved. */
  readonly highTick: bigint
  /** The first slot of the page; or the word with which it was sealed. */
  readonly last: bigint
}

/** A page in memory. */
export interface Page extends Common, Counter {
  readonly kind: 'page'
  readonly hasHistory: boolean
}

/**
 * A file that outlives the memory. Each ceiling is the first slot that may not be issued. A clean close
 * writes the word.
 */
export interface StateFile extends Common {
  readonly kind: 'file'
  readonly intended: bigint
  readonly durable: bigint
  readonly word: bigint
  readonly isClean: boolean
}

export type Stored = Page | StateFile

/** An entry in a page's table of processes. */
export interface PageUser {
  readonly pid: number
  readonly pidNamespace: number
}

/**
 * Reads the bytes of a page or a state file.
 *
 * @throws GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export function parseState(path: string, bytes: Buffer): Stored {
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw noState(path)
  const either = 'page or state file'
  if (bytes.length < headerAt.texts) throw damagedState(either, path, `it has only ${bytes.length} bytes`)
  const format = bytes.readUInt32LE(headerAt.format)
  if (format !== stateFormat) throw otherFormat(either, path, format)
  const number = bytes.readUInt32LE(headerAt.kind)
  const kind = number === kinds.page ? 'page' : number === kinds.file ? 'file' : undefined
  if (kind === undefined) {
    throw damagedState(either, path, `its kind is ${number}, and the kinds are ${kinds.page} and ${kinds.file}`)
  }
  const size = sizes[kind]
  if (bytes.length > size) throw damagedState(names[kind], path, `it has more than ${size} bytes`)
  if (bytes.length < size) throw damagedState(names[kind], path, `it has ${bytes.length} of ${size} bytes`)
  const texts = textsIn(names[kind], path, bytes)
  return kind === 'page' ? parsePage(path, bytes, texts) : parseFile(path, bytes, texts)
}

/**
 * Reads the key in a header; `undefined` if the header is cut off before the key. Does not check the
 * checksum.
 */
export function keyIn(bytes: Buffer): string | undefined {
  if (bytes.length < headerAt.texts) return undefined
  return bytes.toString('utf8', headerAt.texts, headerAt.texts + bytes.readUInt32LE(headerAt.keyLength))
}

/**
 * Whether a layout can have a page's numbers. @param endSlot - The first slot that the layout does not have.
 */
export function hasSoundCounter(
  { word, isSealed, highTick, last }: Counter,
  { endSlot, maxTick }: { readonly endSlot: bigint; readonly maxTick: number },
): boolean {
  return (isSealed || word <= endSlot) && last <= endSlot && highTick <= BigInt(maxTick)
}

function counterIn(bytes: Buffer): Counter {
  const word = bytes.readBigUInt64LE(pageAt.word)
  return {
    word,
    isSealed: word === sealed,
    highTick: bytes.readBigUInt64LE(pageAt.highTick),
    last: bytes.readBigUInt64LE(pageAt.last),
  }
}

/** Reads the processes in a whole page's table, and whether there were more than the table has room for. */
export function usersIn(bytes: Buffer): { readonly users: readonly PageUser[]; readonly hasMore: boolean } {
  const users: PageUser[] = []
  let hasMore = false
  for (let at: number = pageAt.users; at < pageAt.word; at += userAt.end) {
    const pid = bytes.readUInt32LE(at + userAt.pid)
    const pidNamespace = bytes.readUInt32LE(at + userAt.pidNamespace)
    if (pid === tooMany) hasMore = true
    else if (pid !== 0) users.push({ pid, pidNamespace })
  }
  return { users, hasMore }
}

/** Computes the checksum of a header with its key and description, which end at `textsEnd`. */
export function headerChecksum(bytes: Buffer, textsEnd: number): number {
  const { crc32 } = process.getBuiltinModule('node:zlib')
  return crc32(bytes.subarray(headerAt.texts, textsEnd), crc32(bytes.subarray(0, headerAt.checksum)))
}

/** Computes the checksum of a state file's record. */
export function recordChecksum(bytes: Buffer): number {
  return process.getBuiltinModule('node:zlib').crc32(bytes.subarray(fileAt.lineage, fileAt.checksum))
}

/** The error for another file. It does not propose to delete the file, which may be any file of the user. */
function noState(path: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_CORRUPT',
    `${path} does not begin as a page or a state file of graupel; give the path of a page or a state file, or no path for a list of your pages`,
  )
}

const names = { page: 'page', file: 'state file' } as const

type Texts = Pick<Common, 'key' | 'description'>

function textsIn(kind: StateKind, path: string, bytes: Buffer): Texts {
  const keyEnd = headerAt.texts + bytes.readUInt32LE(headerAt.keyLength)
  const end = keyEnd + bytes.readUInt32LE(headerAt.descriptionLength)
  if (end > headerAt.end || bytes.readUInt32LE(headerAt.checksum) !== headerChecksum(bytes, end)) {
    throw damagedState(kind, path, 'the checksum of its first part is wrong')
  }
  return { key: bytes.toString('utf8', headerAt.texts, keyEnd), description: bytes.toString('utf8', keyEnd, end) }
}

function parsePage(path: string, bytes: Buffer, texts: Texts): Page {
  const historyAt = bytes.readBigInt64LE(pageAt.historyAt)
  // The history's distance from the word, which has only one valid value.
  if (historyAt !== 0n && historyAt !== BigInt(pageAt.history - pageAt.word)) {
    throw damagedState('page', path, `its history has the wrong offset ${historyAt}`)
  }
  return { kind: 'page', ...texts, ...memoryIn(bytes, headerAt), ...counterIn(bytes), hasHistory: historyAt !== 0n }
}

function parseFile(path: string, bytes: Buffer, texts: Texts): StateFile {
  if (bytes.readUInt32LE(fileAt.checksum) !== recordChecksum(bytes)) {
    throw damagedState('state file', path, 'the checksum of its record is wrong')
  }
  const [intended, durable] = [bytes.readBigUInt64LE(fileAt.intended), bytes.readBigUInt64LE(fileAt.durable)]
  const isClean = bytes.readUInt32LE(fileAt.isClean)
  if (durable > intended || isClean > 1)
    throw damagedState('state file', path, 'the numbers of its record contradict each other')
  return {
    kind: 'file',
    ...texts,
    ...memoryIn(bytes, fileAt),
    intended,
    durable,
    word: bytes.readBigUInt64LE(fileAt.word),
    isClean: isClean === 1,
  }
}

function memoryIn(bytes: Buffer, at: { lineage: number; bootId: number }): Pick<Common, 'lineage' | 'bootId'> {
  const half = (offset: number) => bytes.readBigUInt64LE(offset).toString(16).padStart(16, '0')
  const bootId = bytes.toString('latin1', at.bootId, at.bootId + bootIdBytes)
  return { lineage: half(at.lineage) + half(at.lineage + 8), bootId: bootId.replace(/\0.*$/s, '') }
}
