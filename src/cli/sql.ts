import type { Field, Layout } from '../index.js'
import { checkLifetime, checkMakesIds, combineNode, shiftNode, shiftTags } from '../layout/index.js'
import { type Arguments, helpFlag, type Manual, refuseWords, UsageError } from './arguments.js'
import type { Output } from './output.js'
import { type Dialect, dialects, scriptOf } from './sql-script.js'
import { chooseTags, layoutFlags, readLayout, readNode, tagFlag } from './values.js'

const flags = {
  dialect: { value: 'NAME', choices: dialects, help: 'the database' },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how ids are made up (twitter)' },
  node: { value: 'NODE', help: 'also print graupel_next(), which makes ids on this node: 7, or datacenter=1,worker=7' },
  tag: {
    ...tagFlag,
    help: 'the tags of the ids of graupel_next(), if the layout has tags: shard=5, or shard=5,tenant=2',
  },
  help: helpFlag,
} as const

export const sqlManual: Manual<typeof flags> = {
  name: 'sql',
  usage: 'graupel sql --dialect NAME [flags]',
  summary: 'Print SQL that decodes ids in a database, or makes them.',
  flags,
  notes: [
    'graupel_time(id) is the time of an id, graupel_at(moment) the first id from a',
    'moment on. Only postgres and mariadb make ids. Nothing else may use their node:',
    'lease the others by acquireLease({ store, nodes: [0, 1022] }) if it is 1023.',
    'docs/databases.md has the rules.',
  ],
}

/**
 * `graupel sql`.
 *
 * @throws UsageError `ERR_OPTION_INVALID`, `ERR_NODE_INVALID`, `ERR_EPOCH_INVALID`; RangeError
 *   `ERR_NODE_INVALID`, `ERR_LAYOUT_DECODE_ONLY`; GraupelError `ERR_LAYOUT_EXPIRED`
 */
export async function sql({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  const dialect = values.dialect as Dialect | undefined
  refuseWords('sql', positionals, 'see graupel sql --help')
  if (dialect === undefined) {
    throw new UsageError('ERR_OPTION_INVALID', `there is no dialect; give --dialect with one of ${dialects.join(', ')}`)
  }
  const layout = readLayout(values)
  checkNames(layout)
  if (values.node === undefined) {
    if (values.tag !== undefined) {
      throw new UsageError('ERR_OPTION_INVALID', '--tag is for ids that the database makes; give --node, too')
    }
    await output.write(scriptOf(layout, dialect))
    return
  }
  const node = checkNode(layout, values.node, dialect)
  const tags = shiftTags<readonly Field[]>(layout, chooseTags(layout, values.tag))
  await output.write(scriptOf(layout, dialect, { node, bits: shiftNode(layout, node) | tags }))
}

/** Names of functions that no tag can have. A database does not tell capital letters from small ones. */
const ownNames = ['time', 'at', 'node', 'sequence', 'next', 'last', 'scatter', 'gather']

function checkNames({ tagFields }: Layout): void {
  const taken = new Set(ownNames)
  for (const { name } of tagFields) {
    if (taken.has(name.toLowerCase())) {
      throw new UsageError(
        'ERR_OPTION_INVALID',
        `the tag '${name}' needs the function graupel_${name}(), and there is another one of that name; give the tag another name in --fields`,
      )
    }
    taken.add(name.toLowerCase())
  }
}

function checkNode(layout: Layout, text: string, dialect: Dialect): number {
  const node = combineNode(layout, readNode(text))
  checkMakesIds(layout)
  checkLifetime(layout, Date.now())
  if (dialect !== 'postgres' && dialect !== 'mariadb') {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `--node is given, and graupel makes no ids in ${dialect}, only in postgres and mariadb; leave --node out, and make ids in your program`,
    )
  }
  if (layout.bits > 63) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `--layout is '${layout.name}', whose ids have 64 bits, and a BIGINT holds 63; leave --node out, or choose a layout of 63 bits such as twitter`,
    )
  }
  return node
}
