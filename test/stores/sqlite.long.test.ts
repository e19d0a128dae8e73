import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmNode } from '../../scripts/npm-binary.ts'
import { type SqliteDatabase, sqliteStore } from '../../src/stores/sqlite.js'
import { storeContract } from '../../src/stores/testing.js'
import { repository } from '../support/documents.ts'
import { expectNothingLost } from './increment.ts'
import { load, type Open, type Opened } from './kinds/kind.ts'
import { sqliteClients } from './kinds/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(['libsql', 'better-sqlite3'])('SQLite by %s', (client) => {
  let opened: Opened
  let Database: new (file: string, options?: object) => SqliteDatabase & { close(): void }
  beforeAll(async () => {
    opened = await (sqliteClients[client] as Open<string>)(join(folder, `${client}.db`))
    Database = load(client, client === 'libsql' ? 'clients' : client)
    await opened.store.setup?.()
    // better-sqlite3 may have to be compiled.
  }, 600_000)
  afterAll(() => opened?.close())

  for (const { name, run } of storeContract(async () => opened.store)) it(name, run)

  it('is refused if a loss of power would undo writes', async () => {
    const careless = new Database(join(folder, `${client}-careless.db`))
    careless.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    await expect(sqliteStore(careless).setup()).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    await sqliteStore(careless, { assumeDurable: true }).setup()
    careless.close()
  })

  it.each(['OFF', 'MEMORY'])('is refused if a crash would damage the file, in the journal mode %s', async (mode) => {
    const database = new Database(join(folder, `${client}.db`))
    const store = sqliteStore(database)
    await store.read('folder/1')
    const [set] = database.prepare(`PRAGMA journal_mode = ${mode}`).all() as { journal_mode: string }[]
    // In SQLite's defensive mode, a connection keeps its journal. MEMORY is set by every client.
    if (mode === 'MEMORY' || set?.journal_mode === 'off') {
      await expect(store.read('folder/1')).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    } else expect(set?.journal_mode).toBe('delete')
    database.exec('PRAGMA journal_mode = DELETE')
    await store.read('folder/1')
    database.close()
  })

  it('stays in its table beside a temporary table and an attached database', async () => {
    const database = new Database(join(folder, `${client}.db`))
    const store = sqliteStore(database)
    const version = (await store.write('stays/1', 'first', undefined)) as string
    database.exec('CREATE TEMPORARY TABLE graupel_store (key TEXT PRIMARY KEY, value TEXT, version TEXT)')
    database.exec('CREATE TEMPORARY TABLE graupel_store_sums (key TEXT PRIMARY KEY, sum INTEGER)')
    database.exec(`ATTACH '${join(folder, `${client}-attached.db`)}' AS other`)
    expect((await store.read('stays/1'))?.version).toBe(version)
    expect(await store.list('stays/')).toHaveLength(1)
    expect(await store.write('stays/1', 'second', version)).toBeDefined()
    expect(await store.add?.('stays/1', 2n)).toBe(2n)
    expect((await opened.store.read('stays/1'))?.value).toBe('second')
    expect(await opened.store.add?.('stays/1', 0n)).toBe(2n)
    database.close()
  })

  it('fails to write, and does not take it for a conflict, after PRAGMA query_only', async () => {
    const database = new Database(join(folder, `${client}.db`))
    const store = sqliteStore(database)
    database.exec('PRAGMA query_only = 1')
    await expect(store.write('query-only/1', 'x', undefined)).rejects.toThrow(/readonly/)
    database.close()
  })

  it('is copied with all that it has acknowledged, by VACUUM INTO, while processes write', async () => {
    const file = join(folder, `${client}-backup.db`)
    const copy = join(folder, `${client}-copy.db`)
    const [database, other] = [new Database(file), new Database(file)]
    const [store, another] = [sqliteStore(database), sqliteStore(other)]
    await store.setup()
    let version = (await store.write('folder/1', '0', undefined)) as string
    for (let i = 1; i <= 20; i++) {
      version = (await (i % 2 === 0 ? store : another).write('folder/1', `${i}`, version)) as string
      expect(version).toBeDefined()
      rmSync(copy, { force: true })
      database.exec(`VACUUM INTO '${copy}'`)
      const copied = new Database(copy)
      expect(await sqliteStore(copied).read('folder/1')).toEqual({ key: 'folder/1', value: `${i}`, version })
      copied.close()
    }
    database.close()
    other.close()
  })

  it('is refused while a rollback could undo writes', async () => {
    const database = new Database(join(folder, `${client}.db`))
    const store = sqliteStore(database)
    database.exec('BEGIN')
    await expect(store.write('open/1', 'x', undefined)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    database.exec('ROLLBACK')
    expect(await store.write('open/1', 'x', undefined)).toBeDefined()
    database.close()
  })

  it('names a remedy if the table is missing, and accepts any name of a table', async () => {
    const database = new Database(join(folder, `${client}-other.db`))
    const store = sqliteStore(database, { table: 'order' })
    await expect(store.read('folder/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('CREATE TABLE IF NOT EXISTS main."order"'),
    })
    database.exec(store.ddl)
    expect(await store.write('folder/1', 'x', undefined)).toBeDefined()
    database.close()
  })

  it('acknowledges no write that another process keeps from being committed', async () => {
    const file = join(folder, `${client}-busy.db`)
    const database = new Database(file)
    database.exec('PRAGMA busy_timeout = 100')
    const store = sqliteStore(database)
    await store.setup()
    const version = await store.write('folder/1', 'first', undefined)
    const program = `const Database = require(${JSON.stringify(join(repository, 'test/stores/clients/node_modules/libsql'))})
      const database = new Database(${JSON.stringify(file)})
      database.exec('BEGIN')
      database.prepare('SELECT * FROM graupel_store').all()
      console.log('reading')
      process.stdin.on('data', () => process.exit())`
    load('libsql')
    const reader = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(reader.stdout, 'data')
    await expect(store.write('folder/1', 'second', version)).rejects.toThrow('locked')
    reader.stdin.write('enough')
    await once(reader, 'exit')
    expect(await store.read('folder/1')).toEqual({ key: 'folder/1', value: 'first', version })
    expect(await store.write('folder/1', 'third', version)).toBeDefined()
    database.close()
  })

  it('rejects if the database is closed', async () => {
    const database = new Database(join(folder, `${client}.db`))
    const store = sqliteStore(database)
    database.close()
    await expect(store.read('folder/1')).rejects.toThrow()
  })
})

describe('SQLite by node:sqlite', () => {
  it.each(['node:sqlite', 'node:sqlite, rows as arrays'])('keeps the contract by %s', (client) => {
    const program = join(repository, 'test/stores/programs/contract.ts')
    const words = ['--import', 'tsx', program, client, join(folder, `node-${client.length}.db`)]
    const output = execFileSync(npmNode('22'), words, { cwd: repository, encoding: 'utf8' })
    const results = JSON.parse(output)
    const names = storeContract(() => Promise.reject(new Error('not run'))).map(({ name }) => name)
    expect(results).toEqual(Object.fromEntries(names.map((name) => [name, 'kept'])))
  })
})

describe('processes that count in one file lose nothing', () => {
  it.each([
    ['libsql', process.execPath],
    ['better-sqlite3', process.execPath],
    ['node:sqlite', npmNode('22')],
  ])('by %s', (client, node) => {
    const file = join(folder, `processes-${client.replace(':', '-')}.db`)
    return expectNothingLost(['sqlite', client, file], () => (sqliteClients['libsql'] as Open<string>)(file), {
      node,
    })
  })
})
