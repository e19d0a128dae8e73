import { execFileSync } from 'node:child_process'
import { createGenerator, decode, defineLayout, gather, idsBetween, type Layout, layouts, scatter } from 'graupel'
import { acquireLease } from 'graupel/lease'
import type { Store } from 'graupel/stores'
import { mysqlStore } from 'graupel/stores/mysql'
import { postgresStore } from 'graupel/stores/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host, load, quiet } from '../stores/kinds/kind.ts'
import { database, startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { lines } from '../support/cli.ts'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { idsOf } from './facts.ts'

// Runs what `graupel sql` prints on real servers.

/** The length of each part of the test that makes ids from several connections. */
const partMs = Number(process.env['GRAUPEL_SECONDS'] ?? 1) * 1000
const node = 1023
const presets: [string, Layout][] = Object.entries(layouts)

/** A layout with tags, and node fields that other fields part. */
const rows = defineLayout({
  name: 'own',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 38],
    ['region', 2],
    ['shard', 6, 'tag'],
    ['worker', 5],
    ['sequence', 6],
    ['kind', 3, 'tag?'],
  ],
})
/** A layout with a tag above the timestamp, so that ids of a time are no range. */
const behind = defineLayout({
  name: 'own',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 10,
  fields: [
    ['shard', 10, 'tag'],
    ['timestamp', 36],
    ['worker', 8],
    ['sequence', 8],
  ],
})
/** A layout whose first ids are from before 1970. */
const early = defineLayout({
  name: 'own',
  epochMs: Date.UTC(1960, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 43],
    ['worker', 8],
    ['sequence', 12],
  ],
})
const own: [string, Layout][] = [
  ['tags', rows as Layout],
  ['a tag above the timestamp', behind as Layout],
]
/** The layouts whose ids the functions read. */
const readable: [string, Layout][] = [...presets, ...own, ['an epoch before 1970', early as Layout]]
const isRange = ({ timestamp, bits }: Layout) => timestamp.shift + timestamp.bits === bits

const flagsOf = ({ name, fields, epochMs, tickMs }: Layout) =>
  name === 'own'
    ? ['--fields', fields.map((field) => field.join(' ')).join(', '), '--epoch', `${epochMs}`, '--tick-ms', `${tickMs}`]
    : ['--layout', name]

const scriptOf = async (layout: Layout, dialect: string, node?: number, ...words: string[]) =>
  (
    await lines([
      'sql',
      '--dialect',
      dialect,
      ...flagsOf(layout),
      ...(node === undefined ? [] : ['--node', `${node}`]),
      ...words,
    ])
  ).join('\n')

type Row = Record<string, string>
interface Session {
  query(text: string): Promise<Row[]>
  end(): Promise<unknown>
}
interface Kind {
  readonly dialect: 'postgres' | 'mariadb'
  start(): Promise<Server>
  /** Runs a script by the program that users have for it. */
  run(port: number, script: string): string
  open(port: number): Promise<Session>
  /** A store of leases, and the pool below. */
  store(port: number): { store: Store & { setup(): Promise<void> }; end(): Promise<unknown> }
  /** Sets the last slot of the layout twitter 20 s ahead. */
  readonly ahead: string
  /** A statement that makes many ids at once. */
  readonly many: string
  /** A time as {@link Date.toISOString} writes it. */
  readonly iso: (time: string) => string
}

const postgres: Kind = {
  dialect: 'postgres',
  start: () => startPostgres(),
  run: (port, input) =>
    execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', '-h', host, '-p', `${port}`, '-U', 'postgres'], {
      input,
      encoding: 'utf8',
    }),
  async open(port) {
    const client = quiet(new (load('pg').Client)({ port, host, user: 'postgres' }))
    await client.connect()
    return { query: async (text) => (await client.query(text)).rows, end: () => client.end() }
  },
  store(port) {
    const pool = quiet(new (load('pg').Pool)({ port, host, user: 'postgres' }))
    return { store: postgresStore(pool, { assumeDurable: true }), end: () => pool.end() }
  },
  ahead: `SELECT setval('graupel_last', last_value + 20000 * 4096) FROM graupel_last;`,
  many: 'SELECT graupel_next() AS id FROM generate_series(1, 30000)',
  iso: (time) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
}

