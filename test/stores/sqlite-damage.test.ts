import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { acquireLease } from '../../src/lease/index.js'
import { createCounter, createSegmentGenerator } from '../../src/segments/index.js'
import { type SqliteDatabase, sqliteStore } from '../../src/stores/sqlite.js'
import type { StoreEntry } from '../../src/stores/store.js'
import { repository } from '../support/documents.ts'

// The client of the service.
const Database: new (file: string) => SqliteDatabase & { close(): void } = createRequire(
  join(repository, 'server/package.json'),
)('libsql')

const folder = mkdtempSync(join(tmpdir(), 'graupel-damage-'))
afterAll(() => rmSync(folder, { recursive: true }))

let file: string
let database: SqliteDatabase & { close(): void }
const open = async () => {
  database = new Database(file)
  database.exec('PRAGMA synchronous = FULL')
  const store = sqliteStore(database)
  await store.setup()
  return store
}
beforeEach(() => {
  file = join(folder, `${randomUUID()}.db`)
})
afterEach(() => database.close())

/** Replaces bytes of the closed file. */
function spoil(before: string, after: Buffer): void {
  const bytes = readFileSync(file)
  const at = bytes.indexOf(before)
  expect(at).toBeGreaterThan(0)
  after.copy(bytes, at)
  writeFileSync(file, bytes)
}

it('a flipped digit of a counter is an error, and no number is given again', async () => {
  const counter = await createCounter({ store: await open(), name: 'bills' })
  await counter.take(105)
  counter.close()
  database.close()
  spoil('"count":105', Buffer.from('"count":101'))
  const store = await open()
  await expect(createCounter({ store, name: 'bills' })).rejects.toMatchObject({
    code: 'ERR_STATE_CORRUPT',
    message: expect.stringContaining('the record numbers/bills is damaged: its checksum does not fit its content; '),
  })
  expect(await store.damage()).toEqual(['the record numbers/bills is damaged: its checksum does not fit its content'])
})

it('bytes that are no text are an error, and the process lives', async () => {
  const counter = await createCounter({ store: await open(), name: 'bills' })
  await counter.next()
  database.close()
  spoil('"writers"', Buffer.from([0x22, 0xff]))
  const store = await open()
  await expect(createCounter({ store, name: 'bills' })).rejects.toMatchObject({
    code: 'ERR_STATE_CORRUPT',
    message: expect.stringContaining('it has bytes that are no UTF-8'),
  })
  expect(await store.damage()).toHaveLength(1)
})

it('damaged segments and leases are errors as well', async () => {
  const healthy = await open()
  const segments = await createSegmentGenerator({ store: healthy, name: 'orders' })
  await segments.nextAsync()
  segments.close()
  const lease = await acquireLease({ store: healthy, node: 7 })
  await lease.release()
  database.exec(`UPDATE graupel_store SET value = replace(value, '"next":"', '"next":"1') WHERE key LIKE 'numbers/%'`)
  database.exec(`UPDATE graupel_store SET value = replace(value, '"floor":', '"floor":1') WHERE key LIKE '%/7'`)
  await expect(createSegmentGenerator({ store: healthy, name: 'orders' })).rejects.toMatchObject({
    code: 'ERR_STATE_CORRUPT',
  })
  await expect(acquireLease({ store: healthy, node: 7 })).rejects.toMatchObject({ code: 'ERR_STATE_CORRUPT' })
})

it('a record of a former release is read, and gets a checksum with its next write', async () => {
  const store = await open()
  database.exec(`INSERT INTO graupel_store VALUES ('folder/1', 'old', '${randomUUID()}')`)
  const old = (await store.read('folder/1')) as StoreEntry
  expect(old).toEqual({ key: 'folder/1', value: 'old', version: expect.any(String) })
  const version = await store.write('folder/1', 'new', old.version)
  expect(await store.list('folder/')).toEqual([{ key: 'folder/1', value: 'new', version }])
  database.exec(`UPDATE graupel_store SET value = 'neu'`)
  expect(await store.read('folder/1')).toMatchObject({ value: 'neu', damage: expect.stringContaining('checksum') })
  // The release that does not know checksums writes a version of its own.
  database.exec(`UPDATE graupel_store SET version = '${randomUUID()}'`)
  expect(await store.read('folder/1')).not.toHaveProperty('damage')
})

it('every flipped bit of a record is noticed', async () => {
  const store = await open()
  await store.write('numbers/one', 'a value', undefined)
  database.close()
  const [start, length] = [readFileSync(file).indexOf('numbers/one'), 'numbers/one'.length + 'a value'.length + 36]
  const whole = readFileSync(file)
  for (let bit = 0; bit < 8 * length; bit++) {
    const bytes = Buffer.from(whole)
    bytes[start + (bit >> 3)] = (bytes[start + (bit >> 3)] as number) ^ (1 << (bit & 7))
    writeFileSync(file, bytes)
    const spoilt = await open()
    expect([bit, await spoilt.damage()]).not.toEqual([bit, []])
    database.close()
  }
  database = new Database(':memory:')
})

it('a database in UTF-16 is read', async () => {
  database = new Database(file)
  database.exec(`PRAGMA encoding = 'UTF-16le'; PRAGMA synchronous = FULL`)
  const store = sqliteStore(database)
  await store.setup()
  const version = await store.write('folder/1', 'größe 🦊', undefined)
  expect(await store.read('folder/1')).toEqual({ key: 'folder/1', value: 'größe 🦊', version })
  expect(await store.damage()).toEqual([])
})
