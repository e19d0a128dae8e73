import { it } from 'vitest'
import { expectNothingLost } from './increment.ts'
import { describeServers } from './kinds/describe.ts'

// Several processes change one record at once. If the store has a table, they also make it at once.
// sqlite.long.test.ts has the processes that share a file.

describeServers('processes that count', (kind, { clients }, server) => {
  it.each(Object.entries(clients))('lose no addition, by %s', (client, open) =>
    expectNothingLost([kind, client, `${server().port}`], () => open(server().port)),
  )
})
