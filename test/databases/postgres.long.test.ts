import { randomBytes } from 'node:crypto'
import { createGenerator, idsBetween, layouts } from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { load } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { lines } from '../support/cli.ts'
import type { Block } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { examplesOf, statementsOf, tableOf } from './document.ts'
import { collationsOf, encoded, id, idsWithTimes, nameOf, pair, textEncodings } from './facts.ts'
import { walk, walkOf } from './pages.ts'
import { Project } from './project.ts'

type Row = Record<string, unknown>
interface Client {
  insert(value: unknown): Promise<unknown>
  rows(text: string, values?: unknown[]): Promise<Row[]>
  end(): Promise<unknown>
}

describeWith(['postgres'], 'PostgreSQL', () => {
  let server: Server
  let project: Project
  let query: Client['rows']
  const clients: { end(): Promise<unknown> }[] = []
  const at = () => ({ host: '127.0.0.1', port: server.port, user: 'postgres' })

  /** Opens drivers with their defaults, or with options. */
  const drivers: Record<string, (options?: object) => Client> = {
    pg(options) {
      const { Pool } = load('pg')
      const pool = new Pool({ ...at(), ...options })
      return {
        insert: (value) => pool.query('INSERT INTO ids VALUES ($1)', [value]),
        rows: async (text, values) => (await pool.query(text, values)).rows,
        end: () => pool.end(),
      }
    },
    postgres(options) {
      const sql = load('postgres')({ ...at(), ...options })
      return {
        insert: (value) => sql`INSERT INTO ids VALUES (${value})`,
        rows: async (text, values) => [...(await sql.unsafe(text, values))],
        end: () => sql.end(),
      }
    },
  }
  function open(name: string, options?: object): Client {
    const client = (drivers[name] as (typeof drivers)[string])(options)
    clients.push(client)
    return client
  }
  /** The words of the document for the settings that return bigints. */
  const settings: Record<string, () => object> = {
    types() {
      const { types } = load('pg')
      const getTypeParser = (type: number, format: string) => (type === 20 ? BigInt : types.getTypeParser(type, format))
      return { types: { getTypeParser } }
    },
    'types: { bigint: postgres.BigInt }': () => ({ types: { bigint: load('postgres').BigInt } }),
  }

  beforeAll(async () => {
    server = await startPostgres()
    const variables = { DATABASE_URL: `postgres://postgres@127.0.0.1:${server.port}/postgres` }
    project = new Project(
      Object.keys(drivers).map((name) => [name, 'clients'] as const),
      variables,
    )
    query = open('pg').rows
  })
  afterAll(async () => {
    for (const client of clients) await client.end()
    project?.remove()
    await server?.stop()
  })
  /** Creates a table without rows. */
  const fresh = (name: string, columns: string) =>
    query(`DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name} (${columns})`)

  describe.each(Object.keys(drivers))('%s', (name) => {
    const [column, pass, byDefault, setting = '', withSetting] = tableOf('driver | column').get(name) ?? []

    it('stores ids exactly, and returns the types in the document', async () => {
      expect(pass).toBe('bigint or string')
      const [plain, set] = [open(name), open(name, settings[setting]?.())]
      for (const value of [id, `${id}`]) {
        await fresh('ids', `id ${column} PRIMARY KEY`)
        await plain.insert(value)
        expect(await query('SELECT id::text FROM ids')).toEqual([{ id: `${id}` }])
      }
      const read = async (client: Client) => nameOf((await client.rows('SELECT id FROM ids'))[0]?.['id'])
      expect(await read(plain)).toBe(byDefault)
      expect(await read(set)).toBe(withSetting)
      expect(await set.rows('SELECT COUNT(*) AS count FROM ids')).toEqual([{ count: 1n }])
      await query('DELETE FROM ids')
      await plain.insert(Number(id))
      expect(await query('SELECT id::text FROM ids')).not.toEqual([{ id: `${id}` }])
    })

    it('rounds ids in JSON made by SQL, unless the ids are text', async () => {
      await fresh('ids', 'id BIGINT PRIMARY KEY')
      const client = open(name)
      await client.insert(id)
      for (const json of [`json_build_object('id', id)`, 'row_to_json(ids)', `jsonb_build_object('id', id)`]) {
        expect(await client.rows(`SELECT ${json} AS made FROM ids`)).toEqual([{ made: { id: Number(id) } }])
      }
      const text = `SELECT json_build_object('id', id::text) AS made FROM ids`
      expect(await client.rows(text)).toEqual([{ made: { id: `${id}` } }])
    })

    // test/databases/backfill.long.test.ts runs the backfill, which needs rows.
    it.each(examplesOf(name).filter(({ code }) => !code.includes('./id-after.js')))(
      '$file:$line runs',
      async (block) => {
        await query('DROP TABLE IF EXISTS orders')
        await project.runBlock(block)
      },
    )

    it('has a program that runs', async () => {
      await query('DROP TABLE IF EXISTS orders')
      await project.runExample(`${name}.mjs`)
    })
  })

  it('returns arrays of BIGINT as strings in pg, even with a parser for BIGINT', async () => {
    const { rows } = open('pg', settings['types']?.())
    expect(await rows(`SELECT ARRAY[${id}] AS list`)).toEqual([{ list: [`${id}`] }])
  })

  it('takes arrays as the document says', async () => {
    await fresh('ids', 'id BIGINT PRIMARY KEY')
    await query('INSERT INTO ids VALUES ($1), ($2)', [id, id + 1n])
    const find = 'SELECT id FROM ids WHERE id = ANY($1)'
    expect(await query(find, [[id, id + 5n]])).toEqual([{ id: `${id}` }])
    const array = new BigUint64Array([id, id + 5n])
    await expect(query(find, [array])).rejects.toThrow()
    expect(await query(find, [[...array]])).toEqual([{ id: `${id}` }])
    const sql = load('postgres')(at())
    clients.push(sql)
    const list = [id, id + 5n]
    await expect(sql`SELECT id FROM ids WHERE id = ANY(${list})`).rejects.toMatchObject({ code: '42809' })
    expect([...(await sql`SELECT id FROM ids WHERE id = ANY(${list.map(String)})`)]).toEqual([{ id: `${id}` }])
    expect([...(await sql`SELECT id FROM ids WHERE id IN ${sql(list)}`)]).toEqual([{ id: `${id}` }])
    await fresh('ids', 'id BIGINT PRIMARY KEY')
    const rows = Array.from({ length: 65_534 }, (_, index) => ({ id: id + BigInt(index) }))
    await sql`INSERT INTO ids ${sql(rows.slice(1))}`
    await expect(sql`INSERT INTO ids ${sql(rows)}`).rejects.toMatchObject({ code: 'MAX_PARAMETERS_EXCEEDED' })
  })

  it('refuses values that its columns cannot hold', async () => {
    await fresh('ids', 'id BIGINT, small INT, any_id NUMERIC(20)')
    await expect(query('INSERT INTO ids (id) VALUES ($1)', [2n ** 63n])).rejects.toMatchObject({ code: '22003' })
    await expect(query('INSERT INTO ids (small) VALUES ($1)', [id])).rejects.toMatchObject({ code: '22003' })
    await expect(query('SELECT id FROM ids WHERE id = $1', ['7abc'])).rejects.toMatchObject({ code: '22P02' })
    expect(await query('SELECT $1::float8 AS rounded', [id])).toEqual([{ rounded: Number(id) }])
    expect(BigInt(Number(id))).not.toBe(id)
    const largest = 2n ** 64n - 1n
    expect(await query('INSERT INTO ids (any_id) VALUES ($1) RETURNING any_id', [largest])).toEqual([
      { any_id: `${largest}` },
    ])
  })

  it('has indexes of the sizes in the document', async () => {
    const table = tableOf('primary key | index in PostgreSQL')
    const count = 100_000
    const random = new BigUint64Array(randomBytes(8 * count).buffer.slice(0, 8 * count))
    const keys: Record<string, [type: string, source: string, values?: unknown[]]> = {
      'BIGINT, ids': ['BIGINT', 'SELECT unnest($1::bigint[])', [createGenerator({ node: 7 }).take(count)]],
      'BIGINT, random': ['BIGINT', 'SELECT unnest($1::bigint[])', [Array.from(random, (value) => value >> 1n)]],
      'UUID v4 (uuid, BINARY(16))': ['UUID', `SELECT gen_random_uuid() FROM generate_series(1, ${count})`],
      'UUID v4 as text': ['TEXT', `SELECT gen_random_uuid()::text FROM generate_series(1, ${count})`],
    }
    expect([...table.keys()]).toEqual(Object.keys(keys))
    for (const [key, [type, source, values]] of Object.entries(keys)) {
      await fresh('keys', `id ${type} PRIMARY KEY`)
      await query(`INSERT INTO keys ${source}`, values)
      const [row] = await query(`SELECT pg_relation_size('keys_pkey') AS size`)
      const told = Number.parseFloat(table.get(key)?.[0] as string)
      expect(Math.abs(Number(row?.['size']) / 1e6 / told - 1), `${key}: ${row?.['size']}`).toBeLessThan(0.3)
    }
  })

  it('copies a million rows with ids by the program of the document', async () => {
    const [block] = examplesOf('pg').filter(({ code }) => code.includes('class CopyIn'))
    const measure = `
      const million = Array.from({ length: 1_000_000 }, (_, index) => 'item ' + index)
      function* numbered() {
        for (let from = 0; from < million.length; from += 10_000) {
          const part = million.slice(from, from + 10_000)
          yield part.map((item, index) => (from + index + 1) + '\\t' + escaped(item) + '\\n').join('')
        }
      }
      const times = { linesOf: [], numbered: [] }
      const client = await pool.connect()
      for (const lines of [linesOf, numbered, numbered, linesOf, linesOf, numbered]) {
        await client.query('TRUNCATE orders')
        const startMs = performance.now()
        await once(client.query(new CopyIn('COPY orders (id, item) FROM STDIN', lines(million))), 'end')
        times[lines.name].push(performance.now() - startMs)
        const late = 'SELECT id <= lag(id) OVER (ORDER BY substr(item, 6)::int) AS late FROM orders'
        const { rows } = await client.query('SELECT count(*), count(*) FILTER (WHERE late) AS late FROM (' + late + ') AS all_rows')
        assert.deepEqual(rows, [{ count: '1000000', late: '0' }])
      }
      // Rows that cannot be made, and a row that is refused, leave the connection usable.
      const failing = (lines) => once(client.query(new CopyIn('COPY orders (id, item) FROM STDIN', lines)), 'end')
      const broken = function* () { yield '1\\ttea\\n'; throw new Error('no more tea') }
      await client.query('TRUNCATE orders')
      await assert.rejects(failing(broken()), /no more tea/)
      await assert.rejects(failing(['1\\ttea\\n', '1\\ttea\\n']), { code: '23505' })
      assert.equal((await client.query('SELECT FROM orders')).rowCount, 0)
      client.release()
      console.log(JSON.stringify(times))
      await pool.end()`
    const code = `import assert from 'node:assert'\n${block?.code.replace('await pool.end()', `{${measure}}`)}`
    await query('DROP TABLE IF EXISTS orders')
    const times = JSON.parse(await project.runBlock({ ...(block as Block), code }))
    const ratios = times.linesOf.map((ms: number, index: number) => (ms / times.numbered[index]).toFixed(2))
    console.log(`COPY of a million rows, times as long as with plain numbers: ${ratios}`, times)
  })

  it('finds times by the primary key', async () => {
    const ids = createGenerator({ node: 7 }).take(20_000)
    await fresh('orders', 'id BIGINT PRIMARY KEY, item TEXT')
    await query(`INSERT INTO orders SELECT unnest($1::bigint[]), 'tea'`, [ids])
    await query('ANALYZE orders')
    const plans = []
    for (const statement of statementsOf('Ranges of time', 'PostgreSQL')) {
      let count = 0
      const numbered = statement.replaceAll('?', () => `$${++count}`)
      const values = count === 1 ? [ids[500]] : [ids[100], ids[500]]
      const plan = await query(`EXPLAIN (COSTS OFF) ${numbered}`, values)
      plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'))
      const found = await query(numbered, values)
      const [first, end, step] = count === 1 ? [499, 479, -1] : [100, 500, 1]
      const expected = []
      for (let index = first; index !== end; index += step) expected.push({ id: `${ids[index]}`, item: 'tea' })
      expect(found).toEqual(expected)
    }
    expect(plans).toHaveLength(2)
    for (const plan of plans) {
      expect(plan).toMatch(/Index Scan (Backward )?using orders_pkey/)
      expect(plan).toMatch(/Index Cond: \(+id </m.test(plan) ? /Index Cond: \(id < / : /Index Cond: \(\(id >= .*id < /)
      expect(plan).not.toContain('Sort')
    }
    for (const statement of statementsOf('Pages', 'PostgreSQL')) {
      const plan = await query(`EXPLAIN ${statement.replace('?', '$1')}`, [ids[500]])
      expect(JSON.stringify(plan)).toMatch(/Index Scan (Backward )?using orders_pkey/)
    }
    const [time = ''] = statementsOf('The time in SQL', 'PostgreSQL')
    const byTime = await query(`EXPLAIN SELECT * FROM (${time}) AS times WHERE made > now()`)
    expect(JSON.stringify(byTime)).toContain('Seq Scan')
  })

  it('pages in both directions', async () => {
    const ids = createGenerator({ node: 7 }).take(50)
    await fresh('orders', 'id BIGINT PRIMARY KEY, item TEXT')
    await query(`INSERT INTO orders SELECT unnest($1::bigint[]), 'tea'`, [ids])
    const numbered = (statement: string, id: string) => query(statement.replace('?', '$1'), [id])
    expect(await walk('PostgreSQL', numbered)).toEqual(walkOf(ids))
  })

  it('tells the time of ids', async () => {
    const [statement = ''] = statementsOf('The time in SQL', 'PostgreSQL')
    await fresh('orders', 'id BIGINT')
    await query('INSERT INTO orders SELECT unnest($1::bigint[])', [[...idsWithTimes.keys()]])
    const told = new Map((await query(statement)).map(({ id, made }) => [BigInt(id as string), made]))
    expect(told).toEqual(idsWithTimes)
  })

  it('partitions by the time of ids, and reads only the partitions of the time in the query', async () => {
    await query('DROP TABLE IF EXISTS events')
    const [parent = '', november = ''] = statementsOf('Partitions', 'PostgreSQL')
    await query(parent)
    await query(november)
    await query('CREATE TABLE others PARTITION OF events DEFAULT')
    const [, from = '', to = ''] = /FROM \((\d+)\) TO \((\d+)\)/.exec(november) ?? []
    await query(`INSERT INTO events VALUES ($1), ($2), ($3)`, [BigInt(from) - 1n, from, to])
    expect(await query('SELECT id FROM events_2026_11')).toEqual([{ id: from }])
    const plan = await query('EXPLAIN SELECT * FROM events WHERE id >= $1 AND id < $2', [from, to])
    expect(JSON.stringify(plan)).toContain('events_2026_11')
    expect(JSON.stringify(plan)).not.toContain('others')
  })

  it('makes the partition of a month by the function of the document, in any time zone', async () => {
    await query('DROP TABLE IF EXISTS events')
    const [parent = '', , define = '', call = ''] = statementsOf('Partitions', 'PostgreSQL')
    await query(parent)
    await query((await lines(['sql', '--dialect', 'postgres'])).join('\n'))
    await query(define)
    const client = open('pg', { max: 1 })
    await client.rows("SET TIME ZONE 'America/New_York'")
    const months = ['2026-11-01', '2026-11-30', '2026-12-15', '2027-01-01']
    for (const month of months) await client.rows('SELECT add_month($1)', [month])
    await client.rows(call)
    const bounds = await query(`
      SELECT relname, pg_get_expr(relpartbound, oid) AS bound FROM pg_class
      WHERE relispartition AND relkind = 'r' AND relname ~ '_2026_1|_2027_01$' ORDER BY relname`)
    const bound = (from: string, to: string) => {
      const { first, end } = idsBetween(new Date(from), new Date(to), layouts.twitter)
      return `FOR VALUES FROM ('${first}') TO ('${end}')`
    }
    expect(bounds.slice(-3)).toEqual([
      { relname: 'events_2026_11', bound: bound('2026-11-01Z', '2026-12-01Z') },
      { relname: 'events_2026_12', bound: bound('2026-12-01Z', '2027-01-01Z') },
      { relname: 'events_2027_01', bound: bound('2027-01-01Z', '2027-02-01Z') },
    ])
    const [next] = await query(
      `SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 month', '"events_"YYYY_MM') AS name`,
    )
    expect(await query('SELECT to_regclass($1)::text AS name', [next?.['name']])).toEqual([next])
    const { end } = idsBetween(new Date('2026-01-01Z'), new Date('2026-10-01Z'), layouts.twitter)
    await expect(query('INSERT INTO events VALUES ($1)', [end - 1n])).rejects.toMatchObject({ code: '23514' })
  })

  it('sorts encodings as the document says', async () => {
    const orderBy = async (texts: string[], collation: string) =>
      (await query(`SELECT t FROM unnest($1::text[]) t ORDER BY t COLLATE "${collation}"`, [texts])).map(({ t }) => t)
    for (const encoding of textEncodings) {
      const texts = encoded(encoding)
      expect(await orderBy(texts, 'C'), encoding).toEqual(texts)
      const isRight = JSON.stringify(await orderBy(texts, 'en-x-icu')) === JSON.stringify(texts)
      expect(collationsOf(encoding).language, encoding).toBe(isRight ? 'works' : 'sorts wrong')
    }
    expect(await orderBy(['9', '10'], 'C')).toEqual(['10', '9'])
    await query('DROP TABLE IF EXISTS links')
    for (const statement of statementsOf('Text columns', 'PostgreSQL')) await query(statement)
    await query('INSERT INTO links VALUES ($1), ($2)', [...pair])
    expect(await query('SELECT id FROM links ORDER BY id')).toEqual(pair.map((id) => ({ id })))
  })

  it('commits a smaller id after a larger one, which a reader of larger ids misses', async () => {
    await fresh('orders', 'id BIGINT PRIMARY KEY')
    const generator = createGenerator({ node: 7 })
    const slow = open('pg', { max: 1 })
    await slow.rows('BEGIN')
    await slow.rows('INSERT INTO orders VALUES ($1)', [generator.next()])
    await query('INSERT INTO orders VALUES ($1)', [generator.next()])
    const [seen] = await query('SELECT MAX(id) AS largest FROM orders')
    await slow.rows('COMMIT')
    expect(await query('SELECT id FROM orders WHERE id > $1', [seen?.['largest']])).toEqual([])
    expect(await query('SELECT id FROM orders')).toHaveLength(2)
  })
})
