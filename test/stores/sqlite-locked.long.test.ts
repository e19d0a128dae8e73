import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type SqliteDatabase, sqliteStore } from '../../src/stores/sqlite.js'
import type { StoreEntry } from '../../src/stores/store.js'
import { load } from './kinds/kind.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(['libsql', 'better-sqlite3'])('SQLite by %s', (client) => {
  it.each(['DELETE', 'WAL'])(
    'commits what it acknowledges after it has met a lock, in the journal mode %s',
    async (mode) => {
      const Database: new (file: string, options: object) => SqliteDatabase & { close(): void } = load(
        client,
        client === 'libsql' ? 'clients' : client,
      )
      const open = () => new Database(join(folder, `${client}-${mode}.db`), { timeout: 1 })
      const [own, other, third] = [open(), open(), open()]
      own.exec(`PRAGMA journal_mode = ${mode}`)
      for (const database of [own, other, third]) database.exec('PRAGMA synchronous = FULL')
      const store = sqliteStore(own)
      await store.setup()
      await store.write('folder/1', 'first', undefined)
      for (const lock of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE', 'BEGIN; SELECT 1 FROM sqlite_master LIMIT 1']) {
        other.exec(lock)
        const calls = [
          () => store.read('folder/1'),
          () => store.list('folder/'),
          () => store.write('folder/2', lock, undefined),
          () => store.write('folder/1', lock, 'another version'),
        ]
        const ends = []
        for (const call of calls) ends.push(await call().catch((error: Error) => error))
        if (lock.startsWith('BEGIN ')) expect(`${ends}`).toContain('locked')
        other.exec('COMMIT')
      }
      const { version } = (await store.read('folder/1')) as StoreEntry
      const second = await store.write('folder/1', 'second', version)
      expect(await sqliteStore(third).read('folder/1')).toMatchObject({ value: 'second', version: second })
      await sqliteStore(third).write('folder/1', 'third', second)
      expect(await store.read('folder/1')).toMatchObject({ value: 'third' })
      expect(await store.add?.('folder/sum', 1n)).toBe(1n)
      expect(await sqliteStore(third).add?.('folder/sum', 1n)).toBe(2n)
      for (const database of [own, other, third]) database.close()
    },
  )
})
