import { createReadStream } from 'node:fs'
import { parseId, type TextEncoding } from '../index.js'
import type { IdSet } from '../inspect/id-set.js'
import { UsageError } from './arguments.js'

/** What is longer is no id in any encoding, and no reason to read on. */
const longestLine = 1000

/** Reads ids, one a line, from a file, or where it is `-` from the standard input. @throws UsageError with the file and the line */
export async function readIds(
  file: string,
  encoding: TextEncoding,
  set: IdSet,
  input: NodeJS.ReadableStream,
): Promise<void> {
  for await (const lines of linesOf(file === '-' ? input : createReadStream(file), set.name)) {
    for (const line of lines) {
      try {
        set.add(parseId(line, encoding))
      } catch (error) {
        throw new UsageError('ERR_ID_INVALID', `${set.name}, line ${set.count + 1}: ${(error as Error).message}`)
      }
    }
  }
  if (set.count === 0) throw new UsageError('ERR_ID_INVALID', `${set.name} has no id; give one a line`)
}

/**
 * Whether the only word is `-`, so that there is one id or serial a line on the standard input.
 *
 * @param what - What the words are, for messages: `id`.
 * @param usage - How to write one of them: `graupel inspect ID`.
 * @throws UsageError where there is no word, or `-` is beside others
 */
export function areOnInput(words: readonly string[], what: string, usage: string): boolean {
  if (words.length === 0) {
    throw new UsageError('ERR_ID_INVALID', `no ${what} was given; write ${usage}, or - to read ${what}s from a pipe`)
  }
  if (words.length > 1 && words.includes('-')) {
    throw new UsageError(
      'ERR_ID_INVALID',
      `- reads ${what}s from the standard input, and stands alone; leave out the others`,
    )
  }
  return words[0] === '-'
}

/** Lines, as many at once as came at once: an iteration for each line takes longer than reading its id. */
export async function* linesOf(stream: NodeJS.ReadableStream, name: string): AsyncGenerator<string[]> {
  let rest = ''
  try {
    for await (const chunk of stream.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() as string
      yield lines.map(withoutReturn)
      if (rest.length > longestLine) break
    }
  } catch (error) {
    // What the reader of the lines throws does not come here.
    const { message } = error as Error
    throw new UsageError('ERR_OPTION_INVALID', `${name} cannot be read: ${message}; give files with one id a line`)
  }
  if (rest !== '') yield [withoutReturn(rest)]
}

/** Lines of Windows end with a carriage return. */
function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** How messages and results name a file. */
export function nameOf(file: string): string {
  return file === '-' ? 'the standard input' : file
}
