import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { dynamodbStore } from '../../src/stores/dynamodb.js'
import { mongodbStore } from '../../src/stores/mongodb.js'
import { mysqlStore } from '../../src/stores/mysql.js'
import { postgresStore } from '../../src/stores/postgres.js'
import { redisStore } from '../../src/stores/redis.js'
import { sqliteStore } from '../../src/stores/sqlite.js'
import { zookeeperStore } from '../../src/stores/zookeeper.js'

// Stores and the clients and options that they are given, without a database.

const makers: [string, (client: unknown, options?: object) => unknown, unknown][] = [
  ['redisStore', (client, options) => redisStore(client as never, options), { call() {} }],
  ['mysqlStore', (client, options) => mysqlStore(client as never, options), { getConnection() {}, execute() {} }],
  ['postgresStore', (client, options) => postgresStore(client as never, options), { query() {} }],
  [
    'dynamodbStore',
    (client, options) => dynamodbStore(client as never, options),
    {
      ...{ getItem() {}, putItem() {}, query() {}, updateItem() {}, deleteItem() {} },
      middlewareStack: { clone() {} },
      config: {},
    },
  ],
  [
    'mongodbStore',
    (client, options) => mongodbStore(client as never, options),
    { databaseName: 'app', command() {}, collection() {} },
  ],
  ['sqliteStore', (client, options) => sqliteStore(client as never, options), { exec() {}, prepare() {} }],
  ['zookeeperStore', (client, options) => zookeeperStore(client as never, options), () => ({})],
]

/** Clients that emit `error` if a connection breaks while no call waits for it. */
const emitting: [string, (client: unknown) => unknown, object][] = [
  ['a pool of pg', (client) => postgresStore(client as never), { query() {}, connect() {}, totalCount: 0 }],
  ['a pool of mariadb', (client) => mysqlStore(client as never), { getConnection() {}, execute() {}, batch() {} }],
  ['a client of node-redis', (client) => redisStore(client as never), { sendCommand() {} }],
  ['a cluster of node-redis', (client) => redisStore(client as never), { sendCommand() {}, masters: [] }],
]

describe.each(emitting)('an error of %s', (_, makeStore, methods) => {
  it('does not end the process, by one listener for all stores', () => {
    const client = Object.assign(new EventEmitter(), methods)
    expect(() => client.emit('error', new Error('reset'))).toThrow('reset')
    for (let store = 0; store < 20; store++) makeStore(client)
    expect(client.emit('error', new Error('reset'))).toBe(true)
    expect(client.listenerCount('error')).toBe(1)
    const heard = Object.assign(new EventEmitter(), methods)
    heard.on('error', () => {})
    makeStore(heard)
    expect(heard.listenerCount('error')).toBe(1)
  })
})

describe.each(makers)('%s', (name, make, client) => {
  const prefixed = ['redisStore', 'zookeeperStore'].includes(name)
  const nameOption = name === 'mongodbStore' ? 'collection' : prefixed ? 'prefix' : 'table'
  const isMadeByFunction = name === 'zookeeperStore'

  it.each([
    undefined,
    null,
    7,
    'redis://127.0.0.1',
    {},
    ...(isMadeByFunction ? [] : [class Client {}]),
    { connect() {} },
  ])('refuses %o for a client', (value) => {
    const refused = expect(() => make(value))
    refused.toThrow(TypeError)
    refused.toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  it('does not repeat a URL that is passed as a client, because the URL may have a password', () => {
    expect(() => make('redis://user:hush@host')).toThrow(/ is a text; pass /)
  })

  it.each<[object | null, string]>([
    [{ durabel: true }, 'ERR_OPTION_UNKNOWN'],
    [{ assumeDurable: 'yes' }, 'ERR_OPTION_INVALID'],
    [{ [nameOption]: 7 }, 'ERR_OPTION_INVALID'],
    [{ [nameOption]: '' }, 'ERR_OPTION_INVALID'],
    [{ [nameOption]: 'a"b' }, 'ERR_OPTION_INVALID'],
    [{ [nameOption]: '{a}' }, 'ERR_OPTION_INVALID'],
    [{ [nameOption]: 'x'.repeat(256) }, 'ERR_OPTION_INVALID'],
    ...(name === 'dynamodbStore' ? [] : [[{ [nameOption]: 'x'.repeat(49) }, 'ERR_OPTION_INVALID'] as [object, string]]),
    [null, 'ERR_OPTION_INVALID'],
  ])('refuses %j for options', (options, code) => {
    expect(() => make(client, options as object)).toThrow(expect.objectContaining({ code }))
  })

  it.each([{ assumeDurable: true }, { [nameOption]: 'ids' }])('refuses an object that inherits %j', (given) => {
    const refused = expect(() => make(client, Object.create(given)))
    refused.toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  it('treats options that are undefined as not given', () => {
    expect(() => make(client, { assumeDurable: undefined, [nameOption]: undefined })).not.toThrow()
  })
})

describe('zookeeperStore', () => {
  const refused = (options: object) => expect(() => zookeeperStore(() => ({}) as never, options))

  it('refuses assumeDurable: false, because ZooKeeper has no name for the life of a server', () => {
    refused({ assumeDurable: false }).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'ERR_OPTION_INVALID' }),
    )
    expect(zookeeperStore(() => ({}) as never, { assumeDurable: true }).durable).toBe(true)
  })

  it('refuses a client that already connects, because a second connection would end the process', async () => {
    const client = { transaction() {}, connectionManager: { onSocketClosed() {}, state: 1 } }
    let made = 0
    const store = zookeeperStore(() => {
      made++
      return client as never
    })
    for (const call of [() => store.read('a/1'), () => store.write('a/1', 'x', undefined)]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('and not connect()'),
      })
    }
    // Each client would stay connected.
    expect(made).toBe(1)
  })

  it('makes no connection that its client has paused before, and that close() has ended', async () => {
    const paused: (() => void)[] = []
    const connected: object[] = []
    const connectionManager = {
      servers: [{ host: '127.0.0.1', port: 2181 }],
      state: 0,
      connectTimeoutHandler: null,
      pendingBuffer: null,
      // As the client does after it has tried each server.
      findNextServer: (connect: (server: object) => void) => paused.push(() => connect({ port: 2181 })),
      onSocketClosed() {},
      onSocketData() {},
      onSocketError() {},
    }
    const connect = () => connectionManager.findNextServer((server) => connected.push(server))
    const client = Object.assign(new EventEmitter(), {
      ...{ connectionManager, connect, transaction() {}, close() {}, getSessionTimeout: () => 30_000 },
    })
    const store = zookeeperStore(() => client as never)
    const read = expect(store.read('a/1')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(paused).toHaveLength(1)
    await store.close()
    await read
    paused[0]?.()
    expect(connected).toEqual([])
  })

  it.each([[[]], ['world'], [[{}]], [null]])('refuses %j as an ACL', (acl) => {
    refused({ acl }).toThrow(expect.objectContaining({ name: 'TypeError', code: 'ERR_OPTION_INVALID' }))
  })
})

