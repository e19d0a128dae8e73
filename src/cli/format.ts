import { endianness } from 'node:os'
import { DecimalWriter } from '../codec/decimal.js'
import { type Encoding, encodeId, encodings } from '../index.js'

/** How `next` writes ids. */
export type Format = Encoding | 'json'

export const formats: readonly Format[] = [...encodings, 'json']

/** Writes many ids at once: one a line, or in `bytes` one after the other. */
export type Formatter = (ids: BigUint64Array) => string | Uint8Array

/** @param parts - What `json` says of an id. */
export function formatter(format: Format, parts: (id: bigint) => object): Formatter {
  if (format === 'decimal') return decimalFormatter()
  if (format === 'bytes') return bytes
  if (format === 'json') return lines((id) => JSON.stringify(parts(id)))
  return lines((id) => encodeId(id, format))
}

function decimalFormatter(): Formatter {
  const writer = new DecimalWriter()
  const low = endianness() === 'LE' ? 0 : 1
  return (ids) => {
    const words = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2)
    let text = ''
    for (let i = 0; i < words.length; i += 2) {
      text += `${writer.write(words[i + 1 - low] as number, words[i + low] as number)}\n`
    }
    return text
  }
}

function lines(write: (id: bigint) => string): Formatter {
  return (ids) => {
    let text = ''
    for (const id of ids) text += `${write(id)}\n`
    return text
  }
}

function bytes(ids: BigUint64Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(ids.byteLength))
  ids.forEach((id, i) => {
    view.setBigUint64(i * 8, id)
  })
  return new Uint8Array(view.buffer)
}
