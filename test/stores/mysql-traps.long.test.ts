import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createGenerator } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import type { Store } from '../../src/stores/index.js'
import { mysqlStore } from '../../src/stores/mysql.js'
import { storeContract } from '../../src/stores/testing.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'
import { mysqlPools, startMysql } from './kinds/mysql.ts'
import { type Admin, Variables, waitsForLock } from './mysql-admin.ts'
import type { Server } from './servers.ts'

type ClientName = keyof typeof mysqlPools
const clients = Object.keys(mysqlPools) as ClientName[]

let server: Server
let admin: Admin
const pools: { end(): unknown }[] = []
let variablesOf: Variables
const setGlobal = (variables: Record<string, string>) => variablesOf.set(variables)

function poolOf(client: ClientName, options: object = {}) {
  const pool = mysqlPools[client](server.port, options)
  pools.push(pool)
  return pool
}

const storeOf = (client: ClientName, options: object = {}, own = {}) => mysqlStore(poolOf(client, options), own)

const unsafe = { code: 'ERR_STORE_UNSAFE' }
const unavailable = (text: string) => ({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining(text) })

describeWith(['mysql'], 'MySQL', () => {
  beforeAll(async () => {
    server = await startMysql()
    admin = mysqlPools.mysql2(server.port) as never
    variablesOf = new Variables(admin)
    const pool = mysqlPools.mysql2(server.port)
    await mysqlStore(pool).setup()
    await pool.end()
  })
  afterEach(async () => {
    await variablesOf.restore()
    for (const pool of pools.splice(0)) await pool.end()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  describe.each([
    ['READ UNCOMMITTED', { transaction_isolation: "'READ-UNCOMMITTED'" }],
    ['READ COMMITTED', { transaction_isolation: "'READ-COMMITTED'" }],
    ['REPEATABLE READ', { transaction_isolation: "'REPEATABLE-READ'" }],
    ['REPEATABLE READ by snapshots', { innodb_snapshot_isolation: '1' }],
    ['SERIALIZABLE', { transaction_isolation: "'SERIALIZABLE'" }],
  ])('whose transactions are %s', (_name, variables) => {
    // Up to version 11, MariaDB's name for the variable differs from MySQL's.
    const isolation = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name.replace('transaction_', 'tx_'), value as string]),
    )
    it.each(clients)('keeps the contract by %s', async (client) => {
      await setGlobal(isolation)
      await keepsContract(storeOf(client))
    })

    it('reports a conflict to the loser of two transactions', async () => {
      await setGlobal(isolation)
      const store = storeOf('mysql2')
      const key = `folder/${crypto.randomUUID()}`
      const version = (await store.write(key, 'first', undefined)) as string
      const other = await admin.getConnection()
      await other.query('BEGIN')
      await other.query(`UPDATE graupel_store SET value = 'theirs', version = 'theirs' WHERE \`key\` = '${key}'`)
      const [writing, reading] = [store.write(key, 'ours', version), store.read(key)]
      await waitsForLock(admin, 2)
      await other.query('COMMIT')
      other.release()
      expect(await writing).toBeUndefined()
      expect((await reading)?.value).toBe('theirs')
      expect((await store.read(key))?.value).toBe('theirs')
    })
  })

  describe.each(clients)('by %s', (client) => {
    it('refuses connections without autocommit, and leaves nothing written or locked', async () => {
      const key = `folder/${crypto.randomUUID()}`
      const version = (await storeOf(client).write(key, 'first', undefined)) as string
      await setGlobal({ autocommit: '0' })
      const store = storeOf(client)
      for (const call of [
        () => store.write(key, 'second', version),
        () => store.write(`${key}-new`, 'first', undefined),
        () => store.read(key),
        () => store.list('folder/'),
        async () => await store.add?.('sums/autocommit', 1n),
        async () => await store.nowMs?.(),
        async () => await store.incarnation?.(),
      ]) {
        await expect(call()).rejects.toMatchObject(unsafe)
      }
      await variablesOf.restore()
      const other = storeOf(client)
      // If a lock were left, this write would wait for fifty seconds.
      expect(await other.write(key, 'third', version)).toBeDefined()
      expect(await other.read(`${key}-new`)).toBeUndefined()
      expect(await other.add?.('sums/autocommit', 0n)).toBe(0n)
    })

    it('refuses to write within a transaction that was left open, and goes on after that transaction', async () => {
      const options = { connectionLimit: 1, noControlAfterUse: true }
      const pool = poolOf(client, client === 'mariadb' ? options : { connectionLimit: 1 })
      const store = mysqlStore(pool)
      const key = `folder/${crypto.randomUUID()}`
      const version = (await store.write(key, 'first', undefined)) as string
      const connections = ('promise' in pool ? pool.promise() : pool) as never as Admin
      const forgotten = await connections.getConnection()
      await forgotten.query('BEGIN')
      await forgotten.query('SELECT 1 FROM graupel_store')
      await forgotten.release()
      await expect(store.write(key, 'second', version)).rejects.toMatchObject(unsafe)
      expect((await store.read(key))?.value).toBe('first')
      expect(await store.write(key, 'third', version)).toBeDefined()
    })

    it('reads the latest record within a transaction that was left open', async () => {
      const options = { connectionLimit: 1, ...(client === 'mariadb' && { noControlAfterUse: true }) }
      const pool = poolOf(client, options)
      const key = `folder/${crypto.randomUUID()}`
      const other = storeOf('mysql2')
      const version = (await other.write(key, 'older', undefined)) as string
      const connections = ('promise' in pool ? pool.promise() : pool) as never as Admin
      const forgotten = await connections.getConnection()
      await forgotten.query('BEGIN')
      await forgotten.query('SELECT 1 FROM graupel_store')
      await forgotten.release()
      await other.write(key, 'latest', version)
      expect((await mysqlStore(pool).read(key))?.value).toBe('latest')
    })

    const formats = {
      mysql2: [
        {
          rowsAsArray: true,
          namedPlaceholders: true,
          supportBigNumbers: true,
          bigNumberStrings: true,
          charset: 'latin1',
        },
        { nestTables: true, dateStrings: true, typeCast: false, multipleStatements: true, flags: ['-FOUND_ROWS'] },
        { typeCast: () => 'cast', decimalNumbers: true, stringifyObjects: true, resetOnRelease: true },
      ],
      mariadb: [
        { rowsAsArray: true, namedPlaceholders: true, insertIdAsNumber: true, bigIntAsNumber: true, charset: 'latin1' },
        { metaAsArray: true, checkNumberRange: true, insertIdAsNumber: true, decimalAsNumber: true, foundRows: false },
        { nestTables: true, dateStrings: true, typeCast: () => 'cast', multipleStatements: true, resetAfterUse: true },
        { supportBigNumbers: true, bigNumberStrings: true, bulk: false, timezone: '+05:30' },
      ],
    }
    it.each<object>(formats[client === 'mariadb' ? 'mariadb' : 'mysql2'])('keeps the contract with %j', (options) =>
      keepsContract(storeOf(client, options)),
    )

    it.each(["''", "'ANSI,NO_BACKSLASH_ESCAPES'", "'TRADITIONAL,PAD_CHAR_TO_FULL_LENGTH'", "'ORACLE'"])(
      'keeps the contract with sql_mode %s, cuts nothing, and adds up to 64 bits',
      async (mode) => {
        await setGlobal({ sql_mode: mode })
        const store = storeOf(client)
        await keepsContract(store)
        for (const value of ['語'.repeat(4096), '😀'.repeat(2048), '\ufeff\\', 'x'.repeat(100_000)]) {
          const key = `folder/${crypto.randomUUID()}`
          await store.write(key, value, undefined)
          expect((await store.read(key))?.value).toBe(value)
        }
        await addsExactly(store, `sums/${crypto.randomUUID()}`)
      },
    )

    it('is not fooled by a key that was removed by hand and made again', async () => {
      const store = storeOf(client)
      const key = `folder/${crypto.randomUUID()}`
      const old = (await store.write(key, 'same', undefined)) as string
      await admin.query(`DELETE FROM graupel_store WHERE \`key\` = '${key}'`)
      expect(await store.write(key, 'late', old)).toBeUndefined()
      const again = await store.write(key, 'same', undefined)
      expect(await store.write(key, 'late', old)).toBeUndefined()
      expect(await store.read(key)).toEqual({ key, value: 'same', version: again })
    })

    it('tells the time by UTC', async () => {
      await setGlobal({ time_zone: "'+05:30'" })
      const now = (await storeOf(client).nowMs?.()) as number
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
    })

    it('reads nothing from a server that is read-only', async () => {
      const store = storeOf(client)
      const version = (await store.write(`folder/read-only ${client}`, 'first', undefined)) as string
      await setGlobal({ read_only: '1' })
      const calls = [
        () => store.read('folder/1'),
        () => store.list('folder/'),
        async () => await store.nowMs?.(),
        async () => await store.incarnation?.(),
      ]
      for (const call of calls) await expect(call()).rejects.toMatchObject(unavailable('is read-only'))
      await variablesOf.restore()
      expect((await store.read(`folder/read-only ${client}`))?.version).toBe(version)
    })

    it.skipIf(client === 'mariadb')('frees the connection of a call that was aborted', async () => {
      const store = storeOf(client, { connectionLimit: 1 })
      const key = `folder/${crypto.randomUUID()}`
      const version = await store.write(key, 'first', undefined)
      const other = await admin.getConnection()
      await other.query('BEGIN')
      await other.query(`SELECT * FROM graupel_store WHERE \`key\` = '${key}' FOR UPDATE`)
      const aborting = new AbortController()
      store.write(key, 'second', version, aborting.signal).catch(() => {})
      await waitsForLock(admin, 1)
      aborting.abort()
      expect(await store.read('folder/none')).toBeUndefined()
      await other.query('ROLLBACK')
      other.release()
    })

    it("goes on with a lease after the server was stopped for longer than the lease's window", async () => {
      const store = storeOf(client, {}, { assumeDurable: true })
      const lease = await acquireLease({ store, namespace: client, windowMs: 600, callTimeoutMs: 300 })
      const ids = createGenerator({ lease })
      const made = [ids.next()]
      await server.signal('SIGSTOP')
      await until(() => Date.now() > lease.stats().ceilingMs + 200)
      expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'ERR_LEASE_EXPIRED' }))
      await server.signal('SIGCONT')
      await eventually(() => made.push(ids.next()))
      expect(made[1]).toBeGreaterThan(made[0] as bigint)
      await lease.release()
    })
  })

  it('shows a user without rights what is missing', async () => {
    for (const statement of [
      "CREATE USER weak@localhost IDENTIFIED BY 'secret'",
      'GRANT SELECT ON graupel.graupel_store TO weak@localhost',
    ]) {
      await admin.query(statement)
    }
    for (const client of clients) {
      const user = { user: 'weak', password: 'secret' }
      const store = storeOf(client, user)
      await expect(store.write('folder/weak', 'x', undefined)).rejects.toMatchObject(
        unavailable('grant the user SELECT'),
      )
      const table = `Order_${client.replace(' ', '_')}`
      const named = storeOf(client, user, { table })
      await expect(named.setup()).rejects.toMatchObject(unavailable(named.ddl))
      const missing = storeOf(client, {}, { table })
      await expect(missing.read('folder/1')).rejects.toMatchObject(unavailable(missing.ddl))
      for (const statement of named.ddl.split('\n')) await admin.query(statement)
      for (const name of [table, `${table}_sums`]) {
        await admin.query(`GRANT SELECT, INSERT, UPDATE ON graupel.${name} TO weak@localhost`)
      }
      await named.setup()
      // Leases need no right to delete.
      const { remove: _, ...unremoving } = named
      await keepsContract(unremoving)
      const wrong = { user: 'weak', password: 'wrong', ...(client === 'mariadb' && { acquireTimeout: 500 }) }
      await expect(storeOf(client, wrong).read('a/1')).rejects.toMatchObject(
        unavailable("Access denied for user 'weak'"),
      )
    }
    for (const client of ['mysql2', 'mysql2 callbacks'] as const) {
      await expect(storeOf(client, { database: 'none' }).read('a/1')).rejects.toMatchObject(unavailable("'none'"))
    }
    for (const client of clients) {
      const unnamed = storeOf(client, { database: undefined })
      await expect(unnamed.read('a/1')).rejects.toMatchObject(unavailable('No database selected'))
    }
  })

  it('lets many clients make the tables at once', async () => {
    const stores = Array.from({ length: 12 }, (_, i) =>
      storeOf(clients[i % 3] as ClientName, { connectionLimit: 1 }, { table: 'many' }),
    )
    await Promise.all(stores.map((store) => store.nowMs?.()))
    await Promise.all(stores.map((store) => store.setup()))
    expect(await stores[0]?.read('folder/1')).toBeUndefined()
  })

  it('has one name in a life, and another name in the next life, though several begin in one second', async () => {
    const stores = clients.map((client) => storeOf(client))
    const names = new Set<string>()
    const lives = 6
    for (let life = 0; life < lives; life++) {
      // The first life continues into another second.
      const endMs = Date.now() + (life === 0 ? 1500 : 50)
      const found = new Set<unknown>()
      do {
        const asked = stores.flatMap((store) =>
          Array.from({ length: 4 }, () => eventually(() => store.incarnation?.())),
        )
        for (const name of await Promise.all(asked)) found.add(name)
      } while (Date.now() < endMs)
      expect(found.size).toBe(1)
      names.add([...found][0] as string)
      await server.restart('SIGKILL')
    }
    expect(names.size).toBe(lives)
  })
})

async function keepsContract(store: Store): Promise<void> {
  for (const { run } of storeContract(async () => store)) await run()
}

/** Adds up to both ends of the range, through numbers that a JavaScript number does not hold. */
async function addsExactly({ add }: ReturnType<typeof mysqlStore>, key: string): Promise<void> {
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]
  let sum = 0n
  for (const count of [0n, 5n, 0n, 2n ** 53n, -(2n ** 53n) - 6n, most, 0n, -most, least + 1n, 0n, 2n ** 60n, -7n]) {
    sum += count
    expect(await add?.(key, count)).toBe(sum)
  }
  await expect(add?.(key, least)).rejects.toThrow(/out of range/)
  await expect(add?.(key, most + 1n)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  expect(await add?.(key, 0n)).toBe(sum)
}