describe('postgresStore', () => {
  type Done = (error: undefined, given: object) => void

  it('sends nothing if the call was aborted while it waited for a connection of pg', async () => {
    const asked: string[] = []
    const releases: boolean[] = []
    const connection = {
      ...{ on() {}, removeListener() {} },
      async query(text: string) {
        asked.push(text)
        return { rows: [{ own: 'true', found: 'public', usual: 'public' }] }
      },
      release: (isClosed: boolean) => releases.push(isClosed),
    }
    const waiting: Done[] = []
    const pool = { query() {}, totalCount: 1, connect: (done: Done) => waiting.push(done) }
    const store = postgresStore(pool as never)
    const waits = async () => {
      while (waiting.length === 0) await turn()
    }
    const connect = () => waiting.shift()?.(undefined, connection)
    const giveUp = async () => {
      const aborting = new AbortController()
      const writing = store.write('a/1', 'x', undefined, aborting.signal)
      await waits()
      aborting.abort(new Error('enough'))
      connect()
      await expect(writing).rejects.toThrow('enough')
    }
    // The first call looks for the table.
    await giveUp()
    expect([asked, releases]).toEqual([[], [false]])
    const reading = store.read('a/1')
    for (let i = 0; i < 2; i++) {
      await waits()
      connect()
    }
    expect(await reading).toBeUndefined()
    expect(asked).toHaveLength(2)
    await giveUp()
    expect(asked).toHaveLength(2)
    expect(releases).toEqual([false, false, false, false])
  })
})

describe('redisStore', () => {
  /** Answers as a script does: with the last of its words around the answer. */
  const answering = (body: string) =>
    redisStore({ call: async (...words) => `${words.at(-1)}(${body})${words.at(-1)}` })

  it.each(['run_id', 'master_replid', 'maxmemory', 'maxmemory_policy'])(
    'refuses a server whose INFO lacks %s, because its life would never change',
    async (field) => {
      const lines = ['run_id:1', 'master_replid:2', 'maxmemory:0', 'maxmemory_policy:noeviction']
      const info = lines.filter((line) => !line.startsWith(`${field}:`)).join('\r\n')
      const store = answering(info)
      // The policy does not matter if memory is not limited.
      if (field === 'maxmemory_policy') return expect(await store.incarnation?.()).toBe('1 2')
      await expect(store.incarnation?.()).rejects.toThrow(`INFO of the server has no ${field}`)
    },
  )

  it('reads an answer that is bytes', async () => {
    const version = crypto.randomUUID()
    const records = JSON.stringify(['1', `${version}é`, '2', `${version}y`])
    const store = redisStore({
      customCommand: async (words) => new TextEncoder().encode(`${words.at(-1)}(${records})${words.at(-1)}`),
    })
    expect(await store.list('folder/')).toEqual([
      { key: 'folder/1', value: 'é', version },
      { key: 'folder/2', value: 'y', version },
    ])
  })

  it('puts every key of a prefix into the slot of the prefix', async () => {
    const hashes: string[] = []
    const call = async (_command: string, _script: string, _count: string, hash: string, ...words: string[]) => {
      hashes.push(hash)
      return `${words.at(-1)}(1)${words.at(-1)}`
    }
    const store = redisStore({ call: call as never }, { prefix: 'mine' })
    await store.read('a/b/1')
    await store.write('a/1', 'x', undefined)
    await store.add?.('a/1', 1n)
    expect(hashes).toEqual(['{mine}:a/b/', '{mine}:a/', '{mine}.sums:a/'])
  })
})

it('node-zookeeper-client has the version whose private methods src/stores/zookeeper-client.ts replaces', () => {
  // With another version, read its lib/ConnectionManager.js, and run zookeeper-traps.long.test.ts.
  const { dependencies } = JSON.parse(readFileSync(new URL('clients/package.json', import.meta.url), 'utf8'))
  expect(dependencies['node-zookeeper-client']).toBe('1.1.3')
})
