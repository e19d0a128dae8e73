import type { TextEncoding } from '../index.js'
import { type CommonNode, commonNodes, type EqualIds, equalIds, IdSet, rangesOf } from '../inspect/overlap.js'
import { type Arguments, helpFlag, type Manual, UsageError } from './arguments.js'
import { nameOf, readIds } from './input.js'
import { type Output, type Paint, paintFor, printable, table } from './output.js'
import { isLayoutGiven, layoutFlags, readLayouts, textEncodings } from './values.js'

/** The most equal ids, and the most ranges of nodes, that are shown. */
const mostShown = 10

const flags = {
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how the ids were made up; without it, times and nodes are not compared' },
  format: {
    value: 'FORMAT',
    choices: textEncodings,
    help: 'how the ids are written (decimal)',
  },
  json: { help: 'print a JSON object' },
  help: helpFlag,
} as const

export const overlapManual: Manual<typeof flags> = {
  name: 'overlap',
  usage: 'graupel overlap FILE FILE... [flags]',
  summary: 'Look for ids and nodes that several files have in common.',
  flags,
  notes: [
    'A FILE has one id a line; - is the standard input. Each id takes 16 bytes of',
    'memory.',
    'The exit code is 0 if nothing is in common, 1 if ids are equal, and 3 if only',
    'nodes are in common: such nodes may make equal ids.',
  ],
}

/** `graupel overlap`. Resolves to the exit code. */
export async function overlap(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
  input: NodeJS.ReadableStream,
): Promise<number> {
  check(positionals)
  if (!isLayoutGiven(values) && values.epoch !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--epoch is for --layout; give both, or leave --epoch out')
  }
  const [layout] = isLayoutGiven(values) || values['tick-ms'] !== undefined ? readLayouts(values) : []
  const sets: IdSet[] = []
  for (const file of positionals) {
    const set = new IdSet(nameOf(file), layout)
    await readIds(file, (values.format ?? 'decimal') as TextEncoding, set, input)
    sets.push(set)
  }
  const equal = equalIds(sets, mostShown)
  const common = commonNodes(sets)
  const isDecoded = layout !== undefined
  const text =
    values.json === undefined
      ? show(sets, equal, common, isDecoded, paintFor(output.isTerminal))
      : json(sets, equal, common, isDecoded)
  await output.write(text)
  return equal.count > 0 ? 1 : common.length > 0 ? 3 : 0
}

function check(files: readonly string[]): void {
  if (files.length < 2) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      'there is nothing to compare; write graupel overlap FILE FILE, with - for the standard input',
    )
  }
  const twice = files.find((file, i) => files.indexOf(file) !== i)
  if (twice !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', `${nameOf(twice)} was given twice; give each file once`)
  }
}

function json(sets: readonly IdSet[], equal: EqualIds, common: readonly CommonNode[], isDecoded: boolean): string {
  const plain = {
    sets: sets.map(({ name, count, firstMs, lastMs, nodes }) => ({
      name,
      count,
      ...(isDecoded && { first: new Date(firstMs), last: new Date(lastMs), nodes: rangesOf(nodes) }),
    })),
    equalIds: equal.count,
    firstEqualIds: equal.first.map(({ id, places }) => ({ id: id.toString(), places })),
    ...(isDecoded && { commonNodes: common }),
  }
  return `${JSON.stringify(plain)}\n`
}

function show(
  sets: readonly IdSet[],
  equal: EqualIds,
  common: readonly CommonNode[],
  isDecoded: boolean,
  paint: Paint,
): string {
  const rows = sets.map(({ name, count, firstMs, lastMs, nodes }) => {
    const decoded = () => [new Date(firstMs).toISOString(), new Date(lastMs).toISOString(), rangesText(nodes)]
    return [printable(name), count.toLocaleString('en'), ...(isDecoded ? decoded() : [])]
  })
  const heads = ['', 'ids', ...(isDecoded ? ['first', 'last', 'nodes'] : [])]
  const [head, ...lines] = table([heads, ...rows], [1])
  const verdicts = [equalText(equal, paint), ...(isDecoded ? [commonText(common, paint)] : [])]
  return `${[paint('dim', head as string), ...lines, '', ...verdicts].join('\n')}\n`
}

function equalText({ count, first }: EqualIds, paint: Paint): string {
  if (count === 0) return paint('green', 'No two ids are equal.')
  const lines = first.map(({ id, places }) => {
    const text = places
      .slice(0, mostShown)
      .map(({ set, line }) => `${printable(set)} line ${line.toLocaleString('en')}`)
    return `  ${id}  ${text.join(', ')}${places.length > mostShown ? ', …' : ''}`
  })
  const head = count === 1 ? '1 id occurs more than once:' : `${count.toLocaleString('en')} ids occur more than once:`
  return [paint('red', head), ...lines, ...(count > first.length ? ['  …'] : [])].join('\n')
}

function commonText(common: readonly CommonNode[], paint: Paint): string {
  if (common.length === 0) return paint('green', 'No node is in more than one file.')
  const head = `${common.length.toLocaleString('en')} ${common.length === 1 ? 'node is' : 'nodes are'} in more than one file:`
  const lines = common.slice(0, mostShown).map(({ node, sets }) => `  ${node}  ${sets.map(printable).join(', ')}`)
  return [paint('yellow', head), ...lines, ...(common.length > mostShown ? ['  …'] : [])].join('\n')
}

function rangesText(nodes: readonly number[]): string {
  const ranges = rangesOf(nodes)
  const text = ranges.slice(0, mostShown).map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  return ranges.length > mostShown ? `${text.join(', ')}, … (${nodes.length.toLocaleString('en')})` : text.join(', ')
}
