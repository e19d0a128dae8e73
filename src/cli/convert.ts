import { encodeId, parseId, type TextEncoding } from '../index.js'
import { type Arguments, helpFlag, type Manual, UsageError } from './arguments.js'
import { printEach } from './input.js'
import type { Output } from './output.js'
import { textEncodings } from './values.js'

const flags = {
  from: { value: 'FORMAT', choices: textEncodings, help: 'how the ids are written (decimal)' },
  to: { value: 'FORMAT', choices: textEncodings, help: 'how to write them' },
  help: helpFlag,
} as const

export const convertManual: Manual<typeof flags> = {
  name: 'convert',
  usage: 'graupel convert ID... --to FORMAT [flags]',
  summary: 'Write ids in another encoding, one a line.',
  flags,
  notes: [
    'If the only ID is -, ids are read from the standard input, one a line. A line',
    'that is no id is reported, and the exit code is 2 at the end.',
  ],
}

/**
 * `graupel convert`. @throws UsageError `ERR_OPTION_INVALID`, `ERR_ID_INVALID`; RangeError `ERR_ID_INVALID`
 */
export async function convert(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
  input: NodeJS.ReadableStream,
): Promise<number> {
  const { from = 'decimal', to } = values
  if (to === undefined) {
    throw new UsageError('ERR_OPTION_INVALID', `there is no --to; give one of ${textEncodings.join(', ')}`)
  }
  const usage = `graupel convert ID --to ${to}`
  const textOf = (word: string) => `${encodeId(parseId(word, from as TextEncoding), to as TextEncoding)}\n`
  return printEach(positionals, 'id', usage, input, textOf, output)
}
