import { once } from 'node:events'
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { WaitLine } from '../../src/cli/progress.js'
import { decode, layouts } from '../../src/index.js'
import { publish } from '../../src/platform/events.js'
import { memoryStore } from '../../src/stores/index.js'
import { engines } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { graupelIn, groupIn, launch, sqliteFleet } from './fleet.ts'

const isWindows = process.platform === 'win32'
const hourMs = 3_600_000

type Fleet = Awaited<ReturnType<typeof sqliteFleet>>

/** Returns the ids that `graupel next` prints. */
async function idsOf({ folder, words }: Fleet, ...more: string[]): Promise<bigint[]> {
  const { status, stdout, stderr } = await graupelIn(folder, ['next', ...more, ...words])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1).map(BigInt)
}

/** Reads the records of all nodes of the first shard. */
async function recordsOf({ store }: Fleet) {
  const [group] = await store.list('groups/')
  if (group === undefined) return []
  return (await store.list(`leases/${group.key.split('/')[1]}/0/`)).map(({ value }) => JSON.parse(value))
}

describe.each(engines)('graupel next --store on the %s engine', (engine) => {
  it('leases a node for the ids, and releases it above them', async () => {
    const fleet = await sqliteFleet()
    const ids = await idsOf(fleet, '-n', '5000', '--engine', engine)
    expect(ids).toHaveLength(5000)
    const [record, ...others] = await recordsOf(fleet)
    expect(others).toEqual([])
    expect(record).toMatchObject({ isReleased: true, windowMs: 6000 })
    const { node, timestamp } = decode(ids.at(-1) as bigint, layouts.twitter)
    expect(new Set(ids.map((id) => decode(id, layouts.twitter).node))).toEqual(new Set([node]))
    expect(Date.parse(record.until)).toBe(timestamp.getTime() + 1)
    // The next command takes the node at once, and continues above.
    const more = await idsOf(fleet, '-n', '10', '--engine', engine)
    expect(isAscending([...ids, ...more])).toBe(true)
    expect(await recordsOf(fleet)).toHaveLength(1)
  })

  it('gives commands that run at the same time different nodes', async () => {
    const fleet = await sqliteFleet()
    const words = ['-n', '20000', '--layout', 'js53', '--engine', engine]
    const runs = await Promise.all(Array.from({ length: 4 }, () => idsOf(fleet, ...words)))
    expect(new Set(runs.flat()).size).toBe(80_000)
  })
})

