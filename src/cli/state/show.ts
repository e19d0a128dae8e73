import { stateFormat } from '../../engine/state-errors.js'
import type { Page, StateFile } from '../../host/format.js'
import { type Account, lastSlotOf, type Memory } from '../../host/list.js'
import type { Ids, State } from '../../host/read.js'
import type { User } from '../../host/users.js'
import { fieldsText } from '../../layout/index.js'
import { type Paint, printable, table } from '../paint.js'
import { ago, nodeRows, timeRows } from '../rows.js'

/** A page or a state file with all that is known of it, as an object for `--json`. */
export function plainAccount({ state, memory, lastSlot, users }: Account) {
  return { ...plainState(state, lastSlot, memory), openBy: users ?? null }
}

/** What a page or a state file says, as an object for `--json`. */
export function plainState(state: State, lastSlot = lastSlotOf(state), memory?: Memory) {
  const { path, stored, ids } = state
  const moment = (slot: bigint | undefined) => plainMoment(slot === undefined ? undefined : ids.timeMs(slot))
  return {
    path,
    kind: stored.kind,
    format: stateFormat,
    ...plainIds(ids),
    lastId: lastSlot === undefined ? null : String(ids.at(lastSlot)),
    ...moment(lastSlot),
    ...(stored.kind === 'page'
      ? { clock: ids.clock, isSealed: stored.isSealed, hasHistory: stored.hasHistory }
      : {
          intended: stored.intended === 0n ? null : moment(stored.intended),
          durable: stored.durable === 0n ? null : moment(stored.durable),
          isClean: stored.isClean,
          isLive: memory?.isLive ?? null,
          isSameBoot: memory?.isSameBoot ?? null,
          page: memory?.page?.path ?? null,
        }),
    lineage: stored.lineage,
    bootId: stored.bootId,
  }
}

/** The ids of a state, as properties for `--json`. */
export function plainIds({ layout, layoutName, node, fields, namespace }: Ids) {
  const { tickMs, epochMs, unsigned } = layout
  return {
    layout: {
      name: layoutName,
      fields: layout.fields.map(([name, bits]) => ({ name, bits })),
      unsigned,
      tickMs,
      epochMs,
      epoch: new Date(epochMs),
    },
    node,
    fields,
    namespace,
  }
}

/** A time as properties for `--json`. */
export function plainMoment(timeMs: number | undefined) {
  if (timeMs === undefined) return { timestamp: null, timestampMs: null }
  return { timestamp: new Date(timeMs), timestampMs: timeMs }
}

/** As lines for people. Names of layouts, namespaces and commands may have control characters. */
export function accountLines(account: Account, paint: Paint): string[] {
  const { state, memory, users } = account
  const { path, stored, ids } = state
  return table([
    [stored.kind === 'page' ? 'page' : 'file', printable(path)],
    ['format', String(stateFormat)],
    ...idsRows(ids, paint),
    ...lastIdRows(account),
    ...(stored.kind === 'page' ? pageRows(stored, state) : fileRows(stored, state, memory as Memory)),
    ...userRows(users),
  ])
}

/** The ids of a state. */
export function idsRows(ids: Ids, paint: Paint): string[][] {
  const { layout, layoutName, node, fields, namespace } = ids
  const tick = layout.tickMs === 1 ? '' : `, tick ${layout.tickMs} ms`
  return [
    [
      'layout',
      `${paint('bold', layoutName === '' ? 'of a very long name' : printable(layoutName))} ${paint('dim', `(epoch ${new Date(layout.epochMs).toISOString()}${tick})`)}`,
    ],
    ['fields', fieldsText(layout)],
    ...nodeRows(layout, node, fields, paint),
    ['namespace', printable(namespace)],
  ]
}

function lastIdRows({ state, memory, lastSlot }: Account): string[][] {
  const { stored, ids } = state
  if (lastSlot !== undefined) return idRows(ids, lastSlot)
  if (stored.kind === 'page') return [['last id', stored.isSealed ? 'not here: the page is sealed' : 'none yet']]
  const isKnown = memory?.isLive === true || (stored.isClean && memory?.isLive === false)
  return [['last id', isKnown ? 'none yet' : 'not known']]
}

/** The last id, and when it was made. */
export function idRows(ids: Ids, lastSlot: bigint): string[][] {
  return [['last id', String(ids.at(lastSlot))], ...timeRows(ids.timeMs(lastSlot))]
}

/** By which clock the ids are made. */
export function clockText({ clock }: Ids): string {
  return clock === 'real' ? 'real' : 'injected, by a test or a simulation'
}

function pageRows({ isSealed, hasHistory }: Page, { ids }: State): string[][] {
  return [
    ['clock', clockText(ids)],
    ['history', hasHistory ? "yes, for onRollback 'reuse'" : 'no'],
    ...(isSealed ? [['sealed', 'yes: its ids are counted in another page, or in the page that is made next']] : []),
  ]
}

function fileRows(file: StateFile, state: State, memory: Memory): string[][] {
  const { intended, durable, isClean } = file
  const before = (slot: bigint) => (slot === 0n ? 'none yet' : `ids before ${ago(state.ids.timeMs(slot))}`)
  return [
    ...(isClean
      ? []
      : [
          ['intended', before(intended)],
          ['durable', before(durable)],
        ]),
    ['closed', isClean ? 'cleanly, with the exact last id' : 'no: in use, or ended without'],
    ['memory', file.bootId === '' ? 'none yet' : memoryText(memory)],
    ['next start', nextStart(file, state, memory)],
  ]
}

function memoryText({ isLive, isSameBoot, page, folder }: Memory): string {
  if (page !== undefined) return `there, and has the last id: ${printable(page.path)}`
  if (isLive === undefined)
    return `not known: ${isSameBoot ? `${folder} cannot be read` : 'only the native engine can tell here'}`
  return isSameBoot
    ? `not in ${folder}: deleted, or another container's`
    : 'gone: the system was restarted since, or it is another one'
}

function nextStart({ intended, isClean }: StateFile, { ids }: State, { isLive }: Memory): string {
  if (isLive || isClean) return 'after the last id'
  const ceiling = `not before ${ago(ids.timeMs(intended))}`
  return isLive === false ? ceiling : `after the last id; if the memory is gone, ${ceiling}`
}

function userRows(users: readonly User[] | undefined): string[][] {
  if (users === undefined) return [['open by', 'unknown: this system does not tell']]
  if (users.length === 0) return [['open by', 'nobody']]
  return users.map(({ pid, command }, i) => [i === 0 ? 'open by' : '', `${pid} ${printable(command)}`])
}
