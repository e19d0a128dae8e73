import { randomUUID } from 'node:crypto'
import { createUuidGenerator, parseUuid, type UuidGenerator } from 'graupel/uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host, load } from '../stores/kinds/kind.ts'
import { mysqlPools, startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { statementsOf, tableOf } from './document.ts'

// Measures the section "UUID columns" of docs/databases.md. The document has a million rows:
// GRAUPEL_ROWS=1000000.

const rows = Number(process.env['GRAUPEL_ROWS'] ?? 100_000)
// A page of random keys is between half full and full, so its size moves by a tenth with the number of rows.
const tolerance = rows === 1_000_000 ? 0.03 : 0.2

/** The keys of the table, as text, in the order in which they were made: ten in each millisecond. */
const keys: Record<string, () => () => string> = {
  'BIGINT, ids': () => ticking(({ ids }) => ids.nextString),
  'UUIDs of graupel/uuid': () => ticking((uuids) => uuids.next),
  'random UUIDs': () => randomUUID,
}

const startMs = Date.UTC(2026, 0, 1)
let opened = 0

function ticking(callOf: (uuids: UuidGenerator) => () => string): () => string {
  let made = 0
  const clock = () => startMs + Math.floor(made / 10)
  // A namespace of its own, because each begins at the same time.
  const call = callOf(createUuidGenerator({ node: 1, clock, state: 'process', namespace: `sizes ${opened++}` }))
  return () => {
    const key = call()
    made++
    return key
  }
}

interface Database {
  query(text: string): Promise<Record<string, unknown>[]>
  /** The type of a column, and the literal of a value, of keys such as these. */
  type(key: string): string
  literal(key: string, value: string): string
  /** Bytes of the table and of its indexes. */
  sizes(): Promise<[string, number][]>
}

/** Fills a table, and returns the number of rows that are not above the row before. */
async function fill({ query, type, literal }: Database, name: string): Promise<number> {
  await query('DROP TABLE IF EXISTS orders')
  await query(`CREATE TABLE orders (id ${type(name)} PRIMARY KEY, number INT)`)
  await query('CREATE INDEX numbers ON orders (number)')
  const next = (keys[name] as () => () => string)()
  for (let from = 0; from < rows; from += 5000) {
    const values = Array.from({ length: 5000 }, (_, i) => `(${literal(name, next())}, ${from + i})`)
    await query(`INSERT INTO orders (id, number) VALUES ${values.join()}`)
  }
  const unordered = 'SELECT id <= lag(id) OVER (ORDER BY number) AS late FROM orders'
  const [found] = await query(`SELECT count(*) AS late FROM (${unordered}) AS compared WHERE late`)
  return Number(found?.['late'])
}

function suite(name: 'PostgreSQL' | 'MariaDB', open: () => Promise<Database & { close(): Promise<unknown> }>): void {
  let database: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database?.close())

  it.each(Object.keys(keys))('has tables of %s of the size, and in the order, of the document', async (key) => {
    const said = tableOf('key |').get(key) ?? []
    const late = await fill(database, key)
    const sizes = await database.sizes()
    console.log(`${name}, ${key}: ${JSON.stringify(sizes)} bytes a row, ${late} rows late`)
    if (late > 0) expect(late).toBeGreaterThan(0.4 * rows)
    expect(late === 0 ? 'as made' : 'random').toBe(said[4])
    const columns = ['PostgreSQL', 'MariaDB'].indexOf(name) * 2
    for (const [i, [what, bytes]] of sizes.entries()) {
      const stated = Number(said[columns + i])
      expect(Math.abs(bytes / stated - 1), `${what}: measured ${bytes}, stated ${stated}`).toBeLessThan(tolerance)
    }
  })

  it('gives the times of UUIDs by the function of the document', async () => {
    await fill(database, 'UUIDs of graupel/uuid')
    const [define = '', statement] = statementsOf('UUID columns', name === 'MariaDB' ? 'MySQL, MariaDB' : 'PostgreSQL')
    await database.query(define)
    const times = await database.query(`${statement} ORDER BY id`)
    const expected = Array.from({ length: rows }, (_, i) => startMs + Math.floor(i / 10))
    const differs = times.findIndex(({ made }, i) => Number(new Date(made as string)) !== expected[i])
    expect(differs, `${times[differs]?.['made']}`).toBe(-1)
  })
}