const mariadb: Kind = {
  dialect: 'mariadb',
  start: () => startMysql(),
  run: (port, input) =>
    execFileSync('mariadb', ['--no-defaults', '-N', '-h', host, '-P', `${port}`, '-u', 'root', database], {
      input,
      encoding: 'utf8',
    }),
  async open(port) {
    const options = { host, port, user: 'root', database, supportBigNumbers: true, bigNumberStrings: true }
    const connection = quiet(await load('mysql2/promise').createConnection(options))
    return { query: async (text) => (await connection.query(text))[0], end: () => connection.end() }
  },
  store(port) {
    const pool = load('mysql2/promise').createPool({ host, port, user: 'root', database })
    return { store: mysqlStore(pool, { assumeDurable: true }), end: () => pool.end() }
  },
  ahead: 'SET @slot = (graupel_next() >> 22 << 12) + 20000 * 4096; INSERT INTO graupel_last VALUES (@slot, 0);',
  many: 'SELECT graupel_next() AS id FROM seq_1_to_30000',
  iso: (time) => `DATE_FORMAT(${time}, '%Y-%m-%dT%H:%i:%s.%f')`,
}

/** Ids that a connection has got, in the order in which it got them. */
interface Seen {
  readonly all: bigint[]
  /** The ids of transactions that are known to be committed. */
  readonly committed: Set<bigint>
}