describe('graupel next --store', () => {
  it('creates the table in a new database, and uses the table that is named', async () => {
    const fleet = await sqliteFleet()
    const made = { ...fleet, words: ['--store', 'sqlite:made.db', '--table', 'nodes'] }
    const [first] = await idsOf(made)
    const [second] = await idsOf(made)
    expect((second as bigint) > (first as bigint)).toBe(true)
    const { stdout } = await graupelIn(fleet.folder, ['lease', 'list', ...made.words])
    expect(stdout).toMatch(/\n0 of 1,024 nodes held, 1 released\n$/)
  })

  it('takes namespace, layout, epoch, window and the node, or some fields of the node', async () => {
    const fleet = await sqliteFleet()
    const words = ['--namespace', 'orders', '--epoch', '1600000000000', '--window-ms', '500', '--format', 'json']
    const printed = async (...more: string[]) => {
      const { stdout, stderr } = await graupelIn(fleet.folder, ['next', ...words, ...more, ...fleet.words])
      expect(stderr).toBe('')
      return JSON.parse(stdout)
    }
    const { timestampMs, fields } = await printed('--node', 'datacenter=3')
    expect(Math.abs(timestampMs - Date.now())).toBeLessThan(60_000)
    expect(fields.datacenter).toBe(3)
    expect((await printed('--node', '39')).node).toBe(39)
    const [group] = await fleet.store.list('groups/')
    expect(group?.key).toMatch(/^groups\/orders-/)
    expect(JSON.parse(group?.value as string).epochMs).toBe(1_600_000_000_000)
    expect(await recordsOf(fleet)).toContainEqual(expect.objectContaining({ windowMs: 500 }))
  })

  it.each<[string[], RegExp]>([
    [
      ['--window-ms', '50'],
      /^graupel: --window-ms is 50; pass milliseconds from 100 to 3600000 \(ERR_OPTION_INVALID\)/,
    ],
    [
      ['--reserve-ms', '50'],
      /^graupel: --reserve-ms is for a node that is not leased; leave out --reserve-ms or --store/,
    ],
    [['--node', 'rack=1'], /'rack'.*\(ERR_NODE_INVALID\)/],
    [['--engine', 'rust'], /--engine is 'rust'/],
    [['--table', 'a b'], /^graupel: --table is 'a b'; .*\(ERR_OPTION_INVALID\)/],
    [['--acquire-timeout-ms', '1s'], /--acquire-timeout-ms is '1s'; give a whole number/],
  ])('refuses %j, and holds no node then', async (words, message) => {
    const fleet = await sqliteFleet()
    const { status, stdout, stderr } = await graupelIn(fleet.folder, ['next', ...words, ...fleet.words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
    expect((await recordsOf(fleet)).filter(({ isReleased }) => !isReleased)).toEqual([])
  })

  it('names holders if every node is still held after --acquire-timeout-ms', async () => {
    const fleet = await sqliteFleet()
    await fullGroup(fleet)
    const words = ['next', '--layout', 'js53', '--acquire-timeout-ms', '0', ...fleet.words]
    const { status, stderr } = await graupelIn(fleet.folder, words)
    expect(status).toBe(2)
    expect(stderr).toMatch(
      /^graupel: [^\n]* held: 32 of [^\n]* raise acquireTimeoutMs \(0\); see --acquire-timeout-ms \(ERR_NODES_EXHAUSTED\)\n$/,
    )
  })

  it.skipIf(isWindows)('is ended by Ctrl-C while it waits for a node, and has changed nothing', async () => {
    const fleet = await sqliteFleet()
    await fullGroup(fleet)
    const before = await recordsOf(fleet)
    const { child, ended } = launch(talkative(fleet.folder), ['next', '--layout', 'js53', ...fleet.words])
    let statements = 0
    child.stderr.on('data', (dots) => {
      statements += dots.length
    })
    // The command has looked for a node more than once.
    await until(() => statements >= 12)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ signal: 'SIGINT', stdout: '' })
    expect(await recordsOf(fleet)).toEqual(before)
  })

  it.skipIf(isWindows).each(['SIGINT', 'SIGTERM'] as const)(
    'releases the node if %s ends it, even while its output is not read',
    async (signal) => {
      const fleet = await sqliteFleet()
      const { child, ended } = launch(fleet.folder, ['next', '-n', '9007199254740991', ...fleet.words])
      await once(child.stdout, 'readable')
      child.stdout.pause()
      const [held] = await recordsOf(fleet)
      expect(held.isReleased).toBe(false)
      child.kill(signal)
      expect((await ended).signal).toBe(signal)
      const [record, ...others] = await recordsOf(fleet)
      expect(record).toMatchObject({ isReleased: true, token: held.token })
      expect(others).toEqual([])
    },
  )

  it('waits if another process has locked the database', async () => {
    const fleet = await sqliteFleet()
    fleet.database.exec('BEGIN EXCLUSIVE')
    const { child, ended } = launch(talkative(fleet.folder), ['next', ...fleet.words])
    // The command is about to read the database.
    await once(child.stderr, 'data')
    fleet.database.exec('COMMIT')
    expect(await ended).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\n$/) })
  })

  it.skipIf(isWindows)('continues after the store was unreachable for longer than a window', async () => {
    const fleet = await sqliteFleet()
    const words = ['-n', '9007199254740991', '--window-ms', '300', ...fleet.words]
    const { child, ended } = launch(fleet.folder, ['next', ...words])
    await once(child.stdout, 'data')
    child.stdout.pause()
    const latest = async () => Math.max(...(await recordsOf(fleet)).map((record) => Date.parse(record.until)))
    fleet.database.exec('BEGIN EXCLUSIVE')
    const lockedMs = Date.now()
    await until(() => Date.now() > lockedMs + 400)
    fleet.database.exec('COMMIT')
    // The command has renewed its lease, or acquired another.
    await until(async () => (await latest()) > lockedMs + 1000)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ signal: 'SIGINT', stderr: '' })
  })

  it('releases the node when its reader is gone', async () => {
    const fleet = await sqliteFleet()
    const { child, ended } = launch(fleet.folder, ['next', '-n', '9007199254740991', ...fleet.words])
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await ended).toMatchObject({ status: 0, stderr: '' })
    expect(await recordsOf(fleet)).toEqual([expect.objectContaining({ isReleased: true })])
  })
})

describe('the line of a wait for a node', () => {
  it('says on a terminal, after a second, why the command waits, and is erased at the end', async () => {
    vi.useFakeTimers()
    const shown = (isTTY: boolean, durable: boolean, untilMs?: number) => {
      const written: string[] = []
      const store = { ...memoryStore(), durable, name: 'redis' }
      const line = new WaitLine({ isTTY, write: (text) => written.push(text) }, store)
      const event = { type: 'waiting', store: 'redis', layout: '', namespace: '', node: 0, ceilingMs: 0 } as const
      if (untilMs !== undefined) publish('lease', { ...event, untilMs })
      vi.advanceTimersByTime(999)
      expect(written).toEqual([])
      vi.advanceTimersByTime(1)
      line[Symbol.dispose]()
      vi.advanceTimersByTime(9000)
      return written
    }
    const erased = '\r\x1b[K'
    expect(shown(false, true)).toEqual([])
    expect(shown(true, true)).toEqual([`${erased}waiting for a free node`, erased])
    const untilMs = Date.now() + hourMs
    const until = `${erased}waiting until ${new Date(untilMs).toISOString().slice(11, 19)} UTC`
    expect(shown(true, true, untilMs)).toEqual([`${until}: the node may have ids up to then`, erased])
    expect(shown(true, false, untilMs)).toEqual([
      `${until}: redis may forget leases when it restarts, so it has to run for 11 s first`,
      erased,
    ])
    vi.useRealTimers()
  })
})

/** Makes the client in a folder write a dot to stderr before each statement. */
function talkative(folder: string): string {
  const path = join(folder, 'node_modules/libsql')
  const real = realpathSync(path)
  rmSync(path)
  mkdirSync(path)
  const dotted = (call: string) => `${call}(sql) { require('node:fs').writeSync(2, '.'); return super.${call}(sql) }`
  writeFileSync(
    join(path, 'index.js'),
    `module.exports = class extends require(${JSON.stringify(real)}) { ${dotted('prepare')} ${dotted('exec')} }`,
  )
  return folder
}

/** Writes records by which every node of layout js53 is held. */
async function fullGroup({ store }: Fleet) {
  const { lease } = await groupIn(store, layouts.js53, 'default')
  for (let node = 0; node < layouts.js53.nodes; node++) await lease(node, hourMs)
}
