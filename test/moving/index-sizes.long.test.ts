import { createGenerator } from 'graupel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { host, load as loadClient } from '../stores/kinds/kind.ts'
import { mysqlPools, startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { blocksOf, read } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { load } from './packages.ts'

// Measures the sizes of indexes in docs/comparison.md again, by the statements of the document.

const text = read('docs/comparison.md')
const scripts = blocksOf('docs/comparison.md')
  .filter(({ language }) => language === 'text')
  .map(({ code }) => code.trim().split(';\n'))
const count = 100_000
// With the same types, a version of a server always needs the same number of pages. Other versions may need a
// little more or less.
const tolerance = 0.08

/** Returns the rows of the table that begins with `head`, as cells without quotes. */
function tableOf(head: string): string[][] {
  const [, body = ''] = text.split(`\n| ${head} |`)
  const lines = (body.split('\n\n')[0] ?? '').split('\n').slice(2)
  return lines.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replace(/^`(.*)`/, '$1')),
  )
}

function expectNear(measured: number, said: string | undefined): void {
  expect(Math.abs(measured / Number(said) - 1), `measured ${measured}, said ${said}`).toBeLessThan(tolerance)
}

describeWith(['postgres'], 'PostgreSQL', () => {
  let server: Server
  // biome-ignore lint/suspicious/noExplicitAny: a client of pg, which has no types here.
  let client: any
  const [script = []] = scripts

  beforeAll(async () => {
    server = await startPostgres('-c', 'synchronous_commit=off')
    client = new (loadClient('pg').Client)({ port: server.port, host, user: 'postgres' })
    await client.connect()
  })
  afterAll(async () => {
    await client?.end()
    await server?.stop()
  })

  /**
   * Measures the bytes of index for each row. @param values - Other ids for the second statement to insert.
   */
  async function measure(type: string, expression: string, values?: readonly string[]): Promise<number> {
    const [create = '', insert = '', select = '', drop = ''] = script
    await client.query(create.replace('bigint', type))
    if (values) await client.query(`INSERT INTO ids SELECT unnest($1::${type}[])`, [values])
    else await client.query(insert.replace('i::bigint << 22', expression))
    const { rows } = await client.query(select)
    await client.query(drop)
    return Number(Object.values(rows[0])[0])
  }

  it.each(
    tableOf('PostgreSQL, index').map(([type = '', , ordered = '', random = '', inOrder = '', atRandom = '']) => ({
      type,
      ordered,
      random,
      inOrder,
      atRandom,
    })),
  )('has indexes of $type of the size in the document', async (row) => {
    const type = row.type.split(' ')[0] ?? ''
    expectNear(await measure(type, row.inOrder), row.ordered)
    expectNear(await measure(type, row.atRandom), row.random)
  })

  /** Makes ids of four nodes, each with `perMs` ids a millisecond, in the order of time. */
  function ofFourNodes(perMs: number): { bigint: string[]; uuid: string[] } {
    let now = Date.UTC(2026, 0, 1)
    const shared = { clock: () => now, state: 'process', namespace: `sizes ${perMs}` } as const
    const nodes = [1, 2, 3, 4].map((node) => createGenerator({ node, ...shared }))
    const { v7 } = load('uuid')
    const made = { bigint: [] as string[], uuid: [] as string[] }
    for (; made.bigint.length < count; now++) {
      for (let round = 0; round < perMs; round++) {
        made.bigint.push(...nodes.map((ids) => ids.nextString()))
        made.uuid.push(...nodes.map(() => v7({ msecs: now })))
      }
    }
    return made
  }

  it('needs no more index for 120 ids a millisecond of four nodes than for ordered ids, and more for 2 000', async () => {
    const [bigint, uuid] = tableOf('PostgreSQL, index').map(([, , ordered]) => ordered)
    const few = ofFourNodes(30)
    expectNear(await measure('bigint', '', few.bigint), bigint)
    expectNear(await measure('uuid', '', few.uuid), uuid)
    const many = ofFourNodes(500)
    expect(await measure('bigint', '', many.bigint)).toBeGreaterThan(1.2 * Number(bigint))
    expect(await measure('uuid', '', many.uuid)).toBeGreaterThan(1.2 * Number(uuid))
  })
})

describeWith(['mysql'], 'MariaDB', () => {
  let server: Server
  // biome-ignore lint/suspicious/noExplicitAny: a pool of mysql2, which has no types here.
  let pool: any
  const [, script = []] = scripts

  beforeAll(async () => {
    // The cache has room for all pages, so that random keys do not wait for the disk.
    server = await startMysql('--innodb-buffer-pool-size=128M', '--innodb-log-file-size=96M', '--innodb-doublewrite=0')
    pool = mysqlPools.mysql2(server.port, { connectionLimit: 1 })
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  /**
   * Measures the bytes for each row: of the primary index, which has the rows, and of the index on the
   * number.
   */
  async function measure(type: string, expression: string): Promise<[rows: number, index: number]> {
    const [create = '', insert = '', analyze = '', select = '', drop = ''] = script
    await pool.query(create.replace('BIGINT', type))
    await pool.query(insert.replace('seq << 22', expression))
    await pool.query(analyze)
    const [rows] = await pool.query(select)
    await pool.query(drop)
    return rows.map((row: object) => Number(Object.values(row)[0])) as [number, number]
  }

  it.each(
    tableOf('MariaDB, key').map(([type = '', ordered = '', random = '', index = '', inOrder = '', atRandom = '']) => ({
      type,
      ordered,
      random,
      index,
      inOrder,
      atRandom,
    })),
  )('has keys of $type of the size in the document', async (row) => {
    const [rows, index] = await measure(row.type, row.inOrder)
    expectNear(rows, row.ordered)
    expectNear(index, row.index)
    expectNear((await measure(row.type, row.atRandom))[0], row.random)
  })
})
