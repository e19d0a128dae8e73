import { crc32 } from 'node:zlib'
import { layouts } from 'graupel'

/** What docs/state-file.md says, written down once more: `at` are bytes that are set before the checksums are. */
export interface Bytes {
  kind?: 'page' | 'file'
  key?: string
  description?: string
  word?: bigint
  at?: (bytes: Buffer) => void
  /** Set after the checksums. */
  damage?: (bytes: Buffer) => Buffer | undefined
}

const { name, epochMs, tickMs, fields, unsigned } = layouts.sonyflake
export const sonyflake = JSON.stringify({ name, epochMs, tickMs, fields, unsigned })
export const sonyflakeKey = `${epochMs} 10 39 24 8 16 7 orders`

export const sealed = 2n ** 64n - 1n

/** The first slot of a tick. */
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
  const bytes = Buffer.alloc(kind === 'page' ? 16384 : 8192)
  const keyText = Buffer.from(key ?? (kind === 'page' ? `real ${sonyflakeKey}` : sonyflakeKey))
  const text = Buffer.concat([keyText, Buffer.from(description)])
  bytes.write('graupel\n')
  bytes.writeUInt32LE(1, 8)
  bytes.writeUInt32LE(kind === 'page' ? 1 : 2, 12)
  bytes.writeUInt32LE(keyText.length, 72)
  bytes.writeUInt32LE(text.length - keyText.length, 76)
  text.copy(bytes, 96)
  if (kind === 'page') bytes.writeBigUInt64LE(word, 3968)
  else {
    for (const offset of [4152, 4160, 4168]) bytes.writeBigUInt64LE(word, offset)
    bytes.writeUInt32LE(1, 4176)
  }
  at?.(bytes)
  bytes.writeUInt32LE(crc32(Buffer.concat([bytes.subarray(0, 84), text])), 84)
  if (kind === 'file') bytes.writeUInt32LE(crc32(bytes.subarray(4096, 4180)), 4180)
  return damage?.(bytes) ?? bytes
}
