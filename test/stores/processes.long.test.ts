import { it } from 'vitest'
import { expectNothingLost } from './increment.ts'
import { describeServers } from './kinds/describe.ts'

// Several processes that change one record at once, and make the table at once where there is one; sqlite.long.test.ts has those
// on one file.

describeServers('processes that count', (kind, { clients }, server) => {
  it.each(Object.entries(clients))('lose nothing, by %s', (client, open) =>
    expectNothingLost([kind, client, `${server().port}`], () => open(server().port)),
  )
})
