import { setImmediate as turn } from 'node:timers/promises'
import type { Formatter } from '../format.js'
import { unlessAborted } from '../interrupt.js'
import type { Output } from '../output.js'
import { isDumb } from '../paint.js'
import { Progress } from '../progress.js'

/** The most ids made before they are written: text of some 300 KB. */
export const maxInChunk = 16_384

export type Ids = BigUint64Array<ArrayBuffer>

/** What is printed, and where. */
export interface Printing {
  readonly count: number
  readonly write: Formatter
  readonly output: Output
}

/**
 * Prints ids, or numbers of segments.
 *
 * @param make - Fills an array.
 * @param most - How many are made at once, at most.
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
 * Prints part after part, and shows how far it is.
 *
 * @param print - Prints some of those that are left, and returns how many; `undefined` ends it early.
 */
export async function printParts(
  count: number,
  { isTerminal }: Output,
  print: (left: number) => Promise<number | undefined>,
): Promise<void> {
  // Ids that scroll by on the same terminal are progress enough.
  const progress = new Progress(isTerminal || isDumb() ? undefined : process.stderr, count)
  try {
    for (let done = 0; done < count; ) {
      const printed = await print(count - done)
      if (printed === undefined) break
      done += printed
      progress.update(done)
      // A file is written without a turn of the event loop, and a signal needs one.
      await turn()
    }
  } finally {
    progress.erase()
  }
}