describeWith(['postgres'], 'PostgreSQL', () => {
  suite('PostgreSQL', async () => {
    const server: Server = await startPostgres('-c', 'synchronous_commit=off')
    const client = new (load('pg').Client)({ port: server.port, host, user: 'postgres' })
    await client.connect()
    const query = async (text: string) => (await client.query(text)).rows
    return {
      query,
      type: (key) => (key === 'BIGINT, ids' ? 'bigint' : 'uuid'),
      literal: (_, value) => `'${value}'`,
      async sizes() {
        await query('VACUUM ANALYZE orders')
        const [row] = await query(
          `SELECT pg_relation_size('orders') AS "table", pg_relation_size('orders_pkey') AS key`,
        )
        return Object.entries(row as object).map(([what, bytes]) => [what, Number(bytes) / rows])
      },
      async close() {
        await client.end()
        await server.stop()
      },
    }
  })
})

describeWith(['mysql'], 'MariaDB', () => {
  const open = (type: string) => async () => {
    const server = await startMysql(
      '--innodb-buffer-pool-size=256M',
      '--innodb-log-file-size=96M',
      '--innodb-doublewrite=0',
    )
    // biome-ignore lint/suspicious/noExplicitAny: a pool of mysql2, which has no types here.
    const pool: any = mysqlPools.mysql2(server.port, { connectionLimit: 1, timezone: 'Z' })
    const query = async (text: string) => (await pool.query(text))[0]
    return {
      query,
      type: (key: string) => (key === 'BIGINT, ids' ? 'BIGINT' : type),
      literal: (key: string, value: string) =>
        key === 'BIGINT, ids' ? value : type === 'UUID' ? `'${value}'` : `X'${value.replaceAll('-', '')}'`,
      async sizes(): Promise<[string, number][]> {
        await query('ANALYZE TABLE orders')
        const found = await query(
          "SELECT index_name AS name, stat_value * @@innodb_page_size AS bytes FROM mysql.innodb_index_stats WHERE table_name = 'orders' AND stat_name = 'n_leaf_pages' ORDER BY index_name",
        )
        return found.map(({ name, bytes }: Record<string, string>) => [name, Number(bytes) / rows])
      },
      async close() {
        await pool.end()
        await server.stop()
      },
    }
  }
  suite('MariaDB', open('BINARY(16)'))

  it.each(['mysql2', 'mariadb'] as const)('takes the bytes of a UUID from %s as the document says', async (client) => {
    const server = await startMysql()
    // biome-ignore lint/suspicious/noExplicitAny: a pool of one of two clients, which have no types here.
    const pool: any = mysqlPools[client](server.port, { connectionLimit: 1 })
    await pool.query('CREATE TABLE orders (id BINARY(16) PRIMARY KEY)')
    const uuids = createUuidGenerator({ node: 1, state: 'process' })
    const made = [uuids.nextBytes(), uuids.nextBytes()]
    await pool.query('INSERT INTO orders (id) VALUES (?)', [Buffer.from(made[0] as Uint8Array)])
    await pool.execute('INSERT INTO orders (id) VALUES (?)', [Buffer.from(made[1] as Uint8Array)])
    const result = await pool.query('SELECT id FROM orders ORDER BY id')
    const rows: { id: Buffer }[] = client === 'mysql2' ? result[0] : result
    expect(rows.map(({ id }) => parseUuid(id))).toEqual(made.map(parseUuid))
    const withoutBuffer = pool.query('INSERT INTO orders (id) VALUES (?)', [uuids.nextBytes()])
    if (client === 'mariadb') await expect(withoutBuffer).rejects.toThrow('Data too long')
    else await withoutBuffer
    await pool.end()
    await server.stop()
  })

  describe('with its type UUID', () => {
    it('keeps UUIDs of version 7 in their order, too', async () => {
      const database = await open('UUID')()
      expect(await fill(database, 'UUIDs of graupel/uuid')).toBe(0)
      await database.close()
    })
  })
})
