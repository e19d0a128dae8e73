import { encodeId, type Layout } from '../index.js'
import { timeOfUlid } from '../inspect/other-ids.js'
import { picture } from '../inspect/picture.js'
import { type Guess, onlyLikely, plausibleReadings, type Reading, read } from '../inspect/reading.js'
import { isRule } from '../inspect/table.js'
import { type DecodedUuid, decodeUuid } from '../uuid/index.js'
import { type Arguments, helpFlag, type Manual, UsageError } from './arguments.js'
import { columnReader } from './columns.js'
import { type GivenText, keyFileFlag, textReader } from './id-texts.js'
import { printEach } from './input.js'
import { refuseOther, textsIn } from './lines.js'
import { type GivenId, idReader, maskFlags } from './masked-ids.js'
import {
  jsonLine,
  nodeRows,
  type Output,
  type Paint,
  paintFor,
  printable,
  table,
  timeRows,
  withRange,
} from './output.js'
import { isLayoutGiven, layoutFlags, readLayouts, textEncodings } from './values.js'

const flags = {
  ...layoutFlags,
  layout: {
    ...layoutFlags.layout,
    help: 'how the ids were made up; without it, all layouts that make sense are listed',
  },
  format: { value: 'FORMAT', choices: textEncodings, help: 'how the ids are written (decimal; base62 for masked ids)' },
  column: { value: 'NAME', help: 'read this column of a table, whose first line has the names' },
  ...maskFlags,
  'key-file': keyFileFlag,
  json: {
    help: 'print one JSON object a line; without --layout, its layout is null and its readings are those that make sense',
  },
  help: helpFlag,
} as const

export const inspectManual: Manual<typeof flags> = {
  name: 'inspect',
  usage: 'graupel inspect ID... [flags]',
  summary: 'Take ids apart: time, node, sequence and a picture of the bits.',
  flags,
  notes: [
    'If the only ID is -, ids are read from the standard input, one a line. A text',
    'that is no id is reported, and the exit code is 2 at the end. The lines that',
    'psql and mysql draw between rows, and in which they count rows, are skipped.',
    '',
    'An ID is a number, a UUID, a ULID, or a text of a kind: ord_01kb6wyr9m2z8. Of a',
    'UUID, the version and the time are shown; if graupel made it, --layout shows its',
    'node, its sequence and the id of the same slot, too.',
    '',
    'An ID may also be a text that has ids: a line of a log, JSON, an address of',
    'Twitter, Discord, Mastodon or Instagram, a mention of Discord. An address and a',
    'mention name the layout. Of other texts, only UUIDs and numbers of 15 to 20',
    'digits are taken, and the row "from" shows the text, up to 1000 characters.',
    'With --format or --mask-key-file, nothing is searched.',
    '',
    'Nothing in an id says which layout made it. Without --layout, the readings that',
    'make sense are listed, the likeliest first: recent (within a day of now), past,',
    'unusual (with numbers so high that few ids have them), and early (from a time',
    'of which the system has few ids). If only one is likely, it is shown in full.',
    '',
    'A key of a mask or of a kind is 32, 48 or 64 digits of hex, after its name',
    '(b = 00ff…) if it has a name. The first key of a mask is the current one, and',
    'reveals decimal digits that bear no name; a file with another key without a name',
    'is refused for these. Lines that begin with # are skipped.',
    'To make a key:',
    '  openssl rand -hex 32',
  ],
}

