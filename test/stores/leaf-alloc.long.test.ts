import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSegmentGenerator } from '../../src/segments/index.js'
import { leafAllocStore } from '../../src/stores/leaf-alloc.js'
import { repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'
import { mysqlPools, startMysql } from './kinds/mysql.ts'
import { type Admin, makeLeafTable, Variables, waitsForLock } from './mysql-admin.ts'
import { startProxy } from './proxy.ts'
import type { Server } from './servers.ts'

// The segments of Leaf's table on a real server, beside processes that act as Leaf.

type ClientName = keyof typeof mysqlPools
const clients = Object.keys(mysqlPools) as ClientName[]
const most = 2n ** 63n - 1n

let server: Server
let admin: Admin
let variables: Variables
const pools: { end(): unknown }[] = []
let tags = 0

function poolOf(client: ClientName, options: object = {}, port = server.port) {
  const pool = mysqlPools[client](port, options)
  pools.push(pool)
  return pool
}

const storeOf = (client: ClientName, options: object = {}) => leafAllocStore(poolOf(client, options))

/** Makes a row for one test. */
async function rowOf(maxId: bigint | number = 1, step = 100, table = 'leaf_alloc'): Promise<string> {
  const tag = `tag-${tags++}`
  await admin.query(`INSERT INTO ${table} (biz_tag, max_id, step) VALUES ('${tag}', ${maxId}, ${step})`)
  return tag
}

async function maxIdOf(tag: string, table = 'leaf_alloc'): Promise<bigint> {
  const [[row]] = await admin.query(`SELECT CAST(max_id AS CHAR) AS max_id FROM ${table} WHERE biz_tag = '${tag}'`)
  return BigInt(row?.['max_id'] as string)
}

type Segment = { first: bigint; count: number }

/** Expects that no number is in two segments. */
function expectDisjoint(segments: Segment[]): void {
  const sorted = segments.toSorted((a, b) => (a.first < b.first ? -1 : 1))
  for (const [i, { first, count }] of sorted.entries()) {
    const next = sorted[i + 1]
    if (next !== undefined) expect(first + BigInt(count)).toBeLessThanOrEqual(next.first)
  }
}

const sumOf = (segments: Segment[]) => segments.reduce((sum, { count }) => sum + BigInt(count), 0n)

function startTaker(who: 'leaf' | 'generator' | ClientName, tag: string) {
  const words = ['--import', 'tsx', join(repository, 'test/stores/programs/leaf-segments.ts'), who]
  const child = spawn(process.execPath, [...words, `${server.port}`, tag], {
    cwd: repository,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const segments: Segment[] = []
  let isReady = false
  const lines = createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') isReady = true
    else {
      const [first = '', count = ''] = line.split(' ')
      segments.push({ first: BigInt(first), count: Number(count) })
    }
  })
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  return { child, segments, ended, isReady: () => isReady }
}

describeWith(['mysql'], "Leaf's table", () => {
  beforeAll(async () => {
    server = await startMysql()
    admin = mysqlPools.mysql2(server.port) as never
    variables = new Variables(admin)
    await makeLeafTable(admin)
  })
  afterEach(async () => {
    await variables.restore()
    for (const pool of pools.splice(0)) await pool.end()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  it('gives no number twice to processes of Leaf and of ours, two of which are killed', async () => {
    const tag = await rowOf()
    const takers = (['leaf', 'leaf', ...clients] as const).map((who) => startTaker(who, tag))
    await until(() => takers.every(({ isReady }) => isReady()))
    for (const { child } of takers) child.stdin.write('go\n')
    const haveTaken = (count: number, from = takers) =>
      until(() => from.every(({ segments }) => segments.length >= count))
    await haveTaken(50)
    // A process of Leaf, and a process of graupel.
    const killed = takers.slice(1, 3)
    for (const { child } of killed) child.kill('SIGKILL')
    const living = takers.filter((taker) => !killed.includes(taker))
    await haveTaken(150, living)
    for (const { child } of living) child.stdin.end()
    for (const { ended } of takers) await ended
    expect(living.map(({ child }) => child.exitCode)).toEqual([0, 0, 0])

    const segments = takers.flatMap((taker) => taker.segments)
    expectDisjoint(segments)
    // Each killed process may have committed a segment that it did not report.
    const untold = (await maxIdOf(tag)) - 1n - sumOf(segments)
    expect(untold).toBeGreaterThanOrEqual(0n)
    expect(untold).toBeLessThanOrEqual(200n)
  })

  it('gives no number twice to generators beside Leaf, one of which is killed', async () => {
    const tag = await rowOf(1, 10)
    const takers = (['leaf', 'generator', 'generator'] as const).map((who) => startTaker(who, tag))
    await until(() => takers.every(({ isReady }) => isReady()))
    for (const { child } of takers) child.stdin.write('go\n')
    const haveTaken = (count: number, from: typeof takers) =>
      until(() => {
        if (takers.some(({ child }) => child.exitCode !== null)) throw new Error('a process has ended, see its error')
        return from.every(({ segments }) => segments.length >= count)
      })
    await haveTaken(200, takers)
    const [leaf, killed, living] = takers
    killed?.child.kill('SIGKILL')
    const count = living?.segments.length as number
    await haveTaken(count + 2000, takers.slice(2))
    for (const taker of [leaf, living]) taker?.child.stdin.end()
    for (const { ended } of takers) await ended
    expectDisjoint(takers.flatMap(({ segments }) => segments))
  })

  it('numbers from 2^53 on are exact, and a missing row is reported by its name', async () => {
    const tag = await rowOf(2n ** 60n + 1n)
    const store = storeOf('mysql2')
    using numbers = await createSegmentGenerator({ store, name: tag })
    expect(numbers.take(3)).toEqual([2n ** 60n + 1n, 2n ** 60n + 2n, 2n ** 60n + 3n])
    await expect(createSegmentGenerator({ store, name: 'none' })).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('INSERT INTO leaf_alloc'),
    })
  })

  it('ends a generator at its last number', async () => {
    const tag = await rowOf(most - 250n)
    using numbers = await createSegmentGenerator({ store: storeOf('mysql2'), name: tag, step: 50, maxStep: 50 })
    const array = await numbers.fillAsync(new BigUint64Array(250))
    expect(array.at(-1)).toBe(most - 1n)
    await expect(numbers.nextAsync()).rejects.toMatchObject({ name: 'RangeError', code: 'ERR_SEGMENT_OVERFLOW' })
  })

  describe.each([
    ['READ UNCOMMITTED', { tx_isolation: "'READ-UNCOMMITTED'" }],
    ['READ COMMITTED', { tx_isolation: "'READ-COMMITTED'" }],
    ['REPEATABLE READ', { tx_isolation: "'REPEATABLE-READ'" }],
    ['REPEATABLE READ by snapshots', { innodb_snapshot_isolation: '1' }],
    ['SERIALIZABLE', { tx_isolation: "'SERIALIZABLE'" }],
    ['chained', { completion_type: "'CHAIN'" }],
    ['released', { completion_type: "'RELEASE'" }],
  ])('whose transactions are %s', (_name, values) => {
    it('gives every number once', async () => {
      await variables.set(values as Record<string, string>)
      const tag = await rowOf(0)
      const stores = clients.map((client) => storeOf(client))
      const taking = Array.from({ length: 6 }, async (_, i) => {
        const taken: Segment[] = []
        for (let n = 0; n < 8; n++)
          taken.push((await stores[i % 3]?.takeSegment(tag, n % 2 ? n : undefined)) as Segment)
        return taken
      })
      const segments = (await Promise.all(taking)).flat()
      expectDisjoint(segments)
      expect(sumOf(segments)).toBe(await maxIdOf(tag))
    })
  })

  describe.each(clients)('by %s', (client) => {
    it('skips the segment of a COMMIT whose reply is lost', async () => {
      const tag = await rowOf()
      const proxy = await startProxy(server.port)
      const store = leafAllocStore(poolOf(client, {}, proxy.port))
      const first = await store.takeSegment(tag)
      proxy.cutReplyTo('COMMIT AND NO CHAIN')
      await expect(store.takeSegment(tag)).rejects.toThrow()
      expect(proxy.cuts).toBe(1)
      expect(await maxIdOf(tag)).toBe(201n)
      const next = await eventually(() => store.takeSegment(tag))
      expect([first.first, next.first]).toEqual([1n, 201n])
      proxy.close()
    })

    it.each(['START TRANSACTION', 'UPDATE', 'SELECT 1'])('takes nothing if the reply to %s is lost', async (text) => {
      const tag = await rowOf()
      const proxy = await startProxy(server.port)
      const store = leafAllocStore(poolOf(client, {}, proxy.port))
      await store.takeSegment(tag)
      proxy.cutReplyTo(text === 'SELECT 1' ? 'biz_tag, max_id, step' : text)
      await expect(store.takeSegment(tag)).rejects.toThrow()
      expect(proxy.cuts).toBe(1)
      expect((await eventually(() => store.takeSegment(tag))).first).toBe(101n)
      proxy.close()
    })

    it.each(["''", "'ANSI,NO_BACKSLASH_ESCAPES'", "'TRADITIONAL,PAD_CHAR_TO_FULL_LENGTH'", "'ORACLE'"])(
      'ends with sql_mode %s at the last number, and repeats none',
      async (mode) => {
        await variables.set({ sql_mode: mode })
        const store = storeOf(client)
        const tag = await rowOf(most - 250n)
        expect(await store.takeSegment(tag)).toEqual({ first: most - 250n, count: 100 })
        expect(await store.takeSegment(tag)).toEqual({ first: most - 150n, count: 100 })
        const overflow = { code: 'ERR_SEGMENT_OVERFLOW' }
        for (let i = 0; i < 2; i++) await expect(store.takeSegment(tag)).rejects.toMatchObject(overflow)
        await expect(store.takeSegment(tag, 2 ** 53 - 1)).rejects.toMatchObject(overflow)
        expect(await store.takeSegment(tag, 50)).toEqual({ first: most - 50n, count: 50 })
        await expect(store.takeSegment(tag, 1)).rejects.toMatchObject(overflow)
        expect(await maxIdOf(tag)).toBe(most)
      },
    )

    const formats = {
      mysql2: [
        { rowsAsArray: true, supportBigNumbers: true, bigNumberStrings: true, charset: 'latin1', connectionLimit: 1 },
        { nestTables: true, typeCast: false, multipleStatements: true, flags: ['-FOUND_ROWS'] },
        { typeCast: () => 'cast', decimalNumbers: true, stringifyObjects: true, resetOnRelease: true },
      ],
      mariadb: [
        { rowsAsArray: true, insertIdAsNumber: true, bigIntAsNumber: true, charset: 'latin1', connectionLimit: 1 },
        { metaAsArray: true, checkNumberRange: true, decimalAsNumber: true, foundRows: false, noControlAfterUse: true },
        { nestTables: true, typeCast: () => 'cast', multipleStatements: true, resetAfterUse: true, bulk: false },
      ],
    }
    it.each<object>(formats[client === 'mariadb' ? 'mariadb' : 'mysql2'])('is exact with %j', async (options) => {
      const tag = await rowOf(2n ** 60n + 1n)
      const store = storeOf(client, options)
      expect(await store.takeSegment(tag)).toEqual({ first: 2n ** 60n + 1n, count: 100 })
      expect(await store.takeSegment(tag, 3)).toEqual({ first: 2n ** 60n + 101n, count: 3 })
      await expect(store.takeSegment('none')).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
      await Promise.all(Array.from({ length: 20 }, () => store.takeSegment(tag, 1)))
      expect(await maxIdOf(tag)).toBe(2n ** 60n + 124n)
    })

    /** Makes a store that has taken a segment, and gives its only connection to other code. */
    async function ofOneConnection(tag: string) {
      const options = { connectionLimit: 1, ...(client === 'mariadb' && { noControlAfterUse: true }) }
      const pool = poolOf(client, options)
      const connections = ('promise' in pool ? pool.promise() : pool) as never as Admin
      const store = leafAllocStore(pool)
      await store.takeSegment(tag)
      return { store, forgotten: await connections.getConnection() }
    }

    it('stays in its database after USE', async () => {
      const other = `other_${client.replace(' ', '_')}`
      await admin.query(`CREATE DATABASE ${other}`)
      await makeLeafTable(admin, `${other}.leaf_alloc`)
      const tag = await rowOf()
      await admin.query(`INSERT INTO ${other}.leaf_alloc SELECT * FROM leaf_alloc WHERE biz_tag = '${tag}'`)
      const { store, forgotten } = await ofOneConnection(tag)
      await forgotten.query(`USE ${other}`)
      await forgotten.release()
      expect((await store.takeSegment(tag)).first).toBe(101n)
      expect(await maxIdOf(tag, `${other}.leaf_alloc`)).toBe(1n)
    })

    it('takes nothing within a transaction that was left open, and does not commit the transaction', async () => {
      const tag = await rowOf()
      const { store, forgotten } = await ofOneConnection(tag)
      await forgotten.query('BEGIN')
      await forgotten.query(`UPDATE leaf_alloc SET description = 'not to be kept' WHERE biz_tag = '${tag}'`)
      await forgotten.release()
      await expect(store.takeSegment(tag)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
      expect((await store.takeSegment(tag)).first).toBe(101n)
      const [[row]] = await admin.query(`SELECT description FROM leaf_alloc WHERE biz_tag = '${tag}'`)
      expect(row).toEqual({ description: null })
    })

    it('takes nothing without autocommit, or from a replica', async () => {
      const tag = await rowOf()
      const before = storeOf(client)
      await before.takeSegment(tag)
      await variables.set({ read_only: '1' })
      for (const store of [before, storeOf(client)]) {
        await expect(store.takeSegment(tag)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
      }
      await variables.restore()
      await variables.set({ autocommit: '0' })
      await expect(storeOf(client).takeSegment(tag)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
      await variables.restore()
      expect((await before.takeSegment(tag)).first).toBe(101n)
    })

    it('takes nothing for a call that is aborted while it waits for the row', async () => {
      const tag = await rowOf()
      const store = storeOf(client)
      const other = await admin.getConnection()
      await other.query('BEGIN')
      await other.query(`SELECT * FROM leaf_alloc WHERE biz_tag = '${tag}' FOR UPDATE`)
      const aborting = new AbortController()
      const taking = store.takeSegment(tag, undefined, aborting.signal)
      await waitsForLock(admin, 1)
      aborting.abort(new Error('enough'))
      await expect(taking).rejects.toThrow('enough')
      await other.query('ROLLBACK')
      other.release()
      await waitsForLock(admin, 0)
      expect((await store.takeSegment(tag)).first).toBe(1n)
    })
  })

  it.each(['latin1_swedish_ci', 'utf8mb4_general_ci', 'utf8mb4_bin'])(
    'knows a row only by its exact biz_tag in %s, and by its index',
    async (collation) => {
      const table = `of_${collation}`
      await makeLeafTable(admin, table)
      const [charset] = collation.split('_')
      await admin.query(`ALTER TABLE ${table} CONVERT TO CHARACTER SET ${charset} COLLATE ${collation}`)
      for (const tag of ['größe', 'another'])
        await admin.query(`INSERT INTO ${table} VALUES ('${tag}', 1, 10, NULL, NULL)`)
      const other = await admin.getConnection()
      await other.query('BEGIN')
      // A statement that read every row would wait for this lock.
      await other.query(`SELECT * FROM ${table} WHERE biz_tag = 'another' FOR UPDATE`)
      const store = leafAllocStore(poolOf('mysql2'), { table })
      expect((await store.takeSegment('größe')).first).toBe(1n)
      for (const tag of ['GRÖßE', 'grosse', 'größe '])
        await expect(store.takeSegment(tag)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
      expect((await store.takeSegment('größe')).first).toBe(11n)
      await other.query('ROLLBACK')
      other.release()
      await expect(store.takeSegment('語')).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    },
  )

  it('refuses a table from which numbers could come twice', async () => {
    await makeLeafTable(admin, 'of_myisam', 'bigint(20)', 'MyISAM')
    await makeLeafTable(admin, 'of_ints', 'int')
    await admin.query('CREATE VIEW of_leaf AS SELECT * FROM leaf_alloc')
    for (const [table, code] of [
      ['of_myisam', 'ERR_STORE_UNSAFE'],
      ['of_ints', 'ERR_STORE_INVALID'],
      ['of_leaf', 'ERR_STORE_UNSAFE'],
      ['of_none', 'ERR_STORE_UNAVAILABLE'],
    ] as const) {
      const store = leafAllocStore(poolOf('mysql2'), { table })
      await expect(store.takeSegment('orders'), table).rejects.toMatchObject({ code })
    }
  })

  it('shows a user without rights what is missing', async () => {
    const tag = await rowOf()
    await admin.query("CREATE USER weak@localhost IDENTIFIED BY 'secret'")
    const take = () => storeOf('mysql2', { user: 'weak', password: 'secret', database: 'graupel' }).takeSegment(tag)
    const refused = { code: 'ERR_STORE_UNAVAILABLE' }
    await admin.query('GRANT SELECT ON graupel.leaf_alloc TO weak@localhost')
    await expect(take()).rejects.toMatchObject({ ...refused, message: expect.stringContaining('SELECT and UPDATE') })
    await admin.query('GRANT UPDATE ON graupel.leaf_alloc TO weak@localhost')
    expect((await take()).first).toBe(1n)
    await variables.set({ read_only: '1' })
    await expect(take()).rejects.toMatchObject(refused)
  })
})
