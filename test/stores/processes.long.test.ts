import { afterAll, beforeAll, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { expectNothingLost } from './increment.ts'
import { serverKinds } from './kinds/index.ts'
import type { Server } from './servers.ts'

// Several processes that change one record at once, and make the table at once where there is one; sqlite.long.test.ts has those
// on one file.

for (const [kind, { name, missing, start, clients }] of Object.entries(serverKinds)) {
  describeWith([missing], `processes that count in ${name} lose nothing`, () => {
    let server: Server
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server?.stop())

    it.each(Object.entries(clients))('by %s', (client, open) =>
      expectNothingLost([kind, client, `${server.port}`], () => open(server.port)),
    )
  })
}