/** `graupel inspect`. */
export async function inspect(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
  input: NodeJS.ReadableStream,
): Promise<number> {
  const readNumber = await idReader(values)
  const candidates = readLayouts(values)
  const named = isLayoutGiven(values) ? candidates[0] : undefined
  // An encoding or a mask says that the ids are numbers.
  const ofNumbers = (['format', 'mask-key-file'] as const).find((name) => values[name] !== undefined)
  if (ofNumbers !== undefined && values['key-file'] !== undefined) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `--${ofNumbers} is for numbers, and --key-file is given, which is for texts of kinds; leave one out`,
    )
  }
  const readText = ofNumbers === undefined ? textReader(values['key-file'], candidates) : () => undefined
  const paint = paintFor(output.isTerminal)
  let separator = ''
  const inColumn = values.column === undefined ? (line: string) => line : columnReader(values.column)
  const isPipe = positionals[0] === '-'
  const textOf = (line: string, refuse: (error: unknown) => void): string => {
    if (isPipe && isRule(line)) return ''
    const cell = inColumn(line)
    if (cell === undefined) return ''
    if (ofNumbers !== undefined) return textOfOne(cell)
    const nowMs = Date.now()
    let text = ''
    for (const part of textsIn(cell, nowMs)) {
      try {
        refuseOther(part, nowMs)
        text += textOfOne(part.text, part.layout, part.from)
      } catch (error) {
        refuse(error)
      }
    }
    return text
  }
  const textOfOne = (word: string, told?: string, from?: string): string => {
    const read = readText(word) ?? readNumber(word)
    const given = from === undefined ? read : { ...read, from }
    const found = find(given, candidates, named ?? candidates.find(({ name }) => name === told))
    if (values.json !== undefined) return json(given, found)
    const text = separator + show(given, found, paint)
    separator = '\n'
    return text
  }
  return printEach(positionals, 'id', 'graupel inspect ID', input, textOf, output)
}

/** @param from - The longer text that the id was taken from. */
type Given = GivenText & Partial<GivenId> & { readonly from?: string }

/**
 * The reading in the layout that the flags name, or all readings that make sense; or a UUID without its id.
 */
type Found =
  | { readonly id: bigint; readonly named: Reading }
  | { readonly id: bigint; readonly guesses: readonly Guess[] }
  | { readonly decoded: DecodedUuid }

function find(
  { id: given, uuid, ulid, masked, ...text }: Given,
  candidates: readonly Layout[],
  named: Layout | undefined,
): Found {
  const layout = text.layout ?? named
  if (uuid !== undefined && layout === undefined) {
    return { decoded: { ...decodeUuid(uuid), ...(ulid !== undefined && momentOf(timeOfUlid(ulid))) } }
  }
  const id = uuid === undefined ? (given as bigint) : decodeUuid(uuid, layout as Layout).id
  if (layout !== undefined) return { id, named: read(id, layout) }
  const guesses = plausibleReadings(id, candidates, Date.now())
  if (guesses.length === 0) {
    const doubt = masked === undefined ? '' : '; ids that this mask did not hide are revealed as such ids'
    throw new UsageError(
      'ERR_ID_INVALID',
      `the id ${id} makes sense in no preset: it is too wide, or from the future; if another system made it, give its --layout and --epoch${doubt}`,
    )
  }
  return { id, guesses }
}

/** Also if the UUID of the bytes of a ULID has another version than 7. */
function momentOf(timestampMs: number): { timestamp: Date; timestampMs: number } {
  return { timestamp: new Date(timestampMs), timestampMs }
}

function json({ from, masked, uuid, ulid, prefix }: Given, found: Found): string {
  const plain = ({ layout, timestamp, timestampMs, node, fields, sequence, tags }: Reading) => {
    return { layout: layout.name, epochMs: layout.epochMs, timestamp, timestampMs, node, fields, sequence, tags }
  }
  if ('decoded' in found) return jsonLine({ from, uuid, ulid, prefix, ...found.decoded })
  const { id } = found
  const written = Object.fromEntries(textEncodings.map((encoding) => [encoding, encodeId(id, encoding)]))
  const common = { id: id.toString(), from, masked, uuid, ulid, prefix }
  const object =
    'named' in found
      ? { ...common, ...plain(found.named), encodings: written }
      : {
          ...common,
          // Without the parts of a guess, which a program would take for the truth.
          layout: null,
          encodings: written,
          readings: found.guesses.map((guess) => ({ ...plain(guess), plausibility: guess.plausibility })),
        }
  return jsonLine(object)
}

