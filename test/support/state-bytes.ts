import {
  fileAt,
  headerAt,
  headerChecksum,
  kinds,
  magic,
  pageAt,
  recordChecksum,
  sealed,
  sizes,
} from '../../src/host/format.js'
import { layouts } from '../../src/index.js'
import { stateFormat } from '../../src/state/errors.js'
import { describeLayout, makeKey } from '../../src/state/key.js'

export { sealed }

/** A page or a state file for tests. `at` sets bytes before the checksums are set. */
export interface Bytes {
  kind?: 'page' | 'file'
  key?: string
  description?: string
  word?: bigint
  at?: (bytes: Buffer) => void
  /** Changes bytes after the checksums are set. */
  damage?: (bytes: Buffer) => Buffer | undefined
}

const { epochMs } = layouts.sonyflake
export const sonyflake = describeLayout(layouts.sonyflake)
/** The key of ids of sonyflake in a state file. */
export const sonyflakeKey = makeKey(layouts.sonyflake, 7, 'orders')

/** Returns the first slot of a tick. */
export function slotAt(timeMs: number): bigint {
  return (BigInt(timeMs - epochMs) / 10n) * 256n
}

export function bytesOf({
  kind = 'file',
  key,
  description = sonyflake,
  word = slotAt(epochMs + 12_345_678_900) + 43n,
  at,
  damage,
}: Bytes): Buffer {
  const bytes = Buffer.alloc(sizes[kind])
  const keyText = Buffer.from(key ?? (kind === 'page' ? `real ${sonyflakeKey}` : sonyflakeKey))
  const text = Buffer.concat([keyText, Buffer.from(description)])
  bytes.write(magic)
  bytes.writeUInt32LE(stateFormat, headerAt.format)
  bytes.writeUInt32LE(kinds[kind], headerAt.kind)
  bytes.writeUInt32LE(keyText.length, headerAt.keyLength)
  bytes.writeUInt32LE(text.length - keyText.length, headerAt.descriptionLength)
  text.copy(bytes, headerAt.texts)
  if (kind === 'page') bytes.writeBigUInt64LE(word, pageAt.word)
  else {
    for (const offset of [fileAt.intended, fileAt.durable, fileAt.word]) bytes.writeBigUInt64LE(word, offset)
    bytes.writeUInt32LE(1, fileAt.isClean)
  }
  at?.(bytes)
  bytes.writeUInt32LE(headerChecksum(bytes, headerAt.texts + text.length), headerAt.checksum)
  if (kind === 'file') bytes.writeUInt32LE(recordChecksum(bytes), fileAt.checksum)
  return damage?.(bytes) ?? bytes
}
