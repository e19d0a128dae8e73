import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { composeId, layouts } from 'graupel'
import { postgresStore } from 'graupel/stores/postgres'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { load } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { lines } from '../support/cli.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { blocks, statementsOf } from './document.ts'
import { Project } from './project.ts'

// Runs the backfill of docs/databases.md on a million old rows, beside programs that insert new rows with
// leased nodes.

const rows = Number(process.env['GRAUPEL_ROWS'] ?? 1_000_000)
// The times of old rows: 5 000 rows in one millisecond, and then some rows in each.
const firstMs = Date.UTC(2020, 0, 1)
const created = (count: number) => `
  SELECT to_timestamp((${firstMs} + greatest(0, number - 5000) / 3 * 7) / 1000.0), 'item ' || number
  FROM generate_series(1, ${count}) AS number`

describeWith(['postgres'], 'the backfill on PostgreSQL', () => {
  let server: Server
  let project: Project
  let url: string
  // biome-ignore lint/suspicious/noExplicitAny: pg has no types here
  let pool: any
  const query = async (statement: string, values?: unknown[]) => (await pool.query(statement, values)).rows
  const children = new Set<ChildProcess>()

  beforeAll(async () => {
    server = await startPostgres()
    url = `postgres://postgres@127.0.0.1:${server.port}/postgres`
    pool = new (load('pg').Pool)({ connectionString: url })
    await query((await lines(['sql', '--dialect', 'postgres'])).join('\n'))
    await postgresStore(pool).setup()
    project = new Project([['pg', 'clients']], { DATABASE_URL: url })
    for (const { code } of blocks) {
      const [, name] = /^\/\/ (id-after|backfill)\.js$/m.exec(code) ?? []
      if (name !== undefined) writeFileSync(join(project.folder, `${name}.js`), code)
    }
  }, 600_000)
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await pool?.end()
    project?.remove()
    await server?.stop()
  })
  beforeEach(async () => {
    await query('DROP TABLE IF EXISTS orders, backfill')
    await query(
      'CREATE TABLE orders (key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created TIMESTAMPTZ, item TEXT)',
    )
    for (const statement of statementsOf('Backfill', 'PostgreSQL')) await query(statement)
  })

  function run(...words: string[]): ChildProcess {
    const child = spawn(process.execPath, words, { cwd: project.folder, env: { ...process.env, DATABASE_URL: url } })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const backfill = () => run('backfill.js')
  const insert = () => run('--import', 'tsx', fileURLToPath(new URL('programs/insert.ts', import.meta.url)))
  const done = async () => Number((await query('SELECT count(*) FROM orders WHERE graupel_node(id) = 1023'))[0].count)

  it('gives a million old rows ids in the order of their times, beside leased generators and after SIGKILL', async () => {
    await query(`INSERT INTO orders (created, item) ${created(rows)} ORDER BY random()`)
    const inserters = [insert(), insert()]
    const begun = inserters.map(async (child) => {
      const ended = once(child, 'exit').then(async () => Promise.reject(new Error(await text(child.stderr as never))))
      await Promise.race([once(child.stdout as never, 'data'), ended])
    })
    await Promise.all(begun)
    for (const share of [0.1, 0.4]) {
      const child = backfill()
      await until(async () => (await done()) >= share * rows)
      child.kill('SIGKILL')
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    }
    expect(await done()).toBeLessThan(rows)
    // Two at once take turns.
    const exits = [backfill(), backfill()].map(async (child) => {
      const [errors, [code]] = await Promise.all([text(child.stderr as never), once(child, 'exit')])
      return [errors, code]
    })
    expect(await Promise.all(exits)).toEqual([
      ['', 0],
      ['', 0],
    ])
    const counts = inserters.map(async ({ stdin, stdout }) => {
      stdin?.end()
      return Number((await text(stdout as never)).trim())
    })
    const inserted = (await Promise.all(counts)) as [number, number]
    expect(Math.min(...inserted)).toBeGreaterThan(0)

    const [totals] = await query(`
      SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids,
        (count(*) FILTER (WHERE graupel_node(id) = 1023))::int AS old,
        (count(*) FILTER (WHERE graupel_node(id) = 1023 AND item IS NULL))::int AS stray FROM orders`)
    const all = rows + inserted[0] + inserted[1]
    expect(totals).toEqual({ rows: all, ids: all, old: rows, stray: 0 })
    const [order] = await query(`
      SELECT count(*) FILTER (WHERE id <= before)::int AS late,
        max(graupel_time(id) - created) AS ahead, min(graupel_time(id) - created) AS behind
      FROM (SELECT id, created, lag(id) OVER (ORDER BY created, key) AS before FROM orders WHERE item IS NOT NULL) AS old`)
    expect(order.late).toBe(0)
    // 4 096 ids of a millisecond, and then those of the next.
    expect([order.ahead, order.behind].map(({ milliseconds = 0 }) => milliseconds)).toEqual([1, 0])
    console.log(`backfill of ${rows} rows beside ${inserted} rows of two leased nodes`)
  })

  it('refuses a node that has live ids', async () => {
    await query(`INSERT INTO orders (created, item) ${created(10)}`)
    const live = composeId({ timestampMs: firstMs, node: 1023, sequence: 0 } as never, layouts.twitter)
    await query('INSERT INTO orders (created, id) VALUES (now(), $1)', [live])
    const child = backfill()
    const [errors, [code]] = await Promise.all([text(child.stderr as never), once(child, 'exit')])
    expect(errors).toContain(`node 1023 has made ${live}: choose another node`)
    expect(code).toBe(1)
    expect(await query('SELECT count(*)::int AS count FROM orders WHERE id IS NULL')).toEqual([{ count: 10 }])
  })
})
