import { randomBytes, randomUUID } from 'node:crypto'
import { createGenerator } from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { load } from '../stores/kinds/kind.ts'
import { database, startMysql } from '../stores/kinds/mysql.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { examplesOf, statementsOf, tableOf } from './document.ts'
import { collationsOf, encoded, id, idsWithTimes, nameOf, pair, textEncodings } from './facts.ts'
import { walk, walkOf } from './pages.ts'
import { Project } from './project.ts'

type Row = Record<string, unknown>
interface Pool {
  /** The rows of a query, by each kind of query that the driver has. */
  ways: ((text: string, values?: unknown[]) => Promise<Row[]>)[]
  end(): Promise<unknown>
}

describeWith(['mysql'], 'MariaDB', () => {
  let server: Server
  let project: Project
  /** A connection that returns exact strings. */
  let query: (text: string, values?: unknown[]) => Promise<Row[]>
  const pools: Pool[] = []

  /** Opens a driver with its defaults, or with options. */
  const drivers: Record<string, (options?: object) => Pool> = {
    mysql2(options) {
      const pool = load('mysql2/promise').createPool({ ...at(), ...options })
      const ways = ['query', 'execute'].map((way) => async (text: string, values?: unknown[]) => {
        return (await pool[way](text, values))[0]
      })
      return { ways, end: () => pool.end() }
    },
    mariadb(options) {
      const pool = load('mariadb').createPool({ ...at(), ...options })
      const ways = ['query', 'execute'].map((way) => (text: string, values?: unknown[]) => pool[way](text, values))
      return { ways, end: () => pool.end() }
    },
  }
  const at = () => ({ host: '127.0.0.1', port: server.port, user: 'root', database, connectionLimit: 1 })
  function open(name: string, options?: object): Pool {
    const pool = (drivers[name] as (typeof drivers)[string])(options)
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    server = await startMysql()
    const address = `root@127.0.0.1:${server.port}/${database}`
    const variables = { MYSQL_URL: `mysql://${address}`, MARIADB_URL: `mariadb://${address}` }
    project = new Project(
      Object.keys(drivers).map((name) => [name, 'clients'] as const),
      variables,
    )
    query = open('mysql2', { supportBigNumbers: true, bigNumberStrings: true }).ways[0] as typeof query
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
    project?.remove()
    await server?.stop()
  })
  /** Creates a table without rows. */
  async function fresh(name: string, columns: string) {
    await query(`DROP TABLE IF EXISTS ${name}`)
    await query(`CREATE TABLE ${name} (${columns})`)
  }

  describe.each(Object.keys(drivers))('%s', (name) => {
    const [column, pass, byDefault, setting = '', withSetting] = tableOf('driver | column').get(name) ?? []
    const options = Object.fromEntries(setting.split(', ').map((option) => [option.split(': ')[0], true]))

    it('stores ids exactly, and returns the types in the document', async () => {
      expect(Object.keys(options)).toEqual(['supportBigNumbers', 'bigNumberStrings'])
      expect(pass).toBe('bigint or string')
      const [plain, set] = [open(name), open(name, options)]
      for (const [index, way] of plain.ways.entries()) {
        for (const value of [id, `${id}`]) {
          await fresh('ids', `id ${column} PRIMARY KEY`)
          await way('INSERT INTO ids VALUES (?)', [value])
          expect(await query('SELECT CAST(id AS CHAR) AS id FROM ids')).toEqual([{ id: `${id}` }])
          const [found] = await way('SELECT COUNT(*) AS count FROM ids WHERE id = ?', [value])
          expect(Number(found?.['count'])).toBe(1)
        }
        const read = async (from: Pool) => nameOf((await from.ways[index]?.('SELECT id FROM ids'))?.[0]?.['id'])
        expect(await read(plain)).toBe(byDefault)
        expect(await read(set)).toBe(withSetting)
        await way('DELETE FROM ids')
        await way('INSERT INTO ids VALUES (?)', [Number(id)])
        expect(await query('SELECT CAST(id AS CHAR) AS id FROM ids')).not.toEqual([{ id: `${id}` }])
      }
    })

    it('rounds ids in JSON made by SQL, with any options, unless the ids are text', async () => {
      await fresh('ids', 'id BIGINT PRIMARY KEY, document JSON')
      await query(`INSERT INTO ids VALUES (${id}, '{"id":${id}}')`)
      for (const pool of [open(name), open(name, options)]) {
        for (const way of pool.ways) {
          for (const json of [`JSON_OBJECT('id', id)`, 'document']) {
            expect(await way(`SELECT ${json} AS made FROM ids`)).toMatchObject([{ made: { id: Number(id) } }])
          }
          const [row] = await way(`SELECT JSON_OBJECT('id', CAST(id AS CHAR)) AS made FROM ids`)
          expect(row).toMatchObject({ made: { id: `${id}` } })
        }
      }
    })

    it.each(examplesOf(name === 'mysql2' ? 'mysql2/promise' : name))('$file:$line runs', async (block) => {
      await query('DROP TABLE IF EXISTS orders')
      await project.runBlock(block)
    })

    it('has a program that runs', async () => {
      await query('DROP TABLE IF EXISTS orders')
      await project.runExample(`${name}.mjs`)
    })
  })

  it('rounds with only one of the options, as the document says', async () => {
    const text = `SELECT ${id} AS large, 7 AS small, COUNT(*) AS count`
    const read = async (name: string, options: object) => (await open(name, options).ways[0]?.(text))?.[0]
    expect(await read('mysql2', { bigNumberStrings: true })).toMatchObject({ large: Number(id) })
    expect(await read('mysql2', { supportBigNumbers: true })).toEqual({ large: `${id}`, small: 7, count: 1 })
    expect(await read('mariadb', { bigIntAsNumber: true })).toMatchObject({ large: Number(id) })
    expect(await read('mariadb', {})).toMatchObject({ large: id, count: 1n })
    const url = `mariadb://root@127.0.0.1:${server.port}/${database}?supportBigNumbers=true&bigNumberStrings=true`
    const pool = load('mariadb').createPool(url)
    expect(await pool.query(`SELECT ${id} AS id`)).toMatchObject([{ id: `${id}` }])
    await pool.end()
  })

  it('stores, refuses or clamps values that a column cannot hold', async () => {
    await fresh('ids', 'id BIGINT, small INT, any_id BIGINT UNSIGNED')
    await expect(query('INSERT INTO ids (id) VALUES (?)', [2n ** 63n])).rejects.toMatchObject({ errno: 1264 })
    await expect(query('INSERT INTO ids (small) VALUES (?)', [id])).rejects.toMatchObject({ errno: 1264 })
    await query(`SET sql_mode = ''`)
    await query('INSERT INTO ids (small, id) VALUES (?, ?)', [id, 2n ** 63n])
    await query('SET sql_mode = DEFAULT')
    await query('INSERT INTO ids (any_id) VALUES (?)', [2n ** 64n - 1n])
    expect(
      await query('SELECT CAST(MAX(small) AS CHAR) AS small, MAX(id) AS id, MAX(any_id) AS any_id FROM ids'),
    ).toEqual([{ small: '2147483647', id: `${2n ** 63n - 1n}`, any_id: `${2n ** 64n - 1n}` }])
    await fresh('ids', 'id BIGINT AUTO_INCREMENT PRIMARY KEY, item INT')
    await query('INSERT INTO ids (id) VALUES (?)', [id])
    expect(await query('INSERT INTO ids (item) VALUES (1)')).toMatchObject({ insertId: `${id + 1n}` })
  })

  it('compares text with an id by its first digits', async () => {
    await fresh('ids', 'id BIGINT PRIMARY KEY')
    await query('INSERT INTO ids VALUES (7)')
    for (const name of Object.keys(drivers)) {
      for (const way of open(name).ways) expect(await way('SELECT id FROM ids WHERE id = ?', ['7abc'])).toHaveLength(1)
    }
  })

  it('refuses a foreign key of another sign', async () => {
    await fresh('children', 'id INT')
    await query('DROP TABLE children')
    await fresh('parents', 'id BIGINT UNSIGNED PRIMARY KEY')
    const child = (type: string) => `CREATE TABLE children (id ${type}, FOREIGN KEY (id) REFERENCES parents (id))`
    await expect(query(child('BIGINT'))).rejects.toThrow('errno: 150')
    await query(child('BIGINT UNSIGNED'))
    await query('DROP TABLE children')
  })

  it('takes ids that differ only in case for equal by a case-insensitive collation, which is the default', async () => {
    await fresh('links', 'id CHAR(11) COLLATE utf8mb4_general_ci PRIMARY KEY')
    await query('INSERT INTO links VALUES (?)', [pair[0]])
    await expect(query('INSERT INTO links VALUES (?)', [pair[1]])).rejects.toMatchObject({ code: 'ER_DUP_ENTRY' })
    expect(await query('SELECT id FROM links WHERE id = ?', [pair[1]])).toEqual([{ id: pair[0] }])
    await query('DROP TABLE links')
    for (const statement of statementsOf('Text columns', 'MySQL, MariaDB')) await query(statement)
    await query('INSERT INTO links VALUES (?), (?)', [...pair])
    expect(await query('SELECT id FROM links ORDER BY id')).toEqual(pair.map((id) => ({ id })))
    const defaults = await query(
      `SELECT COLLATION_NAME AS name FROM information_schema.COLLATIONS WHERE IS_DEFAULT = 'Yes'`,
    )
    const insensitive = defaults.filter(({ name }) => String(name).endsWith('_ci'))
    expect(insensitive.length).toBeGreaterThan(defaults.length * 0.8)
  })

  it('takes ids of encodings with both cases for equal by a case-insensitive collation, and sorts all by a binary one', async () => {
    for (const encoding of textEncodings) {
      const texts = encoded(encoding)
      const store = async (collation: string) => {
        await fresh('texts', `id VARCHAR(16) ${collation}`)
        await query('INSERT INTO texts VALUES ?', [texts.map((text) => [text])])
        return (await query('SELECT id FROM texts GROUP BY id ORDER BY id')).map(({ id }) => id)
      }
      const isRight = JSON.stringify(await store('COLLATE utf8mb4_unicode_ci')) === JSON.stringify(texts)
      expect(collationsOf(encoding).insensitive, encoding).toBe(isRight ? 'works' : 'different ids are equal')
      const [row] = await query('SELECT COUNT(DISTINCT id) AS count FROM texts')
      expect(Number(row?.['count']) === texts.length, encoding).toBe(isRight)
      expect(await store('CHARACTER SET ascii COLLATE ascii_bin'), encoding).toEqual(texts)
    }
  })

  it('has tables of the sizes in the document', async () => {
    const table = tableOf('primary key | index in PostgreSQL')
    const count = 50_000
    const bytes = randomBytes(8 * count)
    const keys: Record<string, [type: string, values: unknown[]]> = {
      'BIGINT, ids': ['BIGINT', createGenerator({ node: 7 }).take(count)],
      'BIGINT, random': ['BIGINT', Array.from({ length: count }, (_, index) => bytes.readBigUInt64LE(8 * index) >> 1n)],
      'UUID v4 (uuid, BINARY(16))': ['BINARY(16)', Array.from({ length: count }, () => randomBytes(16))],
      'UUID v4 as text': ['CHAR(36) CHARACTER SET ascii', Array.from({ length: count }, () => randomUUID())],
    }
    expect([...table.keys()]).toEqual(Object.keys(keys))
    await query(`SET GLOBAL innodb_monitor_enable = 'index_page_splits'`)
    const splits = async () => {
      const counters = `SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'index_page_splits'`
      return Number((await query(counters))[0]?.['COUNT'])
    }
    for (const [key, [type, values]] of Object.entries(keys)) {
      await fresh('filled', `id ${type} PRIMARY KEY, filler CHAR(50) CHARACTER SET ascii`)
      const before = await splits()
      await query('INSERT INTO filled VALUES ?', [values.map((value) => [value, 'x'.repeat(50)])])
      const split = (await splits()) - before
      await query('ANALYZE TABLE filled')
      const [row] = await query(`SELECT DATA_LENGTH AS size FROM information_schema.TABLES WHERE TABLE_NAME = 'filled'`)
      const [size, pageSplits] = (table.get(key) ?? []).slice(1).map((cell) => Number.parseFloat(cell))
      expect(Math.abs(Number(row?.['size']) / 1e6 / (size as number) - 1), `${key}: ${row?.['size']}`).toBeLessThan(0.3)
      expect(Math.abs(split / (pageSplits as number) - 1), `${key}: ${split}`).toBeLessThan(0.3)
    }
  })

  it('finds times by the primary key', async () => {
    const ids = createGenerator({ node: 7 }).take(5000)
    await fresh('orders', 'id BIGINT PRIMARY KEY, item TEXT')
    await query('INSERT INTO orders VALUES ?', [ids.map((id) => [id, 'tea'])])
    await query('ANALYZE TABLE orders')
    const statements = statementsOf('Ranges of time', 'MySQL, MariaDB')
    expect(statements).toHaveLength(2)
    for (const statement of statements) {
      const values = statement.split('?').length === 2 ? [ids[500]] : [ids[100], ids[500]]
      const [plan] = await query(`EXPLAIN ${statement}`, values)
      expect(plan).toMatchObject({ type: 'range', key: 'PRIMARY', Extra: 'Using where' })
      const expected = values.length === 1 ? ids.slice(480, 500).reverse() : ids.slice(100, 500)
      expect((await query(statement, values)).map(({ id }) => id)).toEqual(expected.map(String))
    }
    for (const statement of statementsOf('Pages', 'MySQL, MariaDB')) {
      const plan = (await query(`EXPLAIN ${statement}`, [ids[500]])).at(-1)
      expect(plan).toMatchObject({ type: 'range', key: 'PRIMARY', Extra: 'Using where' })
    }
    const [time = ''] = statementsOf('The time in SQL', 'MySQL, MariaDB')
    const [plan] = await query(`EXPLAIN SELECT * FROM (${time}) AS times WHERE made > NOW()`)
    expect(plan).not.toMatchObject({ type: 'range' })
  })

  it('pages in both directions', async () => {
    const ids = createGenerator({ node: 7 }).take(50)
    await fresh('orders', 'id BIGINT PRIMARY KEY, item TEXT')
    await query('INSERT INTO orders VALUES ?', [ids.map((id) => [id, 'tea'])])
    expect(await walk('MySQL, MariaDB', (statement, id) => query(statement, [id]))).toEqual(walkOf(ids))
  })

  it('tells the time of ids, in any time zone', async () => {
    const [statement = ''] = statementsOf('The time in SQL', 'MySQL, MariaDB')
    await query(`SET time_zone = '+05:45'`)
    await fresh('orders', 'id BIGINT')
    await query('INSERT INTO orders VALUES ?', [[...idsWithTimes.keys()].map((id) => [id])])
    const text = `SELECT id, CAST(made AS CHAR) AS made FROM (${statement}) AS times`
    const told = new Map((await query(text)).map(({ id, made }) => [BigInt(id as string), new Date(`${made}Z`)]))
    expect(told).toEqual(idsWithTimes)
    const [row] = await query('SELECT CAST(FROM_UNIXTIME(0) AS CHAR) AS zone, FROM_UNIXTIME(2147483648) AS later')
    expect(row).toEqual({ zone: '1970-01-01 05:45:00', later: null })
    await query('SET time_zone = DEFAULT')
  })
})
