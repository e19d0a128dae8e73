import { shorten } from './arguments.js'
import {
  type Forgotten,
  type FoundGroup,
  type FoundNode,
  isUnreadable,
  stateOf,
  type Unreadable,
} from './lease-records.js'
import { jsonLine, type Paint, printable, table, timeText } from './output.js'

/** A group with its nodes, at a time of the store. */
export interface ListedGroup {
  readonly found: FoundGroup
  readonly nodes: readonly (FoundNode | Unreadable)[]
  readonly nowMs: number
  /** Place of the records: server, database, schema, table or prefix. */
  readonly place: string
}

/** Returns the fault of a record in a word. */
function faultOf({ error }: Unreadable): 'damaged' | 'foreign' {
  return error.code === 'ERR_STATE_CORRUPT' ? 'damaged' : 'foreign'
}

/**
 * Returns the ids of the group, a row for each node, and a sum; or, for `--json`, a line for the group and
 * for each node.
 */
export function groupText(listed: ListedGroup, isJson: boolean, paint: Paint): string {
  const { found, nodes, nowMs, place } = listed
  if (isJson) return [plainGroup(listed), ...nodes.map((node) => plainNode(found, node, nowMs))].map(jsonLine).join('')
  const rows = nodes.map((node) => nodeCells(node, nowMs))
  const [head, ...lines] = table([['node', 'state', 'until', 'window', 'owner'], ...rows], [0, 3])
  return [
    paint('bold', printable(found.name)),
    paint('dim', printable(found.group.ids)),
    paint('dim', `in ${printable(place)}`),
    ...(lines.length === 0 ? [] : [paint('dim', `  ${head}`)]),
    ...lines.map((line) => `  ${line}`),
    sumText(listed),
    '',
  ].join('\n')
}

/** Returns the text for a group whose record cannot be read, so that its nodes are not known. */
export function unreadableText({ name, error }: Unreadable, isJson: boolean, paint: Paint): string {
  if (isJson) return jsonLine({ kind: 'group', group: name, error })
  return `${paint('bold', printable(name))}\n${printable(error.message)} (${error.code})\n`
}

function nodeCells(node: FoundNode | Unreadable, nowMs: number): string[] {
  if (isUnreadable(node)) return [printable(shorten(node.name)), faultOf(node), node.error.code, '', '']
  const { record, untilMs } = node
  const until = `${timeText(untilMs, nowMs)}`
  return [node.name, stateOf(node, nowMs), until, `${record.windowMs / 1000} s`, printable(shorten(record.owner))]
}

interface Sum {
  readonly held: number
  readonly expired: number
  readonly released: number
  readonly damaged: number
  readonly foreign: number
  /** The time at which the first held node is free, unless it is renewed; milliseconds since 1970. */
  readonly nextFreeMs: number | undefined
}

function sumOf({ nodes, nowMs }: ListedGroup): Sum {
  const sum = { held: 0, expired: 0, released: 0, damaged: 0, foreign: 0 }
  let nextFreeMs: number | undefined
  for (const node of nodes) {
    const state = isUnreadable(node) ? faultOf(node) : stateOf(node, nowMs)
    sum[state]++
    if (state === 'held') nextFreeMs = Math.min((node as FoundNode).untilMs, nextFreeMs ?? Number.POSITIVE_INFINITY)
  }
  return { ...sum, nextFreeMs }
}

function sumText(listed: ListedGroup): string {
  const { nextFreeMs, held, ...others } = sumOf(listed)
  const counts = Object.entries(others).filter(([, count]) => count > 0)
  const count = (number: number) => number.toLocaleString('en')
  const rest = counts.map(([name, number]) => `, ${count(number)} ${name}`).join('')
  const text = `${count(held)} of ${count(listed.found.nodes)} nodes held${rest}`
  if (nextFreeMs === undefined) return text
  const time = `${timeText(nextFreeMs, listed.nowMs)}`
  return `${text}; the first that is held ends at ${time}, unless it is renewed`
}

function plainGroup(listed: ListedGroup) {
  const { found, nowMs, place } = listed
  const { nextFreeMs, ...sum } = sumOf(listed)
  const { epochMs, tickMs } = found.group.layout
  return {
    kind: 'group',
    group: found.name,
    namespace: found.namespace,
    place,
    ids: found.group.ids,
    nodes: found.nodes,
    epochMs,
    tickMs,
    ...sum,
    nextFreeAt: nextFreeMs === undefined ? null : new Date(nextFreeMs),
    storeTime: new Date(nowMs),
  }
}

/** Returns a node as an object for `--json`. */
function plainNode(found: FoundGroup, node: FoundNode | Unreadable, nowMs: number) {
  if (isUnreadable(node)) {
    const name = /^[0-9]+$/.test(node.name) ? Number(node.name) : node.name
    return { kind: 'node', group: found.name, node: name, state: faultOf(node), error: node.error }
  }
  const { owner, windowMs, floor, ceiling } = node.record
  return {
    kind: 'node',
    group: found.name,
    node: node.node,
    owner,
    state: stateOf(node, nowMs),
    until: new Date(node.untilMs),
    untilMs: node.untilMs,
    remainingMs: node.untilMs - nowMs,
    windowMs,
    floor,
    ceiling,
  }
}

/** Returns the text for a node that the user wanted to forget. */
export function forgottenText(group: FoundGroup, { node, how, nowMs }: Forgotten, isJson: boolean): string {
  if (isJson) return jsonLine({ how, ...plainNode(group, node, nowMs) })
  const { record, untilMs } = node
  const name = `node ${node.node} of ${printable(group.name)}`
  const until = `${timeText(untilMs, nowMs)}`
  const begins = `Its next holder makes ids from ${until}.\n`
  if (how === 'was released') return `Nothing to forget: ${name} was released already. ${begins}`
  if (how === 'replaced') return `Replaced the damaged record of ${name}. ${begins}`
  return `Forgotten: ${name}, which ${printable(record.owner.replace(/, forgotten$/, ''))} had. ${begins}`
}
