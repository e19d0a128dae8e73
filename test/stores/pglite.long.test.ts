import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.js'
import { storeContract } from '../../src/stores/testing.js'
import { freshNamespace } from '../support/engines.js'
import { host, load, quiet } from './kinds/kind.ts'

// PGlite, which is PostgreSQL in WebAssembly, by its socket server. docs/leases.md has the servers that speak
// a protocol without being the product.

let database: { query(text: string): Promise<{ rows: unknown[] }>; close(): Promise<void> }
let server: { start(): Promise<void>; stop(): Promise<void>; getServerConn(): string }
let port: number
beforeAll(async () => {
  const { PGlite } = load('@electric-sql/pglite', 'pglite')
  const { PGLiteSocketServer } = load('@electric-sql/pglite-socket', 'pglite')
  database = await PGlite.create()
  server = new PGLiteSocketServer({ db: database, port: 0, host, maxConnections: 10 })
  await server.start()
  port = Number(server.getServerConn().split(':').at(-1))
}, 600_000)
afterAll(async () => {
  await server?.stop()
  await database?.close()
})

const pools = {
  pg: () => {
    const pool = quiet(new (load('pg').Pool)({ host, port, user: 'postgres', max: 2 }))
    return { client: pool, end: () => pool.end() }
  },
  'postgres.js': () => {
    const sql = load('postgres')({ host, port, user: 'postgres', max: 2, fetch_types: false, onnotice() {} })
    return { client: sql, end: () => sql.end({ timeout: 5 }) }
  },
}

describe.each(Object.entries(pools))('PGlite behind its socket server, by %s', (_, open) => {
  let opened: ReturnType<typeof open>
  beforeAll(async () => {
    opened = open()
    await postgresStore(opened.client).setup()
  })
  afterAll(() => opened?.end())

  for (const { name, run } of storeContract(async () => postgresStore(opened.client))) it(name, run)

  it('lends nodes', async () => {
    const store = postgresStore(opened.client, { assumeDurable: true })
    const leases = await Promise.all(
      [1, 2, 3].map(() => acquireLease({ store, namespace: 'pglite', callTimeoutMs: 10_000 })),
    )
    expect(new Set(leases.map(({ node }) => node)).size).toBe(3)
    const [lease] = leases
    const ids = createGenerator({ lease: lease as NonNullable<typeof lease> })
    const before = ids.next()
    expect(ids.next()).toBeGreaterThan(before)
    await Promise.all(leases.map((one) => one.release()))
  })
})

it('PGlite without its socket server is refused, because it wraps each statement', async () => {
  const store = postgresStore({ query: (text) => database.query(text) })
  await expect(acquireLease({ store, namespace: freshNamespace(), acquireTimeoutMs: 0 })).rejects.toMatchObject({
    code: 'ERR_STORE_UNSAFE',
  })
})
