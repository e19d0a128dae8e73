import { crc32 } from 'node:zlib'
import { type ErrorCode, GraupelError } from '../index.js'

/** The format that this version reads; `docs/state-file.md` describes every byte of it, `native/core` writes it. */
export const format = 1

const magic = Buffer.from('graupel\n')
const kinds = { page: 1, file: 2 } as const
/** Bytes that a whole one has; it is neither longer nor shorter. */
const sizes = { page: 16_384, file: 8192 } as const
/** Enough to see that a file is too long. */
export const mostBytes = sizes.page + 1

/** Of a page and of a state file alike. */
const header = {
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

const state = { word: 3968, highTick: 3976, historyAt: 3984, history: 4096 } as const

const record = {
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
const sealed = 2n ** 64n - 1n

interface Common {
  /** Which ids it is for: all that makes two of them equal. */
  readonly key: string
  /** The layout with its names, in JSON. */
  readonly description: string
  /** Of a page its own; of a state file those of the page that has the last id. 32 hex digits. */
  readonly lineage: string
  readonly bootId: string
}

/** A page in memory. A slot is a tick and a sequence; the word is the first that nobody was given. */
export interface Page extends Common {
  readonly kind: 'page'
  readonly word: bigint
  readonly isSealed: boolean
  readonly highTick: bigint
  readonly hasHistory: boolean
}

/** A file that outlives the memory. The slots are the first that may not be issued, and the word is of a clean close. */
export interface StateFile extends Common {
  readonly kind: 'file'
  readonly intended: bigint
  readonly durable: bigint
  readonly word: bigint
  readonly isClean: boolean
}

export type Stored = Page | StateFile

/**
 * What the bytes of a page or a state file say.
 *
 * @throws GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export function parseState(path: string, bytes: Buffer): Stored {
  if (!bytes.subarray(0, magic.length).equals(magic)) throw noState(path)
  if (bytes.length < header.texts) throw damaged(path, `it has only ${bytes.length} bytes`)
  const found = bytes.readUInt32LE(header.format)
  if (found !== format) {
    throw fault(
      'ERR_STATE_MISMATCH',
      `${path} has format ${found}, and this version of graupel reads format ${format}; use the version that made it`,
    )
  }
  const number = bytes.readUInt32LE(header.kind)
  const kind = number === kinds.page ? 'page' : number === kinds.file ? 'file' : undefined
  if (kind === undefined) throw damaged(path, `its kind is ${number}, and there are ${kinds.page} and ${kinds.file}`)
  if (bytes.length !== sizes[kind]) {
    const size = sizes[kind]
    throw damaged(
      path,
      bytes.length > size ? `it has more than ${size} bytes` : `it has ${bytes.length} of ${size} bytes`,
    )
  }
  const texts = textsOf(path, bytes)
  return kind === 'page' ? parsePage(path, bytes, texts) : parseFile(path, bytes, texts)
}

/** What is wrong with a state that is one, or was. */
export function damaged(path: string, detail: string): GraupelError {
  return fault(
    'ERR_STATE_CORRUPT',
    `${path} is damaged: ${detail}; restore it, or use another node, or delete it once the clock has certainly passed the last id`,
  )
}

// Nobody shall delete what has never been a state.
function noState(path: string): GraupelError {
  return fault(
    'ERR_STATE_CORRUPT',
    `${path} does not begin as a page or a state file of graupel; give the path of one, or none for a list of your pages`,
  )
}

function fault(code: ErrorCode, message: string): GraupelError {
  return new GraupelError(code, message)
}

function textsOf(path: string, bytes: Buffer): Pick<Common, 'key' | 'description'> {
  const keyEnd = header.texts + bytes.readUInt32LE(header.keyLength)
  const end = keyEnd + bytes.readUInt32LE(header.descriptionLength)
  const checksum = bytes.readUInt32LE(header.checksum)
  if (end > header.end || checksum !== crc32(bytes.subarray(header.texts, end), crc32(bytes.subarray(0, 84)))) {
    throw damaged(path, 'the checksum of its first part is wrong')
  }
  return { key: bytes.toString('utf8', header.texts, keyEnd), description: bytes.toString('utf8', keyEnd, end) }
}

function parsePage(path: string, bytes: Buffer, texts: Pick<Common, 'key' | 'description'>): Page {
  const word = bytes.readBigUInt64LE(state.word)
  const historyAt = bytes.readBigInt64LE(state.historyAt)
  // A distance from the word, and there is one place for it.
  if (historyAt !== 0n && historyAt !== BigInt(state.history - state.word)) {
    throw damaged(path, `its history is said to be ${historyAt} bytes behind the word`)
  }
  return {
    kind: 'page',
    ...texts,
    ...memoryOf(bytes, header),
    word,
    isSealed: word === sealed,
    highTick: bytes.readBigUInt64LE(state.highTick),
    hasHistory: historyAt !== 0n,
  }
}

function parseFile(path: string, bytes: Buffer, texts: Pick<Common, 'key' | 'description'>): StateFile {
  if (bytes.readUInt32LE(record.checksum) !== crc32(bytes.subarray(record.lineage, record.checksum))) {
    throw damaged(path, 'the checksum of its record is wrong')
  }
  const [intended, durable] = [bytes.readBigUInt64LE(record.intended), bytes.readBigUInt64LE(record.durable)]
  const isClean = bytes.readUInt32LE(record.isClean)
  if (durable > intended || isClean > 1) throw damaged(path, 'the numbers of its record contradict each other')
  return {
    kind: 'file',
    ...texts,
    ...memoryOf(bytes, record),
    intended,
    durable,
    word: bytes.readBigUInt64LE(record.word),
    isClean: isClean === 1,
  }
}

function memoryOf(bytes: Buffer, at: { lineage: number; bootId: number }): Pick<Common, 'lineage' | 'bootId'> {
  const half = (offset: number) => bytes.readBigUInt64LE(offset).toString(16).padStart(16, '0')
  const bootId = bytes.toString('latin1', at.bootId, at.bootId + bootIdBytes)
  return { lineage: half(at.lineage) + half(at.lineage + 8), bootId: bootId.replace(/\0.*$/s, '') }
}
