import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineInfo, layouts } from 'graupel'
import { createCounter } from 'graupel/segments'
import { afterAll, describe, expect, it } from 'vitest'
import { spawnGraupel } from '../support/cli.js'
import { graupelIn, groupIn, sqliteFleet } from './fleet.ts'

const parent = mkdtempSync(join(tmpdir(), 'graupel-doctor-'))
afterAll(() => rmSync(parent, { recursive: true }))

interface Check {
  readonly check: string
  readonly state: string
  readonly text: string
}

/** The checks of `graupel doctor --json`, by name, and the exit code. */
function checksOf(words: readonly string[], variables: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnGraupel(['doctor', '--json', ...words], {
    GRAUPEL_STATE_FOLDER: parent,
    ...variables,
  })
  expect(stderr).toBe('')
  const checks: Check[] = JSON.parse(stdout)
  return { status, ...Object.fromEntries(checks.map((found) => [found.check, found])) } as {
    status: number
    [check: string]: unknown
  }
}

describe('graupel doctor', () => {
  it('has a line for each check, and ends with 0 if none is bad', () => {
    const { status, stdout, stderr } = spawnGraupel(['doctor', '--layout', 'twitter'], { GRAUPEL_STATE_FOLDER: parent })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const names = stdout
      .split('\n')
      .map((line) => /^(?:ok|note) +(engine|copies|state folder|clock|layout) /.exec(line)?.[1])
    expect(names).toEqual(['engine', 'copies', 'state folder', 'clock', 'layout', undefined])
    expect(stdout).toContain('twitter expires on 2080-07-10')
    expect(readdirSync(parent)).toEqual([])
  })

  it('says which engine there is, and how copies of the machine are told', () => {
    const { kind } = engineInfo()
    expect(checksOf([])).toMatchObject({
      engine: { state: kind === 'native' ? 'ok' : 'note', text: expect.stringMatching(new RegExp(`^${kind},`)) },
      copies: { text: expect.stringMatching(/^(detected|possible|unknown)/) },
    })
    expect(checksOf([], { GRAUPEL_ENGINE: 'js' })).toMatchObject({
      engine: { state: 'note', text: expect.stringContaining("GRAUPEL_ENGINE is 'js'") },
    })
  })

  it('has a note in a container, unless its node is its own', () => {
    const inPod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', GRAUPEL_NODE_UNIQUE: '' }
    expect(checksOf([], inPod)).toMatchObject({
      status: 0,
      container: {
        state: 'note',
        text: expect.stringMatching(/^KUBERNETES_SERVICE_HOST is set, .*GRAUPEL_NODE_UNIQUE=1/),
      },
    })
    expect(checksOf([], { ...inPod, GRAUPEL_NODE_UNIQUE: '1' })).not.toHaveProperty('container')
  })

  it('ends with 1 if the layout has expired, or the folder is missing or open to others', () => {
    for (const words of [
      ['--layout', 'baidu'],
      ['--layout', 'mastodon'],
      ['--epoch', '2199-01-01'],
    ])
      expect(checksOf(words)).toMatchObject({ status: 1, layout: { state: 'bad' } })
    const missing = join(parent, 'missing')
    expect(checksOf([], { GRAUPEL_STATE_FOLDER: missing })).toMatchObject({
      status: 1,
      'state folder': { state: 'bad', text: expect.stringContaining('ENOENT') },
    })
  })

  it.runIf(engineInfo().kind === 'native' && process.platform !== 'win32')(
    'ends with 1 if others may write to the folder',
    () => {
      spawnGraupel(['next', '--node', '7', '--state', 'host'], { GRAUPEL_STATE_FOLDER: parent })
      const [name = 'graupel-none'] = readdirSync(parent)
      const path = join(parent, name)
      expect(checksOf([])).toMatchObject({ status: 0, 'state folder': { state: 'ok', text: path } })
      // The engines refuse both.
      for (const mode of [0o777, 0o750]) {
        chmodSync(path, mode)
        expect(checksOf([])).toMatchObject({
          status: 1,
          'state folder': {
            state: 'bad',
            text: expect.stringMatching(/open to other users by its mode 07\d\d, .*mode 0700/),
          },
        })
      }
    },
  )

  it('asks a store for its time, its durability and the free nodes of each group', async () => {
    const { store, folder, words } = await sqliteFleet()
    const { lease } = await groupIn(store, layouts.twitter, 'orders')
    await lease(3, 600_000)
    await lease(4, -600_000)
    const { status, stdout } = await graupelIn(folder, ['doctor', ...words])
    expect(stdout).toMatch(/\nok +store +.* answers in [\d.]+ ms; durable\n/)
    expect(stdout).toMatch(/\nok +nodes +orders \(.*\): 1023 of 1024 are free\n/)
    expect(status).toBe(0)
  })

  it('reads all records of the database of a service, and names those that are damaged', async () => {
    const data = mkdtempSync(join(parent, 'data-'))
    const { database, store, folder } = await sqliteFleet(join(data, 'graupel.db'))
    const { next, close } = await createCounter({ store, name: 'bills' })
    await next()
    close()
    expect(await graupelIn(folder, ['doctor', '--data', data])).toMatchObject({ status: 0 })
    database.exec(`UPDATE graupel_store SET value = replace(value, '"count":1', '"count":0')`)
    const { status, stdout } = await graupelIn(folder, ['doctor', '--data', data])
    expect(stdout).toMatch(
      /\nbad +records +the record numbers\/bills is damaged: its checksum does not fit its content\n/,
    )
    expect(status).toBe(1)
    expect(spawnGraupel(['doctor', '--data', data, '--store', 'sqlite:x'])).toMatchObject({ status: 2 })
  })

  it.runIf(process.platform === 'linux')('names the process that has locked the database', async () => {
    const data = mkdtempSync(join(parent, 'data-'))
    const { database, folder } = await sqliteFleet(join(data, 'graupel.db'))
    for (const lock of ['BEGIN EXCLUSIVE', 'BEGIN; SELECT 1 FROM sqlite_master LIMIT 1']) {
      database.exec(lock)
      const { status, stdout } = await graupelIn(folder, ['doctor', '--data', data])
      expect(stdout).toMatch(new RegExp(`\nbad +locks +a lock on \\S+ has been held .* by ${process.pid} \\(`))
      expect(status).toBe(1)
      database.exec('COMMIT')
    }
  })

  it.runIf(process.platform === 'linux')('names the writer of a database with a WAL, and no idle process', async () => {
    const data = mkdtempSync(join(parent, 'data-'))
    const { database, folder } = await sqliteFleet(join(data, 'graupel.db'))
    database.exec('PRAGMA journal_mode = WAL; BEGIN; SELECT 1 FROM sqlite_master LIMIT 1')
    const idle = await graupelIn(folder, ['doctor', '--data', data])
    expect(idle).toMatchObject({ status: 0, stdout: expect.not.stringContaining('locks') })
    database.exec('COMMIT; BEGIN IMMEDIATE')
    const { stdout } = await graupelIn(folder, ['doctor', '--data', data])
    expect(stdout).toMatch(new RegExp(`\nbad +locks +a lock on \\S+ has been held .* by ${process.pid} \\(`))
    database.exec('COMMIT')
  })

  it('ends with 1 if the store cannot be reached, and shows no password', () => {
    const found = checksOf(['--store', 'etcd://root:secret@127.0.0.1:1'])
    expect(found).toMatchObject({ status: 1, store: { state: 'bad', text: expect.stringContaining('127.0.0.1:1') } })
    expect(JSON.stringify(found)).not.toContain('secret')
  })
})
