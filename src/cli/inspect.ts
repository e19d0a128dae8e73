import { createInterface } from 'node:readline'
import { type ErrorCode, encodeId, encodings, type Layout } from '../index.js'
import { picture } from '../inspect/picture.js'
import { plausibleReadings, type Reading, read } from '../inspect/reading.js'
import { type Arguments, helpFlag, UsageError } from './arguments.js'
import type { Manual } from './help.js'
import { areOnInput } from './id-lines.js'
import { type GivenId, idReader, maskFlags } from './masked.js'
import type { Output } from './output.js'
import { type Paint, paintFor, table } from './paint.js'
import { nodeRows, timeRows, withRange } from './rows.js'
import { layoutFlags, layoutsOf } from './values.js'

const textEncodings = encodings.filter((encoding) => encoding !== 'bytes')

const flags = {
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how the ids were made up; without it, all that make sense are shown' },
  encoding: { value: 'ENCODING', choices: textEncodings, help: 'how the ids are written (decimal, and masked base62)' },
  ...maskFlags,
  json: { help: 'print one JSON object a line' },
  help: helpFlag,
} as const

export const inspectManual: Manual = {
  name: 'inspect',
  usage: 'graupel inspect ID... [flags]',
  summary: 'Take ids apart: time, node, sequence and a picture of the bits.',
  flags,
  notes: [
    'If the only ID is -, ids are read from the standard input, one a line.',
    '',
    'A key of a mask is 32, 48 or 64 digits of hex, after its name (b = 00ff…) if it',
    'has one. The first is the current one, and reveals decimal digits without a',
    'name. Lines that begin with # are skipped. For a new key:',
    '  openssl rand -hex 32',
  ],
}

type ReadId = (text: string) => GivenId

/** `graupel inspect`. */
export async function inspect(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
  input: NodeJS.ReadableStream,
): Promise<void> {
  const readId = await idReader(values)
  const candidates = layoutsOf(values)
  const paint = paintFor(output.isTerminal)
  let isFirst = true
  for await (const given of idsOf(positionals, readId, input)) {
    const readings = readingsOf(given, candidates, values.layout !== undefined)
    const text = values.json === undefined ? show(given, readings, paint) : json(given, readings)
    const separator = isFirst || values.json !== undefined ? '' : '\n'
    isFirst = false
    if (!(await output.write(separator + text))) return
  }
}

/** All ids on the command line are read before the first is shown. */
function idsOf(words: readonly string[], readId: ReadId, input: NodeJS.ReadableStream) {
  if (areOnInput(words, 'id', 'graupel inspect ID')) return idsFrom(input, readId)
  return words.map((word) => readId(word))
}

async function* idsFrom(input: NodeJS.ReadableStream, readId: ReadId): AsyncGenerator<GivenId> {
  let number = 0
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    yield readLine(line, number, readId)
  }
  if (number === 0) {
    throw new UsageError('ERR_ID_INVALID', 'there is no id on the standard input; give one a line')
  }
}

function readLine(line: string, number: number, readId: ReadId): GivenId {
  try {
    return readId(line)
  } catch (error) {
    const { code, message } = error as Error & { code: ErrorCode }
    throw new UsageError(code, `line ${number}: ${message}`)
  }
}

function readingsOf(
  { id, masked }: GivenId,
  candidates: readonly Layout[],
  isChosen: boolean,
): [Reading, ...Reading[]] {
  const readings = isChosen
    ? candidates.map((layout) => read(id, layout))
    : plausibleReadings(id, candidates, Date.now())
  if (readings.length === 0) {
    const doubt = masked === undefined ? '' : '; what this mask did not hide reveals to such ids'
    throw new UsageError(
      'ERR_ID_INVALID',
      `no preset makes sense of the id ${id}: for each it is too wide, or of the future; if another system made it, give its --layout and --epoch${doubt}`,
    )
  }
  return readings as [Reading, ...Reading[]]
}

function json({ id, masked }: GivenId, [first, ...others]: [Reading, ...Reading[]]): string {
  const plain = ({ layout, timestamp, timestampMs, node, fields, sequence }: Reading) => {
    return { layout: layout.name, epochMs: layout.epochMs, timestamp, timestampMs, node, fields, sequence }
  }
  const written = Object.fromEntries(textEncodings.map((encoding) => [encoding, encodeId(id, encoding)]))
  return `${JSON.stringify({ id: id.toString(), masked, ...plain(first), encodings: written, others: others.map(plain) })}\n`
}

function show({ id, masked }: GivenId, readings: [Reading, ...Reading[]], paint: Paint): string {
  const [first, ...others] = readings
  const byKey = masked?.key === '' ? 'by the key without a name' : `by the key '${masked?.key}'`
  const written = table([
    ...(masked === undefined ? [] : [['masked', `${masked.text} ${paint('dim', byKey)}`]]),
    ...textEncodings.map((encoding) => [encoding, encodeId(id, encoding)]),
    ['bytes', encodeId(id, 'hex').replace(/..(?=.)/g, '$& ')],
  ])
  const blocks = [written, others.length > 0 ? comparison(readings, paint) : [], parts(first, paint)]
  return [...blocks, picture(id, first, paint)]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join(''))
    .join('\n')
}

/** The readings of all layouts that may have made the id. */
function comparison(readings: readonly Reading[], paint: Paint): string[] {
  const rows = readings.map(({ layout, timestamp, fields, sequence }) => {
    const node = Object.entries(fields).map(([name, part]) => `${name} ${part}`)
    return [layout.name, timestamp.toISOString(), node.join(', '), String(sequence)]
  })
  const [head, ...lines] = table([['layout', 'time', 'node', 'sequence'], ...rows], [3])
  return [
    'An id does not say which layout made it. These make sense, the likeliest first;',
    'name one with --layout to see it in full.',
    '',
    paint('dim', head as string),
    ...lines,
  ]
}

/** All parts of one reading. */
function parts({ layout, timestampMs, node, fields, sequence }: Reading, paint: Paint): string[] {
  return table([
    ['layout', `${paint('bold', layout.name)} ${paint('dim', `(epoch ${new Date(layout.epochMs).toISOString()})`)}`],
    ...timeRows(timestampMs),
    ...nodeRows(layout, node, fields, paint),
    ['sequence', withRange(sequence, layout.sequence.bits, paint)],
  ])
}
