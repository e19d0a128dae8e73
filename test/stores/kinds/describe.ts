import { afterAll, beforeAll, describe } from 'vitest'
import { describeWith } from '../../support/needs.ts'
import type { Server } from '../servers.ts'
import { serverKinds } from './index.ts'
import { installClients, type ServerKind } from './kind.ts'

/**
 * A block of tests for each kind of server, with a server of that kind. The kinds are tested side by side,
 * because most of the time is spent waiting; the tests of one kind run one after the other.
 *
 * @param kind - The name of the kind in `serverKinds`.
 */
export function describeServers(
  title: string,
  body: (kind: string, about: ServerKind, server: () => Server) => void,
): void {
  for (const [kind, about] of Object.entries(serverKinds)) {
    const tests = () => {
      let server: Server
      beforeAll(async () => {
        installClients()
        server = await about.start()
      }, 600_000)
      afterAll(() => server?.stop())
      describe.sequential(title, () => body(kind, about, () => server))
    }
    describeWith([about.missing], about.name, tests, { concurrent: true })
  }
}
