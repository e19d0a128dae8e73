import { afterEach, beforeEach, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { host, load } from './kinds/kind.ts'
import { startPostgres, startStandby } from './kinds/postgres.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

interface Pool {
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

const key = 'folder/1'
let primary: Server
let standby: Server
const used: (() => unknown)[] = []

function poolOf({ port }: Server): Pool {
  const pg = load('pg')
  const pool: Pool = new pg.Pool({ port, host, user: 'postgres' })
  pool.on('error', () => {})
  used.push(() => pool.end())
  return pool
}

/** Waits until a write is under way that waits for the replica. Returns its process at the server. */
async function waitsForReplica(): Promise<number> {
  const pool = poolOf(primary)
  return eventually(async () => {
    const { rows } = await pool.query(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
    if (rows.length === 0) throw new Error('no write waits yet')
    return rows[0]?.['pid'] as number
  })
}

beforeEach(async () => {
  primary = await startPostgres('-c', 'synchronous_standby_names=*')
  used.push(() => primary.stop())
  standby = await startStandby(primary.port, primary.port)
  used.push(() => standby.stop())
})
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

describeWith(['postgres'], 'PostgreSQL with a synchronous replica', () => {
  it('shows a write that the replica lacks after a restart, and the write does not count', async () => {
    const store = postgresStore(poolOf(primary), { assumeDurable: true })
    await store.setup()
    const version = await store.write(key, 'before', undefined)
    await standby.signal('SIGTERM')

    const writing = callsOf(store, 2000).write(key, 'after', version, 8000)
    const outcome = writing.then(
      () => 'counts',
      ({ code }) => code,
    )
    await waitsForReplica()
    expect((await store.read(key))?.value).toBe('before')
    await primary.restart('SIGQUIT')
    expect((await eventually(() => store.read(key)))?.value).toBe('after')
    expect(await outcome).toBe('ERR_STORE_UNAVAILABLE')

    await primary.signal('SIGKILL')
    await standby.restart()
    const promoted = poolOf(standby)
    await promoted.query(`ALTER SYSTEM SET synchronous_standby_names = ''`)
    await promoted.query('SELECT pg_promote()')
    expect((await postgresStore(promoted).read(key))?.value).toBe('before')
  })

  it('counts the write when the replica is back, after one more write', async () => {
    const store = postgresStore(poolOf(primary), { assumeDurable: true })
    await store.setup()
    const version = await store.write(key, 'before', undefined)
    await standby.signal('SIGTERM')
    const writing = callsOf(store, 2000).write(key, 'after', version, 20_000)
    await waitsForReplica()
    await primary.restart('SIGQUIT')
    expect((await eventually(() => store.read(key)))?.value).toBe('after')
    await standby.restart()
    expect(await writing).toEqual({ landed: true, version: (await store.read(key))?.version })
    await eventually(async () => expect((await postgresStore(poolOf(standby)).read(key))?.value).toBe('after'))
  })

  // The control file has the old timeline until the first checkpoint, a minute later or more.
  it('has one new life from its promotion on', async () => {
    const former = poolOf(primary)
    const before = await postgresStore(former).incarnation?.()
    // The checkpoint takes its time if there is something to write.
    await former.query('CREATE TABLE filler AS SELECT generate_series(1, 300000) AS number')
    await primary.signal('SIGKILL')
    const promoted = poolOf(standby)
    await promoted.query('SELECT pg_promote()')
    const after = await postgresStore(promoted).incarnation?.()
    expect([before?.split(' ')[1], after?.split(' ')[1]]).toEqual(['1', '2'])
    await promoted.query('CHECKPOINT')
    expect(await postgresStore(promoted).incarnation?.()).toBe(after)
  })

  // Nothing shows this to the store, so docs/stores/postgres.md forbids it.
  it('answers a write whose wait was cancelled, although the replica lacks the write', async () => {
    const store = postgresStore(poolOf(primary), { assumeDurable: true })
    await store.setup()
    const version = await store.write(key, 'before', undefined)
    await standby.signal('SIGTERM')
    const writing = store.write(key, 'after', version)
    await poolOf(primary).query(`SELECT pg_cancel_backend(${await waitsForReplica()})`)
    expect(await writing).toBeTypeOf('string')
  })
})
