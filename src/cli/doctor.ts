import { accessSync, constants, lstatSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { containerSign } from '../host/container.js'
import { pagesFolder } from '../host/folder.js'
import { engineInfo } from '../index.js'
import type { Layout } from '../layout/index.js'
import { groupsFolder, numbersFolder } from '../stores/record.js'
import { type Arguments, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import { type Check, durabilityText, messageOf, writeChecks } from './checks.js'
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
  if (positionals.length > 0) {
    throw new UsageError('ERR_OPTION_INVALID', `doctor takes no ${quote(positionals[0] as string)}; leave it out`)
  }
  const checks = [engine(), copies(), folder(), ...container(), clock(), ...readLayouts(values).slice(0, 1).map(expiry)]
  if (values.data !== undefined && values.store !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--data and --store both name a store; give one of them')
  }
  const store = values.data === undefined ? values.store : `sqlite:${resolve(values.data, 'graupel.db')}`
  if (store !== undefined) checks.push(...(await stored({ ...values, store })))
  return writeChecks(checks, values.json !== undefined, output)
}

function engine(): Check {
  try {
    const { kind, file, reason } = engineInfo()
    if (kind === 'native') return { check: 'engine', state: 'ok', text: `native, ${file}` }
    return { check: 'engine', state: 'note', text: `js, because ${reason}; one process of a host uses a node` }
  } catch (error) {
    return { check: 'engine', state: 'bad', text: messageOf(error) }
  }
}

function copies(): Check {
  const check = 'copies'
  try {
    const { copies, copiesDevice } = engineInfo()
    if (copies === 'detected') return { check, state: 'ok', text: `detected by ${copiesDevice}` }
    const remedy = 'call lease.park() before a snapshot of the running machine, and lease.resume() after the restore'
    if (copies === 'possible')
      return { check, state: 'note', text: `possible (VMGENID), and no device tells them; ${remedy}` }
    return { check, state: 'ok', text: `unknown: no device tells them; if this machine can be copied, ${remedy}` }
  } catch (error) {
    return { check, state: 'bad', text: messageOf(error) }
  }
}

function folder(): Check {
  const check = 'state folder'
  try {
    const path = pagesFolder()
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) {
      accessSync(dirname(path), constants.W_OK | constants.X_OK)
      return { check, state: 'ok', text: `${path} will be made by the first generator` }
    }
    if (!found.isDirectory()) return { check, state: 'bad', text: `${path} is no folder; remove it` }
    const uid = process.geteuid?.()
    if (uid !== undefined && found.uid !== uid) {
      return { check, state: 'bad', text: `${path} belongs to the user ${found.uid}, and this is ${uid}; remove it` }
    }
    if (process.platform !== 'win32' && (found.mode & 0o022) !== 0) {
      return { check, state: 'bad', text: `others may write to ${path}; run chmod 700 ${path}` }
    }
    accessSync(path, constants.W_OK | constants.X_OK)
    return { check, state: 'ok', text: path }
  } catch (error) {
    return { check, state: 'bad', text: messageOf(error) }
  }
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

function clock(): Check {
  const check = 'clock'
  const now = new Date().toISOString()
  let source: string
  try {
    source = readFileSync('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'latin1').trim()
  } catch {
    return { check, state: 'ok', text: `${now}; the system does not name its source` }
  }
  if (!slowSources.includes(source)) return { check, state: 'ok', text: `${now}, by ${source}` }
  return { check, state: 'note', text: `${now}, by ${source}, which is slow to read; choose tsc or kvm-clock` }
}

const yearMs = 365.25 * 24 * 3600 * 1000

function expiry({ name, expiresAt }: Layout): Check {
  const check = 'layout'
  const day = expiresAt.toISOString().replace(/T.*/, '')
  const leftMs = expiresAt.getTime() - Date.now()
  if (leftMs <= 0) return { check, state: 'bad', text: `${name} expired on ${day}; no id can be made` }
  const plan = leftMs < yearMs ? '; plan the move to a later epoch' : ''
  return { check, state: leftMs < yearMs ? 'note' : 'ok', text: `${name} expires on ${day}${plan}` }
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
  if (holders.length === 0) return []
  const text = `${holders.join(' and ')} has had a lock on ${file} for half a second, and nothing can be counted meanwhile; end its transaction, or the process`
  return [{ check: 'locks', state: 'bad', text }]
}

/** The most lines about damage. */
const mostDamage = 20

async function storeChecks({ store, calls, shown, damage }: OpenStore): Promise<Check[]> {
  const startMs = performance.now()
  await calls.read(`${groupsFolder}doctor`)
  const tookMs = (performance.now() - startMs).toFixed(1)
  // Refuses a server that evicts records, and warns of one that may acknowledge after another was promoted.
  if (!store.durable) await calls.incarnation()
  const checks: Check[] = [
    {
      check: 'store',
      state: store.durable ? 'ok' : 'note',
      text: `${shown} answers in ${tookMs} ms; ${durabilityText(store)}`,
    },
  ]
  for (const text of await calls.advice()) checks.push({ check: 'server', state: 'note', text })
  const damaged = await damage()
  for (const text of damaged.slice(0, mostDamage)) checks.push({ check: 'records', state: 'bad', text })
  if (damaged.length > mostDamage) {
    checks.push({ check: 'records', state: 'bad', text: `${damaged.length - mostDamage} more are damaged` })
  }
  const numbers = await calls.list(numbersFolder)
  if (numbers.length > 0)
    checks.push({ check: 'numbers', state: 'ok', text: `${numbers.length} segments and counters` })
  for (const group of await groupsIn(calls)) {
    if (isUnreadable(group)) {
      checks.push({
        check: 'nodes',
        state: 'bad',
        text: 'the record of a group cannot be read; see graupel lease list',
      })
      continue
    }
    const nodes = await nodesIn(calls, group)
    const nowMs = await readTime(calls)
    const held = nodes.filter((node) => !isUnreadable(node) && stateOf(node, nowMs) === 'held').length
    const damaged = nodes.filter(isUnreadable).length
    const free = group.nodes - held - damaged
    const text = `${group.namespace} (${group.name}): ${free} of ${group.nodes} are free${damaged > 0 ? `, and ${damaged} are damaged; see graupel lease list` : ''}`
    checks.push({
      check: 'nodes',
      state: damaged > 0 || free === 0 ? 'bad' : free < group.nodes / 10 ? 'note' : 'ok',
      text,
    })
  }
  return checks
}
