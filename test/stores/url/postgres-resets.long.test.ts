import { connect, createServer, type Socket, type Server as TcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../../src/stores/url/index.js'
import { projectWith } from '../../cli/fleet.ts'
import { describeWith } from '../../support/needs.ts'
import { until } from '../../support/until.ts'
import { host, load } from '../kinds/kind.ts'
import { startPostgres } from '../kinds/postgres.ts'
import { callsOf } from '../real-time.ts'
import type { Server } from '../servers.ts'

// Two defects of postgres.js 3.4.9. It asks a new connection for types, and an error meanwhile is uncaught. A
// connection that is reset while it is about to write sends nothing in its next dozen of attempts (pull
// request 1209 of porsager/postgres).

describeWith(['postgres'], 'a network that resets connections', () => {
  let server: Server
  let proxy: TcpServer
  let isDown = false
  /** Resets the connection that sends this text. */
  let marker: string | undefined
  /** The number of accepted connections that ended before their client had sent a byte. */
  let mute = 0
  const pairs = new Set<Socket>()
  const port = () => (proxy.address() as { port: number }).port

  beforeAll(async () => {
    server = await startPostgres()
    proxy = createServer((near) => {
      near.on('error', () => {})
      if (isDown) return void near.resetAndDestroy()
      const far = connect(server.port, host)
      far
        .on('error', () => {})
        .on('data', (data) => near.write(data))
        .on('close', () => near.destroy())
      pairs.add(near)
      near.on('close', () => {
        pairs.delete(near)
        far.destroy()
        if (near.bytesRead === 0) mute++
      })
      near.on('data', (data) => {
        if (marker === undefined || !data.includes(marker)) return far.write(data)
        marker = undefined
        near.resetAndDestroy()
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, host, resolve))
  })
  afterAll(async () => {
    proxy?.close()
    await server?.stop()
  })

  it('is met by openStore with postgres.js without an uncaught error', async () => {
    marker = 'pg_type'
    const { store, close } = await openStore(`postgres://postgres@${host}:${port()}/postgres`, {
      clientsOf: `${projectWith('postgres')}/`,
    })
    await store.write('folder/1', 'one', undefined)
    await close()
    expect(marker).toBe('pg_type')
    // The default of the client, which would meet the reset.
    marker = undefined
    const sql = load('postgres')({ port: port(), host, user: 'postgres' })
    expect(sql.options.fetch_types).toBe(true)
    await sql.end()
  })

  /** Resets all connections for two seconds, while calls go on. */
  async function breakDown(call: () => Promise<unknown>): Promise<void> {
    isDown = true
    for (const near of pairs) near.resetAndDestroy()
    const endMs = performance.now() + 2000
    while (performance.now() < endMs)
      await Promise.all([1, 2].map(() => Promise.race([call().catch(() => {}), sleep(500)])))
    isDown = false
  }

  it('leaves connections of postgres.js that send nothing when they are accepted again', async () => {
    const options = {
      port: port(),
      host,
      user: 'postgres',
      fetch_types: false,
      max: 2,
      connect_timeout: 1,
      backoff: 0.1,
    }
    const sql = load('postgres')(options)
    const call = () => sql.unsafe('SELECT 1').catch(() => {})
    await Promise.all([call(), call()])
    // A reset may come at a harmless moment.
    await until(async () => {
      await breakDown(call)
      await Promise.race([call(), sleep(1500)])
      return mute > 0
    })
    await sql.end({ timeout: 0 })
  })

  it('ends soon for openStore with postgres.js', async () => {
    const { store, close } = await openStore(`postgres://postgres@${host}:${port()}/postgres`, {
      clientsOf: `${projectWith('postgres')}/`,
    })
    const calls = callsOf(store, 500)
    await calls.write('folder/2', 'one', undefined, 10_000)
    for (let round = 0; round < 3; round++) {
      await breakDown(() => calls.read('folder/2'))
      // A client of its own would need more than half a minute: a dozen of attempts, each with a limit of
      // three seconds. That time does not depend on the load.
      await until(async () => (await calls.read('folder/2').catch(() => undefined))?.value === 'one', 30_000)
    }
    await close()
  })
})
