import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { postgresStore } from 'graupel/stores/postgres'
import { storeContract } from 'graupel/stores/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { host, load } from './kinds/kind.ts'
import { postgres, startPostgres } from './kinds/postgres.ts'
import { type Server, start } from './servers.ts'

// PgBouncer gives the statements of many clients to few connections: each session, transaction or statement
// to any of them.

/** @param mode - What a client keeps a connection of the server for. */
function startPgBouncer(port: number, mode: string): Promise<Server> {
  const settings = [
    '[databases]',
    `* = host=${host} port=${port} user=postgres`,
    '[pgbouncer]',
    ...[`pool_mode = ${mode}`, 'auth_type = any', `listen_addr = ${host}`],
    // A session keeps its connection, so there are as many as the clients' pools have.
    `default_pool_size = ${mode === 'session' ? 20 : 4}`,
    'unix_socket_dir =',
  ]
  return start({
    program: 'pgbouncer',
    words(own, folder) {
      writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\nlisten_port = ${own}\n`)
      return [join(folder, 'pgbouncer.ini')]
    },
    ready: 'process up',
    // PgBouncer refuses to run as root.
    ...(process.getuid?.() === 0 && { user: 'postgres' }),
  })
}

describeWith(['postgres', 'pgbouncer'], 'PostgreSQL behind PgBouncer', () => {
  let server: Server
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  describe.each(['session', 'transaction', 'statement'])('in %s mode', (mode) => {
    let pooler: Server
    beforeAll(async () => {
      pooler = await startPgBouncer(server.port, mode)
    })
    afterAll(() => pooler?.stop())

    it('answers other code of a client of postgres.js, whose statements have parameters', async () => {
      const sql = load('postgres')({ port: pooler.port, host, user: 'postgres', max: 2, prepare: false })
      const store = postgresStore(sql)
      await store.setup()
      for (let round = 0; round < 100; round++) {
        const calls = Array.from({ length: 8 }, (_, i) => [store.nowMs?.(), sql`SELECT ${`${i}`}::text AS given`])
        const answers = await Promise.all(calls.flat())
        expect(answers.flat().filter((answer) => typeof answer === 'object')).toHaveLength(8)
      }
      await sql.end()
    })

    describe.each(Object.entries(postgres.clients))('by %s', (_, open) => {
      it('keeps the contract of a store', async () => {
        const { store, close } = await open(pooler.port)
        await store.setup?.()
        for (const { run } of storeContract(async () => store)) await run()
        await close()
      })

      it('answers eight leases that begin at once, and go on for many renewals', async () => {
        const { store, close } = await open(pooler.port)
        await store.setup?.()
        // The store's durability is not tested here, so no lease waits for the life of the server.
        const durable = { ...store, durable: true }
        const namespace = freshNamespace()
        const options = { store: durable, namespace, windowMs: 1500 }
        const leases = await Promise.all(Array.from({ length: 8 }, () => acquireLease(options)))
        const generators = leases.map((lease) => createGenerator({ lease }))
        await until(() => leases.every((lease) => lease.stats().renewals >= 10))
        const ids = generators.flatMap((generator) => generator.take(100))
        expect(new Set(ids).size).toBe(800)
        expect(leases.map((lease) => lease.stats().failures)).toEqual(leases.map(() => 0))
        await Promise.all(leases.map((lease) => lease.release()))
        await close()
      })
    })
  })
})
