import { createSegmentGenerator, type SegmentGenerator } from 'graupel/segments'
import { mysqlStore } from 'graupel/stores/mysql'
import { afterEach, expect, it } from 'vitest'
import { TcpProxy } from '../chaos/proxy.ts'
import { mysql, mysqlPools, startMysql } from '../stores/kinds/mysql.ts'
import type { Admin } from '../stores/mysql-admin.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'

// The recipe of docs/numbers.md: a semi-synchronous replica, and a proxy that leads to the primary.

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

interface Pair {
  readonly primary: Server
  /** Leads to the server that is the primary. */
  readonly proxy: TcpProxy
  /** Between replica and primary. */
  readonly link: TcpProxy
  /** Ends the primary, and leads the proxy to the replica. */
  failOver(): Promise<void>
}

function adminOf({ port }: Server): Admin {
  const admin = mysqlPools.mysql2(port) as unknown as Admin
  used.push(() => admin.end())
  return admin
}

/** @param timeoutMs - How long a commit waits for the replica. */
async function startPair(timeoutMs: number): Promise<Pair> {
  const common = ['--log-bin', '--log-slave-updates']
  const semiSync = [`--rpl-semi-sync-master-timeout=${timeoutMs}`, '--rpl-semi-sync-master-wait-point=AFTER_SYNC']
  const [primary, replica] = (await Promise.all([
    startMysql(...common, '--server-id=1', '--rpl-semi-sync-master-enabled=ON', ...semiSync),
    startMysql(...common, '--server-id=2', '--rpl-semi-sync-slave-enabled=ON', '--read-only=ON'),
  ])) as [Server, Server]
  used.push(() => Promise.all([primary.stop(), replica.stop()]))
  let current = primary
  const link = await TcpProxy.start(() => primary.port, Math.random)
  const proxy = await TcpProxy.start(() => current.port, Math.random)
  used.push(() => [link, proxy].map((one) => one.stop()))
  const follower = adminOf(replica)
  await follower.query(
    `CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=${link.port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1`,
  )
  await follower.query('START SLAVE')
  const leader = adminOf(primary)
  await eventually(async () => {
    const [[row]] = await leader.query("SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'")
    if (row?.['Value'] !== '1') throw new Error(`semi-synchronous replicas: ${row?.['Value']}`)
  })
  return {
    primary,
    proxy,
    link,
    async failOver() {
      await primary.signal('SIGKILL')
      await follower.query('STOP SLAVE')
      await follower.query('RESET SLAVE ALL')
      await follower.query('SET GLOBAL read_only = OFF')
      current = replica
      proxy.cut()
    },
  }
}

/** Opens a generator of its own pool, as another process does. */
async function open({ proxy }: Pair, assumeDurable: boolean): Promise<SegmentGenerator> {
  const pool = mysqlPools.mysql2(proxy.port)
  used.push(() => pool.end())
  const store = mysqlStore(pool, { assumeDurable })
  await store.setup()
  const numbers = await createSegmentGenerator({
    store,
    name: 'orders',
    step: 10,
    minStep: 10,
    maxStep: 10,
    failoverGap: 1000,
  })
  used.push(() => numbers.close())
  return numbers
}

/** Takes numbers until the store gives no more, or `most`. */
async function take(numbers: SegmentGenerator, most = Number.POSITIVE_INFINITY): Promise<bigint[]> {
  const taken: bigint[] = []
  try {
    while (taken.length < most) taken.push(await numbers.nextAsync())
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_EMPTY' })
  }
  return taken
}

describeWith([mysql.missing], 'segments behind a failover of MariaDB', () => {
  it('repeat no number, and have no gap, if each commit waits for the replica', async () => {
    const pair = await startPair(86_400_000)
    const before = await open(pair, true)
    const given = await take(before, 55)
    expect(given.length).toBe(55)
    pair.link.shut()
    // The primary acknowledges nothing that the replica does not have, so the numbers end.
    given.push(...(await take(before)))
    expect(given.length).toBeLessThan(100)
    await pair.failOver()
    const after = await open(pair, true)
    const next = await after.nextAsync()
    expect(next).toBeGreaterThan(given.at(-1) as bigint)
    expect(next).toBeLessThan(200n)
    // The generator goes on behind the same address.
    given.push(await before.nextAsync())
    expect(new Set([...given, next]).size).toBe(given.length + 1)
  })

  it('repeat numbers if commits go on without the replica and the store is said to be durable', async () => {
    const pair = await startPair(100)
    const before = await open(pair, true)
    await take(before, 15)
    pair.link.shut()
    const given = await take(before, 200)
    expect(given.length).toBe(200)
    // A process that knows more would begin the gap itself.
    before.close()
    await pair.failOver()
    const next = await (await open(pair, true)).nextAsync()
    expect(given).toContain(next)
  })

  it('repeat no number then if nothing is said, because the gap is larger than what was forgotten', async () => {
    const pair = await startPair(100)
    const before = await open(pair, false)
    await take(before, 15)
    pair.link.shut()
    const given = await take(before, 200)
    expect(given.length).toBe(200)
    // A process that knows more would begin the gap itself.
    before.close()
    await pair.failOver()
    const next = await (await open(pair, false)).nextAsync()
    expect(next).toBeGreaterThan(given.at(-1) as bigint)
    expect(next).toBeGreaterThan(1000n)
  })
})
