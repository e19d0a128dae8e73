import { GraupelError } from '../core/errors.js'
import type { StoreCalls } from '../stores/calls.js'
import { type Arguments, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import {
  type FoundGroup,
  forgetNode,
  groupsIn,
  isUnreadable,
  nodesIn,
  readTime,
  type Unreadable,
} from './lease-records.js'
import { forgottenText, groupText, unreadableText } from './lease-text.js'
import { isDumb, type Output, paintFor, printable } from './output.js'
import { Progress } from './progress.js'
import { clientNotes, type OpenStore, storeFlags, withStore } from './store.js'
import { wholeNumber } from './values.js'

const flags = {
  ...storeFlags,
  yes: { help: 'forget a node that is held, because its holder is gone for good' },
  damaged: { help: 'forget a node whose record is damaged; it is free an hour later' },
  json: { help: 'print one JSON object a line' },
  help: helpFlag,
} as const

export const leaseManual: Manual<typeof flags> = {
  name: 'lease',
  usage: 'graupel lease list [GROUP] --store URL [flags]\ngraupel lease forget GROUP NODE --store URL [flags]',
  summary: 'List the holders of nodes, or take a node from a dead process.',
  flags,
  notes: [
    'GROUP is a name from the list, or a namespace that one group has. Times are by',
    'the clock of the store. A node is held until the time in the list, and longer if',
    'its holder renews it, every third of its window. Once it is expired, other',
    'processes may take it; forget is not needed. forget deletes nothing: the holder',
    'can no longer renew the node, which is free at the time in the list. The next',
    'holder begins there, and a holder that still runs takes another node. So no id',
    'is made twice.',
    ...clientNotes,
  ],
}

type Values = Arguments<keyof typeof flags>['values']

/** `graupel lease`. */
export async function lease({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  const [verb, ...words] = positionals
  const act = verb === 'list' ? list : verb === 'forget' ? forget : undefined
  if (act === undefined) {
    const found = verb === undefined ? 'has no verb' : `has no verb ${quote(verb)}`
    throw new UsageError('ERR_OPTION_INVALID', `lease ${found}; write graupel lease list or graupel lease forget`)
  }
  if (values.store === undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--store is missing; write --store URL, such as redis://127.0.0.1:6379')
  }
  await act(words, values, output)
}

async function list([wanted, ...rest]: readonly string[], values: Values, output: Output): Promise<void> {
  if (rest.length > 0) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `lease list takes one group, and ${quote(rest[0] as string)} is a second; leave it out`,
    )
  }
  for (const name of ['yes', 'damaged'] as const) {
    if (values[name] !== undefined)
      throw new UsageError('ERR_OPTION_INVALID', `--${name} is for lease forget; leave it out`)
  }
  const paint = paintFor(output.isTerminal)
  const isJson = values.json !== undefined
  await use(values, async ({ calls, shown }) => {
    const groups = matching(await groupsIn(calls), wanted, shown)
    const place = await askPlace(calls, shown)
    if (groups.length === 0 && !isJson) {
      await output.write(`There is no lease in ${printable(place)}: no process has had a node by it.\n`)
    }
    for (const [i, found] of groups.entries()) {
      const text = isUnreadable(found)
        ? unreadableText(found, isJson, paint)
        : groupText(
            { found, nodes: await allNodes(calls, found, output), nowMs: await readTime(calls), place },
            isJson,
            paint,
          )
      // Each group is a paragraph.
      if (!(await output.write(i > 0 && !isJson ? `\n${text}` : text))) return
    }
  })
}

async function forget([name, digits, ...rest]: readonly string[], values: Values, output: Output): Promise<void> {
  if (name === undefined || digits === undefined || rest.length > 0) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      'lease forget takes a group and a node; write graupel lease forget GROUP NODE, as graupel lease list shows them',
    )
  }
  const node = wholeNumber('the node', digits, 'ERR_NODE_INVALID')
  await use(values, async ({ calls, shown }) => {
    const group = theGroup(matching(await groupsIn(calls), name, shown), name)
    const leave = { held: values.yes !== undefined, damaged: values.damaged !== undefined }
    const forgotten = await forgetNode(calls, group, node, leave)
    await output.write(forgottenText(group, forgotten, values.json !== undefined))
  })
}

function use(values: Values, work: (open: OpenStore) => Promise<void>): Promise<void> {
  return withStore({ ...values, store: values.store as string }, { mayMake: false }, work)
}

/**
 * Describes the place of the records: two processes that share nodes have the same. Without a right to ask,
 * that is the URL.
 */
async function askPlace(calls: StoreCalls, shown: string): Promise<string> {
  const place = await calls.place().catch(() => undefined)
  return place === undefined ? shown : `${calls.store.name}: ${place}`
}

/** Returns the groups with a name or a namespace, or all groups if neither is given. */
function matching(
  groups: readonly (FoundGroup | Unreadable)[],
  wanted: string | undefined,
  shown: string,
): readonly (FoundGroup | Unreadable)[] {
  if (wanted === undefined) return groups
  const named = groups.filter(({ name }) => name === wanted)
  const found = named.length > 0 ? named : groups.filter((group) => !isUnreadable(group) && group.namespace === wanted)
  if (found.length > 0) return found
  const names = groups.slice(0, 5).map(({ name }) => name)
  const known = names.length === 0 ? 'none' : names.join(', ') + (groups.length > names.length ? ', …' : '')
  throw new UsageError('ERR_OPTION_INVALID', `there is no group ${quote(wanted)} in ${shown}; the groups are: ${known}`)
}

/**
 * @throws UsageError if a namespace has several groups; GraupelError if the record of the group cannot be
 * read.
 */
function theGroup(found: readonly (FoundGroup | Unreadable)[], wanted: string): FoundGroup {
  const [group, second] = found as [FoundGroup | Unreadable, (FoundGroup | Unreadable)?]
  if (second !== undefined) {
    const names = found.map(({ name }) => name).join(', ')
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `the namespace ${quote(wanted)} has ${found.length} groups; give one of ${names}`,
    )
  }
  if (isUnreadable(group)) throw new GraupelError(group.error.code, group.error.message)
  return group
}

async function allNodes(calls: StoreCalls, found: FoundGroup, { stderr }: Output) {
  const progress = new Progress(isDumb() ? undefined : stderr, found.nodes, undefined, 'nodes')
  try {
    return await nodesIn(calls, found, (nodes) => progress.update(nodes))
  } finally {
    progress.erase()
  }
}