describe.each([postgres, mariadb])('$dialect', (kind) => {
  describeWith([kind.dialect === 'postgres' ? 'postgres' : 'mysql'], 'graupel sql', () => {
    let server: Server
    beforeAll(async () => {
      server = await kind.start()
    })
    afterAll(() => server?.stop())

    it.each(readable)('decodes ids of %s as the library does', async (_name, layout) => {
      const ids = idsOf(layout)
      const tagNames = layout.tagFields.map(({ name }) => name)
      const parts = ['sequence', ...(layout.nodes > 1 ? ['node'] : []), ...tagNames]
      const columns = [
        kind.iso('graupel_time(id)'),
        isRange(layout) ? 'graupel_at(graupel_time(id))' : '0',
        ...parts.map((part) => `graupel_${part}(id)`),
      ]
      const insert = `CREATE TEMPORARY TABLE ids (id BIGINT); INSERT INTO ids VALUES ${ids.map((id) => `(${id})`).join()};`
      const script = `${await scriptOf(layout, kind.dialect)}\n${insert}\nSELECT id, ${columns.join()} FROM ids ORDER BY id;`
      const rows = kind.run(server.port, script).trim().split('\n')
      const expected = ids
        .toSorted((one, other) => Number(one - other))
        .map((id) => {
          const { timestamp, sequence, node, tags } = decode(id, layout)
          const first = isRange(layout) ? (id >> BigInt(layout.timestamp.shift)) << BigInt(layout.timestamp.shift) : 0
          const time = timestamp.toISOString()
          return [
            id,
            kind.dialect === 'postgres' ? time : time.replace('Z', '000'),
            first,
            sequence,
            ...(layout.nodes > 1 ? [node] : []),
            ...Object.values<number>({ ...tags }),
          ].join()
        })
      expect(rows.map((row) => row.split(/[|\t]/).join())).toEqual(expected)
    })

    it.each<[string, Layout]>([
      ['twitter', layouts.twitter],
      ['sonyflake', layouts.sonyflake],
      ['an epoch before 1970', early as Layout],
    ])('finds the first id from a moment on as idsBetween does, also inside a tick: %s', async (_name, layout) => {
      const baseMs = Date.UTC(2026, 10, 27, 12)
      const moments = [0, 1, 999, 1000, 4000, 9999, 10_000, 10_001].map((us) => ({
        text: `2026-11-27 12:00:00.${`${us}`.padStart(6, '0')}`,
        ms: baseMs + Math.ceil(us / 1000),
      }))
      const calls = moments.map(({ text }) => `graupel_at('${text}${kind.dialect === 'postgres' ? 'Z' : ''}')`)
      const script = `${await scriptOf(layout, kind.dialect)}\nSELECT ${calls.join()};`
      const found = kind.run(server.port, script).trim().split(/[|\t]/)
      expect(found).toEqual(moments.map(({ ms }) => `${idsBetween(ms, ms + 1000, layout).first}`))
    })

    it(
      'makes ids that are in order and equal no other, beside leases, also after steps of the clock and a crash',
      async () => {
        kind.run(server.port, (await lines(['sql', '--dialect', kind.dialect, '--node', `${node}`])).join('\n'))
        kind.run(server.port, 'CREATE TABLE orders (id BIGINT PRIMARY KEY, source INT);')
        const { store, end } = kind.store(server.port)
        await store.setup()
        const leases = await Promise.all(
          [1, 2, 3].map(() => acquireLease({ store, nodes: [0, node - 1], windowMs: 120_000 })),
        )
        const ofLibrary = leases.map((lease) => createGenerator({ lease }))
        const seen: Seen[] = Array.from({ length: 6 }, () => ({ all: [], committed: new Set() }))

        /** Makes ids on each connection until the time is over, or the server ends. */
        const part = async (ms: number, crash?: () => Promise<void>) => {
          const until = performance.now() + ms
          const work = [...seen.keys()].map(async (source) => {
            const session = await eventually(() => kind.open(server.port))
            const { all, committed } = seen[source] as Seen
            const ids = ofLibrary[source % ofLibrary.length]
            const insert = async (count: number) => {
              const values = Array.from({ length: count }, () => `(graupel_next(), ${source})`)
              const rows = await session.query(`INSERT INTO orders (id, source) VALUES ${values} RETURNING id`)
              const made = rows.map(({ id }) => BigInt(id as string))
              all.push(...made)
              return made
            }
            try {
              for (let turn = 0; performance.now() < until; turn++) {
                if (turn % 3 === 0) for (const id of await insert(1)) committed.add(id)
                else {
                  await session.query('BEGIN')
                  const made = await insert(1 + (turn % 7))
                  await session.query(turn % 3 === 1 ? 'COMMIT' : 'ROLLBACK')
                  if (turn % 3 === 1) for (const id of made) committed.add(id)
                }
                await session.query(
                  `INSERT INTO orders (id, source) VALUES (${ids?.next()}, 100), (${ids?.next()}, 100)`,
                )
              }
            } catch (error) {
              if (crash === undefined) throw error
            }
            await session.end().catch(() => {})
          })
          if (crash !== undefined) {
            await new Promise((resolve) => setTimeout(resolve, ms / 2))
            await crash()
          }
          await Promise.all(work)
        }
        const check = async () => {
          const stored = new Set(
            (
              await eventually(async () => {
                const session = await kind.open(server.port)
                const rows = await session.query('SELECT id FROM orders WHERE source < 100')
                await session.end()
                return rows
              })
            ).map(({ id }) => BigInt(id as string)),
          )
          const all = seen.flatMap(({ all }) => all)
          expect(new Set(all).size).toBe(all.length)
          for (const { all, committed } of seen) {
            for (const id of committed) expect(stored.has(id)).toBe(true)
            for (const [index, id] of all.entries()) if (index > 0) expect(id > (all[index - 1] as bigint)).toBe(true)
          }
          for (const id of all) expect(decode(id, layouts.twitter).node).toBe(node)
          return all.length
        }
        for (const { node: leased } of leases) expect(leased).toBeLessThan(node)
        const counts: number[] = []
        await part(partMs)
        counts.push(await check())
        // The last slot is 20 s ahead of the clock, as after a step of the clock back. Ids go on after it.
        kind.run(server.port, kind.ahead)
        await part(partMs)
        counts.push(await check())
        const newest = seen.flatMap(({ all }) => all).reduce((one, other) => (one > other ? one : other))
        expect(decode(newest, layouts.twitter).timestampMs).toBeGreaterThan(Date.now() + 10_000)
        // The server crashes while its clock is behind the ids. What it had not committed then may come
        // again.
        await part(partMs, () => server.restart('SIGKILL'))
        const committed = seen
          .flatMap(({ committed }) => [...committed])
          .reduce((one, other) => (one > other ? one : other))
        for (const { all } of seen) while ((all.at(-1) ?? 0n) > committed) all.pop()
        await part(partMs)
        counts.push(await check())
        console.log(
          `${kind.dialect}: ${counts.join(', ')} ids from ${seen.length} connections, beside ${leases.length} leases`,
        )
        for (const lease of leases) await lease.release()
        await end()
      },
      120_000 + 10 * partMs,
    )

    it('makes more ids than ticks have room for, in order', async () => {
      kind.run(server.port, `DROP ${kind.dialect === 'postgres' ? 'SEQUENCE' : 'TABLE'} IF EXISTS graupel_last;`)
      kind.run(server.port, await scriptOf(layouts.sonyflake, kind.dialect, 65_535))
      const session = await kind.open(server.port)
      const began = performance.now()
      const ids = (await session.query(kind.many)).map(({ id }) => BigInt(id as string))
      console.log(`${kind.dialect}: ${(((performance.now() - began) / ids.length) * 1000).toFixed(0)} µs an id`)
      await session.end()
      expect(ids).toHaveLength(30_000)
      const slots = ids.map((id) => {
        const { timestampMs, sequence, node } = decode(id, layouts.sonyflake)
        expect(node).toBe(65_535)
        return (timestampMs / 10) * 256 + sequence
      })
      for (const [index, slot] of slots.entries())
        if (index > 0) expect(slot).toBeGreaterThan(slots[index - 1] as number)
    })

    it.each(readable)('scatters ids of %s as the library does', async (_name, layout) => {
      const ids = idsOf(layout)
      const columns = `id, graupel_scatter(id), graupel_gather(graupel_scatter(id))`
      const insert = `CREATE TEMPORARY TABLE ids (id BIGINT); INSERT INTO ids VALUES ${ids.map((id) => `(${id})`).join()};`
      const script = `${await scriptOf(layout, kind.dialect)}\n${insert}\nSELECT ${columns} FROM ids ORDER BY id;`
      const printed = kind.run(server.port, script).trim().split('\n')
      // PostgreSQL shows 64 bits with a sign.
      const shown = (id: bigint) => (kind.dialect === 'postgres' ? BigInt.asIntN(64, id) : id)
      const expected = ids
        .toSorted((one, other) => Number(one - other))
        .map((id) => [id, shown(scatter(id, layout)), gather(scatter(id, layout), layout)].join())
      expect(printed.map((row) => row.split(/[|\t]/).join())).toEqual(expected)
    })

    it('refuses to scatter what is too wide for the layout', async () => {
      kind.run(server.port, await scriptOf(layouts.js53, kind.dialect))
      expect(() => kind.run(server.port, `SELECT graupel_scatter(${2n ** 53n});`)).toThrow(
        // MariaDB does not show the text that is no number.
        kind.dialect === 'postgres' ? /is no id of js53/ : /Data truncated/,
      )
    })

    it.each(own)('makes ids of a layout with %s', async (_name, layout) => {
      kind.run(server.port, `DROP ${kind.dialect === 'postgres' ? 'SEQUENCE' : 'TABLE'} IF EXISTS graupel_last;`)
      kind.run(server.port, await scriptOf(layout, kind.dialect, 77, '--tag', 'shard=37'))
      const made = Array.from({ length: 3 }, () => BigInt(kind.run(server.port, 'SELECT graupel_next();').trim()))
      expect(new Set(made).size).toBe(3)
      for (const id of made) {
        const { node, tags, timestampMs } = decode(id, layout)
        expect({ node, shard: Object.entries<number>({ ...tags }) }).toEqual({
          node: 77,
          shard: layout.tagFields.map(({ name }) => [name, name === 'shard' ? 37 : 0]),
        })
        expect(Math.abs(timestampMs - Date.now())).toBeLessThan(60_000)
      }
    })

    it('refuses a time that the layout does not hold', async () => {
      kind.run(server.port, await scriptOf(layouts.twitter, kind.dialect))
      const late = kind.dialect === 'postgres' ? "'2090-01-01Z'" : "'2090-01-01'"
      expect(() => kind.run(server.port, `SELECT graupel_at(${late});`)).toThrow()
    })
  })
})

describeWith(['sqlite3'], 'sqlite', () => {
  it.each(readable)('decodes ids of %s as the library does', async (_name, layout) => {
    const ids = idsOf(layout).slice(0, 50)
    const statements = await scriptOf(layout, 'sqlite')
    const script = ids.map((id) => {
      const { timestamp } = decode(id, layout)
      return `.parameter set :id ${id}\n.parameter set :moment "'${timestamp.toISOString()}'"\n${statements}`
    })
    const printed = execFileSync('sqlite3', [':memory:'], { input: script.join('\n'), encoding: 'utf8' })
    const expected = ids.flatMap((id) => {
      const { timestamp, node, sequence, tags } = decode(id, layout)
      const first = (id >> BigInt(layout.timestamp.shift)) << BigInt(layout.timestamp.shift)
      const parts = [...(layout.nodes > 1 ? [node] : []), ...Object.values<number>({ ...tags }), sequence]
      return [timestamp.toISOString(), ...parts, ...(isRange(layout) ? [first] : [])].map(String)
    })
    expect(printed.trim().split('\n')).toEqual(expected)
  })
})
