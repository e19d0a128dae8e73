import type { Page, StateFile } from '../host/format.js'
import { fieldsText } from '../layout/index.js'
import { stateFormat } from '../state/errors.js'
import { nodeRows, type Paint, printable, table, timeRows, timeText } from './output.js'
import type { Claim } from './state/claims.js'
import { type Account, lastSlotOf, type Memory } from './state/list.js'
import type { Ids, State } from './state/read.js'
import { type User, userOf } from './state/users.js'

/** Returns a page or a state file as an object for `--json`, with the processes that have it open. */
export function plainAccount({ state, memory, lastSlot, users }: Account) {
  return { ...plainState(state, lastSlot, memory), openBy: users ?? null }
}

/** Returns a page or a state file as an object for `--json`. */
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

/** Returns the ids of a state as properties for `--json`. */
function plainIds({ layout, layoutName, node, fields, namespace }: Ids) {
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

/** Returns a time as properties for `--json`. */
function plainMoment(timeMs: number | undefined) {
  if (timeMs === undefined) return { timestamp: null, timestampMs: null }
  return { timestamp: new Date(timeMs), timestampMs: timeMs }
}

/**
 * Returns a page or a state file as lines. Names of layouts, namespaces and commands may have control
 * characters.
 */
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

/** Returns rows for the ids of a state. */
function idsRows(ids: Ids, paint: Paint): string[][] {
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

/** Returns rows for the last id and its time. */
function idRows(ids: Ids, lastSlot: bigint): string[][] {
  return [['last id', String(ids.at(lastSlot))], ...timeRows(ids.timeMs(lastSlot))]
}

/** Returns the kind of the clock by which the ids are made. */
function clockText({ clock }: Ids): string {
  return clock === 'real' ? 'real' : 'injected, by a test or a simulation'
}

function pageRows({ isSealed, hasHistory }: Page, { ids }: State): string[][] {
  return [
    ['clock', clockText(ids)],
    ['history', hasHistory ? "yes, for onRollback 'reuse'" : 'no'],
    ...(isSealed ? [['sealed', 'yes: its ids are counted in another page, or in the next one']] : []),
  ]
}

function fileRows(file: StateFile, state: State, memory: Memory): string[][] {
  const { intended, durable, isClean } = file
  const before = (slot: bigint) => (slot === 0n ? 'none yet' : `ids before ${timeText(state.ids.timeMs(slot))}`)
  return [
    ...(isClean
      ? []
      : [
          ['intended', before(intended)],
          ['durable', before(durable)],
        ]),
    ['closed', isClean ? 'cleanly, with the exact last id' : 'no: in use, or its process ended without closing it'],
    ['memory', file.bootId === '' ? 'none yet' : memoryText(memory)],
    ['next start', nextStart(file, state, memory)],
  ]
}

function memoryText({ isLive, isSameBoot, page, folder }: Memory): string {
  if (page !== undefined) return `there, with the last id: ${printable(page.path)}`
  if (isLive === undefined)
    return `not known: ${isSameBoot ? `${folder} cannot be read` : 'only the native engine can tell here'}`
  return isSameBoot
    ? `not in ${folder}: deleted, or in another container`
    : 'gone: this system has restarted since, or it is another system'
}

function nextStart({ intended, isClean }: StateFile, { ids }: State, { isLive }: Memory): string {
  if (isLive || isClean) return 'after the last id'
  const ceiling = `not before ${timeText(ids.timeMs(intended))}`
  return isLive === false ? ceiling : `after the last id; if the memory is gone, ${ceiling}`
}

function userRows(users: readonly User[] | undefined): string[][] {
  if (users === undefined) return [['open by', 'not known on this system']]
  if (users.length === 0) return [['open by', 'no process']]
  return users.map(({ pid, command }, i) => [i === 0 ? 'open by' : '', `${pid} ${printable(command)}`])
}

/** Returns the cell of a list for the time of the last id and the process that holds the claim. */
export function claimTime({ latest, timeMs, holder }: Claim): string {
  if (latest.says.use === 'page') return 'in its page'
  if (holder === undefined) return timeMs === undefined ? 'none' : timeText(timeMs)
  const process = { running: `process ${holder.pid}`, gone: 'gone', unknown: 'another container' }[holder.fate]
  return `${timeMs === undefined ? 'none' : `before ${timeText(timeMs)}`}, ${process}`
}

/** Returns a claim as an object for `--json`. */
export function plainClaim({ path, latest, ids, lastSlot, timeMs, holder }: Claim) {
  return {
    path,
    kind: 'claim',
    format: latest.says.format,
    ...plainIds(ids),
    lastId: lastSlot === undefined ? null : String(ids.at(lastSlot)),
    ...plainMoment(lastSlot === undefined ? undefined : timeMs),
    clock: ids.clock,
    ceiling: latest.says.use === 'released' || timeMs === undefined ? null : plainMoment(timeMs),
    use: latest.says.use,
    link: latest.number,
    heldBy: holder ?? null,
  }
}

/** Returns a claim as lines. */
export function claimLines({ path, latest, ids, lastSlot, timeMs, holder }: Claim, paint: Paint): string[] {
  const { use } = latest.says
  const isKnown = use === 'released' || timeMs === undefined
  return table([
    ['claim', printable(path)],
    ['format', String(latest.says.format)],
    ...idsRows(ids, paint),
    ...(lastSlot === undefined ? [['last id', isKnown ? 'none yet' : 'not known']] : idRows(ids, lastSlot)),
    ...(isKnown ? [] : [['ceiling', `ids before ${timeText(timeMs)}`]]),
    ['clock', clockText(ids)],
    ['held by', use === 'page' ? 'no process: the page beside it counts the ids' : heldBy(holder)],
  ])
}

function heldBy(holder: Claim['holder']): string {
  if (holder === undefined) return 'no process: it was released'
  const { pid, fate } = holder
  if (fate === 'gone') return `no process: ${pid} is gone`
  if (fate === 'unknown') return `${pid}, in another container, so it is not known whether it runs`
  return `${pid} ${printable(userOf(pid).command)}`
}
