import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SqliteDatabase, sqliteStore } from '../../src/stores/sqlite.js'
import type { Store } from '../../src/stores/store.js'
import { type OpenedStore, openStore } from '../../src/stores/url/index.js'
import { repository } from '../support/documents.ts'

// Both connections are in this thread. So the lock is given back only if the call does not block the thread
// while it waits.

const server = join(repository, 'server/package.json')
// The client of the service.
const Database: new (file: string) => SqliteDatabase & { close(): void } = createRequire(server)('libsql')

const folder = mkdtempSync(join(tmpdir(), 'graupel-locks-'))
const file = join(folder, 'fleet.db')
let other: InstanceType<typeof Database>
let own: InstanceType<typeof Database>
let opened: OpenedStore
beforeAll(async () => {
  opened = await openStore(`sqlite:${file}`, { clientsOf: server })
  await opened.store.write('folder/1', 'first', undefined)
  ;[other, own] = [new Database(file), new Database(file)]
  own.exec('PRAGMA synchronous = FULL')
})
afterAll(async () => {
  await opened.close()
  for (const database of [other, own]) database.close()
  rmSync(folder, { recursive: true })
})

const locks = ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE', 'BEGIN; SELECT 1 FROM sqlite_master LIMIT 1'] as const

describe.each<[string, () => Store]>([
  ['openStore', () => opened.store],
  ['sqliteStore', () => sqliteStore(own)],
])('a store of %s', (_, storeOf) => {
  it.each(locks)('waits for the end of another transaction without blocking the thread: %s', async (lock) => {
    const store = storeOf()
    const calls: (() => Promise<unknown> | undefined)[] = [
      () => store.read('folder/1'),
      () => store.list('folder/'),
      () => store.write(`folder/${lock}`, 'x', undefined),
      () => store.add?.('folder/sum', 1n),
      () => store.nowMs?.(),
      () => store.place?.(),
    ]
    for (const call of calls) {
      other.exec(lock)
      const done = call()
      const released = setTimeout(30).then(() => other.exec('COMMIT'))
      await Promise.all([done, released])
    }
    expect(await store.list('folder/')).toContainEqual(expect.objectContaining({ value: 'first' }))
  })

  it('gives a call up when its signal is aborted, and says that the database is locked if nothing aborts it', async () => {
    const store = storeOf()
    other.exec('BEGIN EXCLUSIVE')
    const given = new AbortController()
    const call = store.read('folder/1', given.signal)
    void setTimeout(30).then(() => given.abort(new Error('given up')))
    await expect(call).rejects.toThrow('given up')
    await expect(store.read('folder/1')).rejects.toThrow('database is locked')
    other.exec('COMMIT')
    await store.read('folder/1')
  })
})
