import { it } from 'vitest'
import { describeServers } from '../stores/kinds/describe.ts'
import type { Open } from '../stores/kinds/kind.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import { eventually, until } from '../support/until.ts'
import { goOn, proveMembers } from './members.ts'

// Segments on each kind of server. chaos.long.test.ts has faults of all kinds, on fewer servers.

describeServers('processes that make numbers of one name', (kind, { clients, isFetched, isElsewhere }, server) => {
  it.skipIf(isElsewhere)(
    'make each number once and in order while a process is killed, a process is stopped and a process loses replies',
    async () => {
      const [client, open] = Object.entries(clients)[0] as [string, Open]
      const { store, close } = await open(server().port)
      await eventually<unknown>(() => (store.setup ?? store.nowMs)?.())
      await close()
      await proveMembers(
        kind,
        (_, port) => ({ client: isFetched ? kind : client, port }) as StorePlan,
        () => server().port,
        async (killed, stopped, losing) => {
          stopped.slot.stop()
          losing.proxy.weather = 'loses replies'
          await killed.slot.kill()
          killed.slot.start()
          await goOn([killed], 100)
          await until(() => losing.proxy.lost >= 5)
          losing.proxy.weather = 'fair'
          stopped.slot.go()
        },
      )
    },
  )
})
