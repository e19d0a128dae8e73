import { endianness } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { DecimalWriter } from '../codec/decimal.js'
import { type Encoding, encodeId, encodings } from '../index.js'
import { unlessAborted } from './interrupt.js'
import { isDumb, type Output } from './output.js'
import { Progress } from './progress.js'

/** How `next` writes ids. */
export type Format = Encoding | 'json'

export const formats: readonly Format[] = [...encodings, 'json']

/** Writes many ids at once: each on a line, or in `bytes` one after the other. */
export type Formatter = (ids: BigUint64Array) => string | Uint8Array

/** @param parts - The object that `json` writes for an id. */
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

/** Writes each id on a line. */
export function lines(write: (id: bigint) => string): Formatter {
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

/** The most ids made before they are written: text of some 300 KB. */
export const maxInChunk = 16_384

export type Ids = BigUint64Array<ArrayBuffer>

/** The ids to print, their form, and the output. */
export interface Printing {
  readonly count: number
  readonly write: Formatter
  readonly output: Output
}

/**
 * Prints ids, or numbers of segments.
 *
 * @param make - Fills an array.
 * @param most - The most ids that are made at once.
 * @param signal - Ends it early.
 */
export async function printIds(
  make: (array: Ids) => Ids | Promise<Ids>,
  most: number,
  { count, write, output }: Printing,
  signal: AbortSignal | undefined,
): Promise<void> {
  const array = new BigUint64Array(Math.min(count, maxInChunk, most))
  await printParts(count, output, async (left) => {
    if (signal?.aborted) return undefined
    const made = make(array.subarray(0, Math.min(array.length, left)))
    const chunk = made instanceof Promise ? await unlessAborted(made, signal) : made
    if (chunk === undefined || !(await unlessAborted(output.write(write(chunk)), signal))) return undefined
    return chunk.length
  })
}

/**
 * Prints part after part, and shows the progress.
 *
 * @param print - Gets how many are left, prints some of them, and returns how many; `undefined` ends it
 * early.
 */
export async function printParts(
  count: number,
  { isTerminal, stderr }: Output,
  print: (left: number) => Promise<number | undefined>,
): Promise<void> {
  // Ids that scroll by on the same terminal are progress enough.
  const progress = new Progress(isTerminal || isDumb() ? undefined : stderr, count)
  try {
    for (let done = 0; done < count; ) {
      const printed = await print(count - done)
      if (printed === undefined) break
      done += printed
      progress.update(done)
      // A file is written without a turn of the event loop, and a signal needs a turn.
      await turn()
    }
  } finally {
    progress.erase()
  }
}
