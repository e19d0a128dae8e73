import { afterAll, beforeAll, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { postgresClients, redisClients } from './clients.ts'
import { expectNothingLost } from './increment.ts'
import { type Server, startPostgres, startRedis } from './servers.ts'

// Several processes that change one record at once; sqlite.long.test.ts has those on one file.

describeWith(['redis'], 'processes that count in Redis lose nothing', () => {
  let server: Server
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())

  it.each(Object.entries(redisClients))('by %s', (client, open) =>
    expectNothingLost(['redis', client, `${server.port}`], () => open(server.port)),
  )
})

describeWith(['postgres'], 'processes that count in PostgreSQL, and make the table at once, lose nothing', () => {
  it.each(Object.entries(postgresClients))('by %s', async (client, open) => {
    const server = await startPostgres()
    try {
      await expectNothingLost(['postgres', client, `${server.port}`], () => open(server.port))
    } finally {
      await server.stop()
    }
  })
})
