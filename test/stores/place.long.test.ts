import { afterEach, expect, it } from 'vitest'
import { acquireLease } from '../../src/lease/index.js'
import { postgresStore } from '../../src/stores/postgres.js'
import { redisStore } from '../../src/stores/redis.js'
import type { Store } from '../../src/stores/store.js'
import { graupelIn, projectWith } from '../cli/fleet.ts'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'
import { host, load, quiet } from './kinds/kind.ts'
import { startPostgres } from './kinds/postgres.ts'
import { startRedis } from './kinds/redis.ts'

// One address of a server may lead to several stores. Processes on two of them have the same nodes, so a
// process says which it has.

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

/** Acquires node 3 in each store, and returns the places of the stores. */
async function placesOf(stores: readonly Store[]): Promise<string[]> {
  const namespace = freshNamespace()
  const places: string[] = []
  for (const store of stores) {
    const lease = await acquireLease({ store, namespace, node: 3, acquireTimeoutMs: 0 })
    used.push(() => lease.release())
    places.push((await store.place?.()) as string)
  }
  return places
}

describeWith(['redis'], 'Redis', () => {
  it('tells databases and prefixes of clients apart', async () => {
    const server = await startRedis()
    used.push(() => server.stop())
    const { Redis } = load('ioredis')
    const stores = [{}, { db: 1 }, { keyPrefix: 'app:' }].map((options) => {
      const client = quiet(new Redis({ host, port: server.port, ...options }))
      used.push(() => client.disconnect())
      return redisStore(client, { assumeDurable: true })
    })
    const places = await placesOf(stores)
    const ends = ['database 0, keys {graupel}:', 'database 1, keys {graupel}:', 'database 0, keys app:{graupel}:']
    expect(places.map((place) => place.replace(/^server \S+ \(run_id \w+\), /, ''))).toEqual(ends)
    const folder = projectWith('ioredis')
    for (const database of [0, 1]) {
      const url = `redis://${host}:${server.port}/${database}`
      const { stdout } = await graupelIn(folder, ['lease', 'list', '--store', url])
      expect(stdout).toContain(`\nin redis: ${places[database]}\n`)
    }
  })

  it('says so if the user may not ask for the database', async () => {
    const server = await startRedis()
    const { Redis } = load('ioredis')
    const client = quiet(new Redis({ host, port: server.port }))
    used.push(
      () => server.stop(),
      () => client.disconnect(),
    )
    await client.call('ACL', 'SETUSER', 'default', '-client')
    expect(await redisStore(client).place?.()).toMatch(/^server port \d+ \(.*\), database unknown, keys \{graupel\}:$/)
  })
})

describeWith(['postgres'], 'PostgreSQL', () => {
  it('tells the schemas of two roles apart, which one statement of setup() has made', async () => {
    const server = await startPostgres()
    used.push(() => server.stop())
    const { Pool } = load('pg')
    const poolOf = (user: string) => {
      const pool = quiet(new Pool({ host, port: server.port, user, database: 'postgres' }))
      used.push(() => pool.end())
      return pool
    }
    const admin = poolOf('postgres')
    const roles = ['web', 'jobs']
    for (const role of roles)
      await admin.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${role} AUTHORIZATION ${role}`)
    const stores = roles.map((role) => postgresStore(poolOf(role), { assumeDurable: true }))
    for (const store of stores) await store.setup()
    const places = await placesOf(stores)
    expect(places.map((place) => place.replace(/^.*, schema/, 'schema'))).toEqual([
      'schema web, table graupel_store',
      'schema jobs, table graupel_store',
    ])
    for (const [i, role] of roles.entries()) {
      const url = `postgres://${role}@${host}:${server.port}/postgres`
      const { stdout } = await graupelIn(projectWith('pg'), ['lease', 'list', '--store', url])
      expect(stdout).toContain(`\nin postgres: ${places[i]}\n`)
    }
  })
})
