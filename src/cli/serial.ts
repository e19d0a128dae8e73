import { defineSerial } from '../index.js'
import { serialRows } from '../serial/define.js'
import { type Arguments, flagFor, helpFlag, type Manual, UsageError } from './arguments.js'
import { printEach } from './input.js'
import type { Output } from './output.js'
import { layoutFlags, readLayout } from './values.js'

const flags = {
  pattern: { value: 'PATTERN', help: 'the text, with placeholders in braces' },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how the ids were made up (twitter)' },
  'time-zone': flagFor(serialRows.timeZone, 'ZONE', 'the zone of date and time: UTC, or an offset such as +08:00'),
  parse: { help: 'read serials, and print their ids' },
  help: helpFlag,
} as const

export const serialManual: Manual<typeof flags> = {
  name: 'serial',
  usage: 'graupel serial --pattern PATTERN ID... [flags]\ngraupel serial --pattern PATTERN --parse SERIAL... [flags]',
  summary: 'Write ids as text with date, time, node and sequence, or read it.',
  flags,
  notes: [
    'Placeholders are {yyyy} or {yy}, {MM}, {dd}, {HH}, {mm}, {ss} and {SSS}, also',
    'joined as {yyyyMMdd}; {node}, or the node fields by their names; the tags',
    'by their names; and {sequence}. {node:6} writes six digits. {{ and }} stand',
    'for braces. Example:',
    "  graupel serial --pattern '001{yyyyMMddHHmmssSSS}{node}{sequence}' ID",
    'If the only ID or SERIAL is -, the standard input is read, one a line.',
  ],
}

/** `graupel serial`. */
export async function serial(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
  input: NodeJS.ReadableStream,
): Promise<number> {
  const { pattern } = values
  if (pattern === undefined) {
    throw new UsageError(
      'ERR_PATTERN_INVALID',
      "there is no pattern; give one, such as --pattern '{yyyyMMddHHmmssSSS}-{node}-{sequence}'",
    )
  }
  const layout = readLayout(values)
  const { format, parse } = defineSerial({ pattern, layout, timeZone: values['time-zone'] ?? 'UTC' })
  const isParsing = values.parse !== undefined
  const convert = isParsing ? (text: string) => String(parse(text)) : format
  const thing = isParsing ? 'serial' : 'id'
  const usage = `graupel serial --pattern PATTERN ${isParsing ? '--parse SERIAL' : 'ID'}`
  return printEach(positionals, thing, usage, input, (text) => `${convert(text)}\n`, output)
}
