import { type ErrorCode, GraupelError } from '../core/errors.js'
import { stateFormat } from '../engine/fault.js'

// The bytes of pages and state files: docs/state-format.md describes them, native/host writes them, and this module alone of
// the TypeScript knows where they are.

/** The format that this version reads. */
export const format = stateFormat

export const magic = 'graupel\n'
export const kinds = { page: 1, file: 2 } as const
/** Bytes that a whole one has; it is neither longer nor shorter. */
export const sizes = { page: 16_384, file: 8192 } as const
/** Enough to see that a file is too long. */
export const maxBytes = sizes.page + 1

/** Offsets of the header, which pages and state files have alike. */
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

/** Offsets of what follows in a page. */
export const pageAt = { users: 3072, word: 3968, highTick: 3976, historyAt: 3984, last: 3992, history: 4096 } as const

/** Offsets in one of the entries from `pageAt.users` on. */
const userAt = { pid: 0, pidNamespace: 4, end: 8 } as const

/** Offsets of what follows in a state file. */
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

/** The word of a page whose slots are counted in another one. */
export const sealed = 2n ** 64n - 1n
/** In place of a pid: there were more processes than entries. */
const tooMany = 0xffff_ffff

interface Common {
  /** Which ids it is for (`src/engine/key.ts`). */
  readonly key: string
  /** Their layout with its names. */
  readonly description: string
  /** A page's own; or the lineage of the page that has the last id of a state file. 32 hex digits. */
  readonly lineage: string
  readonly bootId: string
}

/** What a page says of the slots that were issued. */
export interface Counter {
  /** The first slot that was not issued. */
  readonly word: bigint
  readonly isSealed: boolean
  /** The latest tick that the clock has shown to a process that reserved. */
  readonly highTick: bigint
  /** Where the page begins; or the word with which it was sealed. */
  readonly last: bigint
}

/** A page in memory. */
export interface Page extends Common, Counter {
  readonly kind: 'page'
  readonly hasHistory: boolean
}

/** A file that outlives the memory. Both ceilings are the first slot that may not be issued; the word is of a clean close. */
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
 * What the bytes of a page or a state file say.
 *
 * @throws GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export function parseState(path: string, bytes: Buffer): Stored {
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw noState(path)
  if (bytes.length < headerAt.texts) throw damaged(path, `it has only ${bytes.length} bytes`)
  const found = bytes.readUInt32LE(headerAt.format)
  if (found !== format) {
    throw fault(
      'ERR_STATE_MISMATCH',
      `${path} has format ${found}, and this version of graupel reads format ${format}; use the version that made it`,
    )
  }
  const number = bytes.readUInt32LE(headerAt.kind)
  const kind = number === kinds.page ? 'page' : number === kinds.file ? 'file' : undefined
  if (kind === undefined) throw damaged(path, `its kind is ${number}, and there are ${kinds.page} and ${kinds.file}`)
  const size = sizes[kind]
  if (bytes.length > size) throw damaged(path, `it has more than ${size} bytes`)
  if (bytes.length < size) throw damaged(path, `it has ${bytes.length} of ${size} bytes`)
  const texts = textsIn(path, bytes)
  return kind === 'page' ? parsePage(path, bytes, texts) : parseFile(path, bytes, texts)
}

/** The key that a header gives; `undefined` where it is cut off before. Its checksum is not looked at. */
export function keyIn(bytes: Buffer): string | undefined {
  if (bytes.length < headerAt.texts) return undefined
  return bytes.toString('utf8', headerAt.texts, headerAt.texts + bytes.readUInt32LE(headerAt.keyLength))
}

/** Whether a page's numbers are such as a layout can have. @param endSlot - The first slot that the layout does not have. */
export function hasSoundCounter(
  { word, isSealed, highTick, last }: Counter,
  { endSlot, maxTick }: { readonly endSlot: bigint; readonly maxTick: number },
): boolean {
  return (isSealed || word <= endSlot) && last <= endSlot && highTick <= BigInt(maxTick)
}

/** What a whole page says of the slots that were issued. */
function counterIn(bytes: Buffer): Counter {
  const word = bytes.readBigUInt64LE(pageAt.word)
  return {
    word,
    isSealed: word === sealed,
    highTick: bytes.readBigUInt64LE(pageAt.highTick),
    last: bytes.readBigUInt64LE(pageAt.last),
  }
}

/** The processes that a whole page names, and whether there were more than it has room for. */
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

/** The checksum of a header and of the key and the description behind it, which end at `textsEnd`. */
export function headerChecksum(bytes: Buffer, textsEnd: number): number {
  const { crc32 } = process.getBuiltinModule('node:zlib')
  return crc32(bytes.subarray(headerAt.texts, textsEnd), crc32(bytes.subarray(0, headerAt.checksum)))
}

/** The checksum of a state file's record. */
export function recordChecksum(bytes: Buffer): number {
  return process.getBuiltinModule('node:zlib').crc32(bytes.subarray(fileAt.lineage, fileAt.checksum))
}

/** The error for a state that is one, or was. */
export function damaged(path: string, detail: string): GraupelError {
  return fault(
    'ERR_STATE_CORRUPT',
    `${path} is damaged: ${detail}; restore it, or use another node, or delete it once the clock has certainly passed the last id`,
  )
}

/** It does not propose a deletion: the file may be any file of the user's. */
function noState(path: string): GraupelError {
  return fault(
    'ERR_STATE_CORRUPT',
    `${path} does not begin as a page or a state file of graupel; give the path of one, or none for a list of your pages`,
  )
}

function fault(code: ErrorCode, message: string): GraupelError {
  return new GraupelError(code, message)
}

type Texts = Pick<Common, 'key' | 'description'>

function textsIn(path: string, bytes: Buffer): Texts {
  const keyEnd = headerAt.texts + bytes.readUInt32LE(headerAt.keyLength)
  const end = keyEnd + bytes.readUInt32LE(headerAt.descriptionLength)
  if (end > headerAt.end || bytes.readUInt32LE(headerAt.checksum) !== headerChecksum(bytes, end)) {
    throw damaged(path, 'the checksum of its first part is wrong')
  }
  return { key: bytes.toString('utf8', headerAt.texts, keyEnd), description: bytes.toString('utf8', keyEnd, end) }
}

function parsePage(path: string, bytes: Buffer, texts: Texts): Page {
  const historyAt = bytes.readBigInt64LE(pageAt.historyAt)
  // A distance from the word, and there is one place for it.
  if (historyAt !== 0n && historyAt !== BigInt(pageAt.history - pageAt.word)) {
    throw damaged(path, `its history is said to be ${historyAt} bytes behind the word`)
  }
  return { kind: 'page', ...texts, ...memoryIn(bytes, headerAt), ...counterIn(bytes), hasHistory: historyAt !== 0n }
}

function parseFile(path: string, bytes: Buffer, texts: Texts): StateFile {
  if (bytes.readUInt32LE(fileAt.checksum) !== recordChecksum(bytes)) {
    throw damaged(path, 'the checksum of its record is wrong')
  }
  const [intended, durable] = [bytes.readBigUInt64LE(fileAt.intended), bytes.readBigUInt64LE(fileAt.durable)]
  const isClean = bytes.readUInt32LE(fileAt.isClean)
  if (durable > intended || isClean > 1) throw damaged(path, 'the numbers of its record contradict each other')
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