function show({ from, masked, uuid, ulid, prefix }: Given, found: Found, paint: Paint): string {
  const byKey = masked?.key === '' ? 'by the key without a name' : `by the key '${masked?.key}'`
  const texts = [
    ...(from === undefined ? [] : [['from', printable(from)]]),
    ...(masked === undefined ? [] : [['masked', `${masked.text} ${paint('dim', byKey)}`]]),
    ...(prefix === undefined ? [] : [['prefix', prefix]]),
    ...(ulid === undefined ? [] : [['ulid', ulid]]),
    ...(uuid === undefined ? [] : [['uuid', uuid]]),
  ]
  if ('decoded' in found) return inBlocks([table([...texts, ...uuidRows(found.decoded)]), [uuidHint(found.decoded)]])
  const { id } = found
  const written = table([
    ...texts,
    ...textEncodings.map((encoding) => [encoding, encodeId(id, encoding)]),
    ['bytes', encodeId(id, 'hex').replace(/..(?=.)/g, '$& ')],
  ])
  const shown = 'named' in found ? found.named : onlyLikely(found.guesses)
  return inBlocks([
    written,
    'named' in found ? [] : comparison(found.guesses, shown, paint),
    ...(shown === undefined ? [] : [parts(shown, 'guesses' in found, paint), picture(id, shown, paint)]),
  ])
}

function inBlocks(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join(''))
    .join('\n')
}

function uuidRows({ variant, version, timestampMs }: DecodedUuid): string[][] {
  return [
    ['variant', variant],
    ...(version === undefined ? [] : [['version', `${version}`]]),
    ...(timestampMs === undefined ? [] : timeRows(timestampMs)),
  ]
}

function uuidHint({ version }: DecodedUuid): string {
  return version === 7 || version === 8
    ? 'If graupel made it, name the layout of its ids: --layout twitter.'
    : 'graupel makes UUIDs of version 7 or 8 only. A text of an opaque kind needs --key-file.'
}

/** Returns a table of the readings in all layouts that may have made the id. */
function comparison(guesses: readonly Guess[], shown: Reading | undefined, paint: Paint): string[] {
  if (guesses.length === 1) {
    return [`An id does not say which layout made it. Only one preset makes sense: ${guesses[0]?.layout.name}.`]
  }
  const rows = guesses.map(({ layout, timestamp, fields, sequence, plausibility }) => {
    const node = Object.entries(fields).map(([name, part]) => `${name} ${part}`)
    // Without milliseconds, for terminals of 80 columns.
    const time = timestamp.toISOString().replace(/\.\d+/, '')
    return [layout.name, time, node.join(', '), String(sequence), plausibility]
  })
  const [head, ...lines] = table([['layout', 'time', 'node', 'sequence', ''], ...rows], [3])
  const hint = `--layout ${guesses[shown === undefined ? 0 : 1]?.layout.name}`
  return [
    'An id does not say which layout made it. These make sense, likeliest first.',
    shown === undefined
      ? `To see a reading in full, name its layout: ${hint}.`
      : `The first is shown in full, as a guess; for another give ${hint}.`,
    '',
    paint('dim', head as string),
    ...lines,
  ]
}

/** Returns a table of the parts of one reading. */
function parts(reading: Reading, isGuess: boolean, paint: Paint): string[] {
  const { layout, timestampMs, node, fields, sequence, tags } = reading
  const values: Record<string, number> = { ...tags }
  const about = `${isGuess ? 'a guess; ' : ''}epoch ${new Date(layout.epochMs).toISOString()}`
  return table([
    ['layout', `${paint('bold', layout.name)} ${paint('dim', `(${about})`)}`],
    ...timeRows(timestampMs),
    ...(layout.nodeFields.length === 0 ? [] : nodeRows(layout, node, fields, paint)),
    ...layout.tagFields.map(({ name, bits }) => [name, withRange(values[name] as number, bits, paint)]),
    ['sequence', withRange(sequence, layout.sequence.bits, paint)],
  ])
}
