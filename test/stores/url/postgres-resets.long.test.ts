import { connect, createServer, type Socket, type Server as TcpServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../../src/stores/url/index.js'
import { projectWith } from '../../cli/fleet.ts'
import { describeWith } from '../../support/needs.ts'
import { eventually, until } from '../../support/until.ts'
import { host, load } from '../kinds/kind.ts'
import { startPostgres } from '../kinds/postgres.ts'
import type { Server } from '../servers.ts'

// postgres.js asks a new connection for types, and its default wait between two attempts to connect grows to 20 s.

describeWith(['postgres'], 'a network that resets connections', () => {
  let server: Server
  let proxy: TcpServer
  let isDown = false
  /** Resets the connection that sends this text. */
  let marker: string | undefined
  let attempts = 0
  const pairs = new Set<Socket>()
  const port = () => (proxy.address() as { port: number }).port

  beforeAll(async () => {
    server = await startPostgres()
    proxy = createServer((near) => {
      attempts++
      near.on('error', () => {})
      if (isDown) return void near.resetAndDestroy()
      const far = connect(server.port, host)
      far
        .on('error', () => {})
        .on('data', (data) => near.write(data))
        .on('close', () => near.destroy())
      pairs.add(near)
      near.on('close', () => pairs.delete(near) && far.destroy())
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

  it('is tried twice a second by openStore with postgres.js', async () => {
    const { store, close } = await openStore(`postgres://postgres@${host}:${port()}/postgres`, {
      clientsOf: `${projectWith('postgres')}/`,
    })
    await store.write('folder/2', 'one', undefined)
    isDown = true
    for (const near of pairs) near.resetAndDestroy()
    const before = attempts
    let isOver = false
    const calling = (async () => {
      while (!isOver) await Promise.allSettled([store.read('folder/2'), store.read('folder/1')])
    })()
    // By default the eighth attempt would come after half a minute.
    await until(() => attempts >= before + 8, 12_000)
    isDown = false
    expect((await eventually(() => store.read('folder/2')))?.value).toBe('one')
    isOver = true
    await calling
    await close()
  })
})
