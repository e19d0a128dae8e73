import { createReadStream } from 'node:fs'
import { parseId, type TextEncoding } from '../index.js'
import type { IdSet } from '../inspect/overlap.js'
import { UsageError } from './arguments.js'
import { failureText, type Output } from './output.js'

/** The most characters of a line: more than any line of a log that has an id. */
const longestLine = 2 ** 20

/**
 * Reads ids, one a line, from a file, or from the standard input if the file is `-`. @throws UsageError with
 * the file and the line
 */
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

/** Makes a text of a word or a line. */
type TextOf = (word: string, refuse: (error: unknown) => void) => string

/**
 * Prints what is made of each word, or, if the only word is `-`, of each line of the standard input, as the
 * lines come. All words are read before the first is printed. A line that cannot be read is reported, and the
 * others are printed.
 *
 * @param textOf - May call `refuse` for a part of a word, and go on with the others.
 * @param thing - The kind of the words, for messages: `id`.
 * @param usage - How to write one of them: `graupel inspect ID`.
 * @returns the exit code: 2 if a line could not be read.
 * @throws UsageError if there is no word or no line, `-` is beside others, or a word cannot be read
 */
export async function printEach(
  words: readonly string[],
  thing: string,
  usage: string,
  input: NodeJS.ReadableStream,
  textOf: TextOf,
  output: Output,
): Promise<number> {
  if (words.length === 0) {
    throw new UsageError('ERR_ID_INVALID', `no ${thing} was given; write ${usage}, or - to read ${thing}s from a pipe`)
  }
  if (words.length > 1 && words.includes('-')) {
    throw new UsageError(
      'ERR_ID_INVALID',
      `- reads ${thing}s from the standard input, and stands alone; leave out the others`,
    )
  }
  if (words[0] === '-') return printLines(thing, input, textOf, output)
  const refuse = (error: unknown) => {
    throw error
  }
  await output.write(words.map((word) => textOf(word, refuse)).join(''))
  return 0
}

async function printLines(
  thing: string,
  input: NodeJS.ReadableStream,
  textOf: TextOf,
  output: Output,
): Promise<number> {
  let count = 0
  let code = 0
  const refuse = (error: unknown) => {
    const failure = failureText(error, {}, `line ${count}: `)
    // A wrong flag is no fault of the line.
    if (failure === undefined || (error as UsageError).code === 'ERR_OPTION_INVALID') throw error
    output.stderr.write(failure)
    code = 2
  }
  for await (const lines of linesOf(input, nameOf('-'))) {
    let text = ''
    for (const line of lines) {
      count++
      try {
        if (line.length > longestLine) {
          throw new UsageError(
            'ERR_ID_INVALID',
            `the line has more than ${longestLine} characters; give one ${thing} a line`,
          )
        }
        text += textOf(line, refuse)
      } catch (error) {
        refuse(error)
      }
    }
    if (text !== '' && !(await output.write(text))) return code
  }
  if (count === 0) throw new UsageError('ERR_ID_INVALID', `there is no ${thing} on the standard input; give one a line`)
  return code
}

/** Yields the lines of each chunk together: an iteration for each line takes longer than reading its id. */
async function* linesOf(stream: NodeJS.ReadableStream, name: string): AsyncGenerator<string[]> {
  let rest = ''
  let isBeginning = true
  try {
    for await (const chunk of stream.setEncoding('utf8')) {
      const text = isBeginning ? withoutMark(`${chunk}`) : `${chunk}`
      isBeginning = false
      const lines = (rest + text).split('\n')
      rest = lines.pop() as string
      yield lines.map(withoutReturn)
      // Its end is not kept, because a line that is too long is refused, also without a carriage return.
      if (rest.length > longestLine) rest = rest.slice(0, longestLine + 2)
    }
  } catch (error) {
    // Only the stream throws here; an error of the reader of the lines does not enter a generator.
    const { message } = error as Error
    throw new UsageError('ERR_OPTION_INVALID', `${name} cannot be read: ${message}; give files with one id a line`)
  }
  if (rest !== '') yield [withoutReturn(rest)]
}

/** PowerShell, Excel and other programs of Windows begin a text with a byte order mark. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Lines of Windows end with a carriage return. */
function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** Returns the name of a file for messages and results. */
export function nameOf(file: string): string {
  return file === '-' ? 'the standard input' : file
}
