import { openStore } from 'graupel/stores/url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mongodbStore } from '../../src/stores/mongodb.js'
import type { Store } from '../../src/stores/store.js'
import { projectWith } from '../cli/fleet.ts'
import { eventually } from '../support/until.ts'
import { host } from './kinds/kind.ts'
import { mongodbClient, mongodbUrl, startMongodb } from './kinds/mongodb.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

// The peculiarities of MongoDB, with its driver on a stand-in, which is not MongoDB.

let server: Server
beforeAll(async () => {
  server = await startMongodb('rs0')
}, 600_000)
afterAll(() => server?.stop())

/** A client with the options that a careless program may have. */
const careless = {
  w: 1,
  journal: false,
  readConcernLevel: 'local',
  readPreference: 'secondaryPreferred',
  retryWrites: false,
}
let client: ReturnType<typeof mongodbClient>
let store: Store
beforeEach(() => {
  client = mongodbClient(server.port, careless)
  store = mongodbStore(client.db())
})
afterEach(() => client?.close())

const failOnce = (command: string, data: object) =>
  client.db('admin').command({
    configureFailPoint: 'failCommand',
    mode: { times: 1 },
    data: { failCommands: [command], ...data },
  })
const fresh = () => `folder/${crypto.randomUUID()}`

describe('the calls of the store', () => {
  it('ask for what they need, whatever the options of the client are', async () => {
    const key = fresh()
    const seen = async () => (await client.db().command({ seen: 1 })).seen
    const before = (await seen()).length
    const version = (await store.write(key, 'x', undefined)) as string
    const next = (await store.write(key, 'y', version)) as string
    await store.read(key)
    await store.list('folder/')
    await store.remove?.(key, next)
    await store.add?.(key, 1n)
    const writeConcern = { w: 'majority', j: true }
    const asked = (await seen()).slice(before)
    const written = asked.filter(({ name }: { name: string }) => name !== 'find' && name !== 'getMore')
    expect(written.map(({ name }: { name: string }) => name)).toEqual(['insert', 'update', 'delete', 'findAndModify'])
    for (const command of written) expect(command.writeConcern).toEqual(writeConcern)
    const reads = asked.filter(({ name }: { name: string }) => name === 'find')
    expect(reads.map((command: { readConcern: object }) => command.readConcern)).toEqual([
      { level: 'linearizable' },
      { level: 'majority' },
    ])
    // The driver leaves out `primary`, and adds `primaryPreferred` to all calls of a direct connection.
    for (const { $readPreference, maxTimeMS } of reads) {
      expect([null, 'primary', 'primaryPreferred']).toContain($readPreference?.mode ?? null)
      expect(maxTimeMS).toBeGreaterThan(0)
    }
  })

  it('take no write for landed that a majority has not confirmed', async () => {
    const writeConcernError = { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out' }
    const [key, other] = [fresh(), fresh()]
    const version = (await store.write(key, 'first', undefined)) as string
    for (const [command, call] of [
      ['insert', () => store.write(other, 'x', undefined)],
      ['update', () => store.write(key, 'second', version)],
      ['findAndModify', () => store.add?.(key, 1n)],
    ] as const) {
      await failOnce(command, { writeConcernError })
      await expect(call(), command).rejects.toThrow('waiting for replication timed out')
    }
    const found = await store.read(key)
    expect(found?.value).toBe('second')
    await failOnce('delete', { writeConcernError })
    await expect(store.remove?.(key, found?.version as string)).rejects.toThrow('waiting for replication timed out')
    // The caller finds its write, and writes again for an answer.
    await failOnce('insert', { writeConcernError })
    const third = fresh()
    const written = await callsOf(store).write(third, 'third', undefined, 10_000)
    expect(written).toEqual({ landed: true, version: (await store.read(third))?.version })
  })

  it('keep what was acknowledged when the server is killed', async () => {
    const key = fresh()
    const version = await store.write(key, 'kept', undefined)
    await server.restart('SIGKILL')
    expect(await eventually(() => store.read(key))).toEqual({ key, value: 'kept', version })
  })

  it('list a folder of several pages', async () => {
    const folder = `${crypto.randomUUID()}/`
    const keys = Array.from({ length: 300 }, (_, i) => `${folder}${i}`)
    await Promise.all(keys.map((key) => store.write(key, 'x', undefined)))
    await store.write(`${folder}below/1`, 'x', undefined)
    expect(new Set((await store.list(folder)).map(({ key }) => key))).toEqual(new Set(keys))
  })

  it('remove the record of the expected version, and no other', async () => {
    const key = fresh()
    const version = (await store.write(key, 'x', undefined)) as string
    expect(await store.remove?.(key, 'other')).toBe(false)
    expect(await store.read(key)).toMatchObject({ version })
    expect(await store.remove?.(key, version)).toBe(true)
    expect(await store.read(key)).toBeUndefined()
    expect(await store.write(key, 'late', version)).toBeUndefined()
  })

  it('add exactly up to 63 bits, and refuse more', async () => {
    const key = fresh()
    expect(await store.add?.(key, 2n ** 53n + 1n)).toBe(2n ** 53n + 1n)
    expect(await store.add?.(key, 2n ** 63n - 2n ** 53n - 2n)).toBe(2n ** 63n - 1n)
    await expect(store.add?.(key, 1n)).rejects.toThrow('Failed to apply $inc')
  })
})

describe('openStore', () => {
  const open = (url: string, options: object = {}) =>
    openStore(url, { clientsOf: `${projectWith('mongodb')}/`, ...options })

  it('opens a database, and another collection by the name of a table', async () => {
    const [one, other] = [await open(mongodbUrl(server.port)), await open(mongodbUrl(server.port), { table: 'other' })]
    expect(one.shown).toBe(`mongodb://${host}:${server.port}/graupel`)
    const key = fresh()
    await one.store.write(key, 'x', undefined)
    expect(await other.store.read(key)).toBeUndefined()
    expect(await other.store.place?.()).toMatch(/, database graupel, collection other$/)
    await one.close()
    await other.close()
  })

  it('refuses a server without a replica set, which has no linearizable reads', async () => {
    const alone = await startMongodb()
    try {
      await expect(open(mongodbUrl(alone.port))).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/run the server as a replica set, of one member if need be/),
      })
    } finally {
      await alone.stop()
    }
  })

  it('says in one line that there is no server, without the password', async () => {
    const opening = open('mongodb://user:hush@127.0.0.1:1/app')
    await expect(opening).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(
        /^mongodb:\/\/\*\*\*@127\.0\.0\.1:1\/app cannot be opened: connect ECONNREFUSED[^\n]*$/,
      ),
    })
    await expect(opening).rejects.not.toThrow('hush')
  })
})
