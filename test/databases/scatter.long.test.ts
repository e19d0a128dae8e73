import { createGenerator, layouts, scatter } from 'graupel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { host, load } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { read } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'

// Measures the table of docs/databases.md, section "Stores that split by ranges", again.

const count = 100_000
const layout = layouts.twitter
const keys: Record<string, (id: bigint) => bigint> = {
  'the id': (id) => id,
  '`scatter(id, layout)`': (id) => scatter(id, layout),
  '`scatter(id, layout, 16)`': (id) => scatter(id, layout, 16),
}

/** Ids of a node that makes 200 in a second. */
function slowIds(): bigint[] {
  let nowMs = Date.UTC(2026, 0, 1)
  const clock = () => nowMs
  const ids = createGenerator({ node: 7, clock, sequenceStart: 'rotate', namespace: crypto.randomUUID() })
  const made = Array.from({ length: count }, () => {
    nowMs += 5
    return ids.next()
  })
  ids.close()
  return made
}

/**
 * A store has split the first nine tenths into 16 ranges of as many rows. Returns the percentage of the rest
 * that goes to the fullest range.
 */
function busiest(made: readonly bigint[]): number {
  const old = made.slice(0, count * 0.9).toSorted((a, b) => (a < b ? -1 : 1))
  const starts = Array.from({ length: 16 }, (_, i) => old[Math.floor((i * old.length) / 16)] as bigint)
  const rows = starts.map(() => 0)
  for (const key of made.slice(count * 0.9)) {
    const range = Math.max(
      0,
      starts.findLastIndex((start) => key >= start),
    )
    rows[range] = (rows[range] as number) + 1
  }
  return (100 * Math.max(...rows)) / (count / 10)
}

describeWith(['postgres'], 'PostgreSQL', () => {
  let server: Server
  // biome-ignore lint/suspicious/noExplicitAny: a client of pg, which has no types here.
  let client: any
  beforeAll(async () => {
    server = await startPostgres('-c', 'synchronous_commit=off')
    client = new (load('pg').Client)({ port: server.port, host, user: 'postgres' })
    await client.connect()
  })
  afterAll(async () => {
    await client?.end()
    await server?.stop()
  })

  it.each(Object.entries(keys))(
    'has the index and the busiest range that the document says for %s',
    async (name, keyOf) => {
      const row = read('docs/databases.md')
        .split('\n')
        .find((line) => line.startsWith(`| ${name} |`)) as string
      const [, , share, size] = row.split('|').map((cell) => Number.parseFloat(cell))
      const made = slowIds().map(keyOf)
      await client.query('CREATE TABLE scattered (id BIGINT PRIMARY KEY)')
      for (let i = 0; i < count; i += 1000) {
        await client.query('INSERT INTO scattered SELECT unnest($1::bigint[])', [made.slice(i, i + 1000)])
      }
      const { rows } = await client.query(`SELECT pg_relation_size('scattered_pkey') AS bytes`)
      await client.query('DROP TABLE scattered')
      const measured = { share: busiest(made), size: Number(rows[0].bytes) / 1e6 }
      expect(Math.abs(measured.share - (share as number)), JSON.stringify(measured)).toBeLessThanOrEqual(1)
      expect(Math.abs(measured.size - (size as number)), JSON.stringify(measured)).toBeLessThanOrEqual(0.2)
    },
  )
})
