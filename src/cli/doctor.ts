import { accessSync, constants, lstatSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { containerSign } from '../host/container.js'
import { checkFolder, pagesFolder } from '../host/folder.js'
import { engineInfo } from '../index.js'
import { checkLifetime, checkMakesIds, type Layout } from '../layout/index.js'
import { groupsFolder, numbersFolder } from '../stores/record.js'
import { type Arguments, helpFlag, type Manual, refuseWords, UsageError } from './arguments.js'
import { type Check, durabilityOf, messageOf, type Result, serverOf, writeChecks } from './checks.js'
import { groupsIn, isUnreadable, nodesIn, readTime, stateOf } from './lease-records.js'
import { lockHolders } from './lock-holders.js'
import type { Output } from './output.js'
import { clientNotes, type OpenStore, type StoreValues, storeFlags, withStore } from './store.js'
import { layoutFlags, readLayouts } from './values.js'

const flags = {
  ...layoutFlags,
  ...storeFlags,
  data: { value: 'FOLDER', help: 'the folder of a graupel-server, whose database is the store' },
  json: { help: 'print a JSON array' },
  help: helpFlag,
} as const

export const doctorManual: Manual<typeof flags> = {
  name: 'doctor',
  usage: 'graupel doctor [flags]',
  summary: 'Check this machine: engine, copies, folder, clock, layout, store.',
  flags,
  notes: [
    'Prints a line for each check: ok, note or bad. The exit code is 1 if a check is',
    'bad, and 0 otherwise. Without --store and --data no store is checked. Nothing is',
    'written. All records are read. Those of SQLite have checksums.',
    ...clientNotes,
  ],
}

/** `graupel doctor`. @returns 1 if a check is bad */
export async function doctor({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<number> {
  refuseWords('doctor', positionals)
  const checks = [
    make('engine', engine),
    make('copies', copies),
    make('state folder', folder),
    ...container(),
    make('clock', clock),
    ...readLayouts(values)
      .slice(0, 1)
      .map((layout) => make('layout', () => expiry(layout))),
  ]
  if (values.data !== undefined && values.store !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--data and --store both name a store; give one of them')
  }
  const store = values.data === undefined ? values.store : `sqlite:${resolve(values.data, 'graupel.db')}`
  for (const name of ['prefix', 'table'] as const) {
    if (store === undefined && values[name] !== undefined) {
      throw new UsageError('ERR_OPTION_INVALID', `--${name} is for --store; give both, or leave --${name} out`)
    }
  }
  if (store !== undefined) checks.push(...(await stored({ ...values, store })))
  return writeChecks(checks, values.json !== undefined, output)
}

/** Makes a check. It is bad if it cannot look. */
function make(check: string, look: () => Result): Check {
  try {
    return { check, ...look() }
  } catch (error) {
    return { check, state: 'bad', text: messageOf(error) }
  }
}

function engine(): Result {
  const { kind, file, reason } = engineInfo()
  if (kind === 'native') return { state: 'ok', text: `native, ${file}` }
  return { state: 'note', text: `js, because ${reason}; one process of a host uses a node` }
}

function copies(): Result {
  const { copies, copiesDevice } = engineInfo()
  if (copies === 'detected') return { state: 'ok', text: `detected by ${copiesDevice}` }
  const remedy = 'call lease.park() before a snapshot of the running machine, and lease.resume() after the restore'
  if (copies === 'possible') return { state: 'note', text: `possible (VMGENID), and no device tells them; ${remedy}` }
  return { state: 'ok', text: `unknown: no device tells them; if this machine can be copied, ${remedy}` }
}

function folder(): Result {
  const path = pagesFolder()
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    accessSync(dirname(path), constants.W_OK | constants.X_OK)
    return { state: 'ok', text: `${path} will be made by the first generator` }
  }
  checkFolder(path)
  accessSync(path, constants.W_OK | constants.X_OK)
  return { state: 'ok', text: path }
}

/** A line only in a container whose nodes other containers may have. */
function container(): Check[] {
  const sign = process.env['GRAUPEL_NODE_UNIQUE'] === '1' ? undefined : containerSign()
  if (sign === undefined) return []
  const text = `${sign}, so other containers do not share the state folder; lease nodes, or give this container a node of its own and set GRAUPEL_NODE_UNIQUE=1`
  return [{ check: 'container', state: 'note', text }]
}

/**
 * Clock sources of Linux that are read by a system call, which takes a hundred times as long as a counter.
 */
const slowSources = ['hpet', 'acpi_pm', 'jiffies', 'refined-jiffies', 'pit']

function clock(): Result {
  const now = new Date().toISOString()
  let source: string
  try {
    source = readFileSync('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'latin1').trim()
  } catch {
    return { state: 'ok', text: `${now}; the system does not name its source` }
  }
  if (!slowSources.includes(source)) return { state: 'ok', text: `${now}, by ${source}` }
  return { state: 'note', text: `${now}, by ${source}, which is slow to read; choose tsc or kvm-clock` }
}

const yearMs = 365.25 * 24 * 3600 * 1000

function expiry(layout: Layout): Result {
  checkMakesIds(layout)
  checkLifetime(layout, Date.now())
  const { name, expiresAt } = layout
  const day = expiresAt.toISOString().replace(/T.*/, '')
  const leftMs = expiresAt.getTime() - Date.now()
  if (leftMs < yearMs) return { state: 'note', text: `${name} expires on ${day}; plan the move to a later epoch` }
  return { state: 'ok', text: `${name} expires on ${day}` }
}

async function stored(values: StoreValues): Promise<Check[]> {
  // First, because the command has locks of its own later.
  const locks = await lockChecks(values.store)
  try {
    return [...locks, ...(await withStore(values, { mayMake: false }, storeChecks))]
  } catch (error) {
    return [...locks, { check: 'store', state: 'bad', text: messageOf(error) }]
  }
}

async function lockChecks(store: string): Promise<Check[]> {
  // Not by `StoreUrl`, which would then be among the modules that a page loads.
  const [, file] = /^sqlite:(?:\/\/(?=\/))?(.+)$/i.exec(store) ?? []
  if (file === undefined) return []
  const holders = await lockHolders(file)
  if (holders === undefined) return []
  const text = `a lock on ${file} has been held for half a second by ${holders}, and nothing can be counted meanwhile; end the transaction, or the process`
  return [{ check: 'locks', state: 'bad', text }]
}

/** The most lines about damage. */
const mostDamage = 20

async function storeChecks({ calls, shown, damage }: OpenStore): Promise<Check[]> {
  const checks: Check[] = []
  const add = (check: string, state: Check['state'], text: string) => checks.push({ check, state, text })
  const startMs = performance.now()
  await calls.read(`${groupsFolder}doctor`)
  const tookMs = (performance.now() - startMs).toFixed(1)
  const durability = await durabilityOf(calls)
  add('store', durability.state, `${shown} answers in ${tookMs} ms; ${durability.text}`)
  const server = await serverOf(calls)
  if (server.state !== 'ok') add('server', server.state, server.text)
  const damaged = await damage()
  for (const text of damaged.slice(0, mostDamage)) add('records', 'bad', text)
  if (damaged.length > mostDamage) add('records', 'bad', `${damaged.length - mostDamage} more are damaged`)
  const numbers = await calls.list(numbersFolder)
  if (numbers.length > 0) add('numbers', 'ok', `${numbers.length} segments and counters`)
  for (const group of await groupsIn(calls)) {
    if (isUnreadable(group)) {
      add('nodes', 'bad', 'the record of a group cannot be read; see graupel lease list')
      continue
    }
    const nodes = await nodesIn(calls, group)
    const nowMs = await readTime(calls)
    const held = nodes.filter((node) => !isUnreadable(node) && stateOf(node, nowMs) === 'held').length
    const damaged = nodes.filter(isUnreadable).length
    const free = group.nodes - held - damaged
    const rest = damaged > 0 ? `, and ${damaged} are damaged; see graupel lease list` : ''
    const state = damaged > 0 || free === 0 ? 'bad' : free < group.nodes / 10 ? 'note' : 'ok'
    add('nodes', state, `${group.namespace} (${group.name}): ${free} of ${group.nodes} are free${rest}`)
  }
  return checks
}
