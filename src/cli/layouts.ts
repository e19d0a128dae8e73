import { type Layout, layouts as presets } from '../index.js'
import { fieldsText, type TagRole } from '../layout/index.js'
import { type Arguments, helpFlag, type Manual, refuseWords } from './arguments.js'
import { type Output, paintFor, table } from './output.js'

const flags = { json: { help: 'print a JSON array' }, help: helpFlag } as const

export const layoutsManual: Manual<typeof flags> = {
  name: 'layouts',
  usage: 'graupel layouts [flags]',
  summary: 'List the layouts: bits, capacity, nodes, epoch and expiry.',
  flags,
  notes: [
    'ids/s is the most that one node can make in a second. Ids of a layout that is',
    'decode only are made by the system of its name; graupel reads them.',
    '--json has each field with its name, its bits and its role: timestamp, node,',
    'sequence or tag (tag? if it has a default), the most significant field first.',
  ],
}

/** `graupel layouts`. */
export async function layouts({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  refuseWords('layouts', positionals, 'it lists all layouts')
  const all: Layout[] = Object.values(presets)
  if (values.json !== undefined) {
    await output.write(`${JSON.stringify(all.map(describe), undefined, 2)}\n`)
    return
  }
  const paint = paintFor(output.isTerminal)
  const [head, ...lines] = table(
    [['layout', 'bits', 'ids/s', 'nodes', 'tick', 'epoch', 'expires', ''], ...all.map(row)],
    [1, 2, 3, 4],
  )
  const shown = all.flatMap((layout, i) => {
    const line = lines[i] as string
    return [isExpired(layout) ? paint('red', line) : line, paint('dim', `  ${fieldsText(layout)}`)]
  })
  await output.write([paint('dim', head as string), ...shown].map((line) => `${line}\n`).join(''))
}

function row(layout: Layout): string[] {
  const { name, bits, idsPerSecond, nodes, tickMs, epochMs, expiresAt, decodeOnly } = layout
  // ISO 8601 writes years beyond 9999 with a sign and six digits.
  const day = (date: Date) => date.toISOString().replace(/T.*/, '').replace(/^\+0/, '')
  return [
    name,
    String(bits),
    decodeOnly ? 'decode only' : Math.floor(idsPerSecond).toLocaleString('en'),
    nodes.toLocaleString('en'),
    tickMs < 1000 ? `${tickMs} ms` : `${tickMs / 1000} s`,
    day(new Date(epochMs)),
    day(expiresAt),
    isExpired(layout) ? 'expired' : '',
  ]
}

function isExpired({ expiresAt }: Layout): boolean {
  return expiresAt.getTime() <= Date.now()
}

/** The role of a field; a tag that has a default is `tag?`. */
function roleOf(field: string, role?: TagRole): 'timestamp' | 'node' | 'sequence' | TagRole {
  return role ?? (field === 'timestamp' || field === 'sequence' ? field : 'node')
}

/** A layout as JSON. */
export function describe(layout: Layout) {
  const { name, bits, fields, tickMs, epochMs, unsigned, decodeOnly, idsPerSecond, nodes, expiresAt } = layout
  return {
    name,
    bits,
    fields: fields.map(([field, width, role]) => ({ name: field, bits: width, role: roleOf(field, role) })),
    unsigned,
    decodeOnly,
    tickMs,
    epochMs,
    epoch: new Date(epochMs),
    expiresAt,
    isExpired: isExpired(layout),
    idsPerSecond,
    nodes,
  }
}
