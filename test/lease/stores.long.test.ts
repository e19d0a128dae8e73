import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeServers } from '../stores/kinds/describe.js'
import type { Opened } from '../stores/kinds/kind.js'
import { sqliteClients } from '../stores/kinds/sqlite.js'
import { freshNamespace } from '../support/engines.js'
import { eventually } from '../support/until.js'
import { proveLeases } from './suite.js'

// Leases on real servers, by each client that the documents name.

describeServers('leases', (_, { clients }, server) => {
  const namespace = freshNamespace()
  describe.each(Object.entries(clients))('by %s', (_name, open) => proveOn(() => open(server().port), namespace))
})

describe('leases on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-leases-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const clients = Object.entries(sqliteClients).filter(([name]) => !name.startsWith('node:'))
  describe.each(clients)('by %s', (name, open) => proveOn(() => open(join(folder, `${name}.db`))))
})

function proveOn(open: () => Promise<Opened>, namespace?: string): void {
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
    await eventually<unknown>(() => (opened.store.setup ?? opened.store.nowMs)?.())
  })
  afterAll(() => opened?.close())
  proveLeases(() => opened.store, namespace)
}
