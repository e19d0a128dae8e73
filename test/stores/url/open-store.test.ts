import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createSegmentGenerator } from 'graupel/segments'
import { openStore } from 'graupel/stores/url'
import { afterAll, describe, expect, test } from 'vitest'
import { repository } from '../../support/documents.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-url-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newFile = () => join(folder, `${files++}.db`)
const clientsOf = import.meta.url

describe('openStore', () => {
  test('makes the file and the table, and finds what was written', async () => {
    const url = `sqlite:${newFile()}`
    const first = await openStore(url, { clientsOf })
    expect(first.shown).toBe(url)
    const version = await first.store.write('settings/first', 'one', undefined)
    await first.close()
    const second = await openStore(url, { clientsOf, create: false })
    expect(await second.store.read('settings/first')).toEqual({ key: 'settings/first', value: 'one', version })
    await second.close()
    await second.close()
  })

  test('keeps tables of different names apart', async () => {
    const url = `sqlite:${newFile()}`
    const [one, other] = [await openStore(url, { clientsOf }), await openStore(url, { clientsOf, table: 'other' })]
    await one.store.write('a/b', 'one', undefined)
    expect(await other.store.read('a/b')).toBeUndefined()
    await one.close()
    await other.close()
  })

  test.each<(path: string) => string | URL>([
    (path) => path,
    (path) => `${path}/`,
    (path) => pathToFileURL(path),
    (path) => pathToFileURL(path).href,
  ])('looks for clients in the folder of clientsOf, with and without a slash at its end (%#)', async (form) => {
    const project = `${newFile()}-project`
    mkdirSync(join(project, 'node_modules/libsql'), { recursive: true })
    const client = "module.exports = class { constructor() { throw new Error('the client of the project') } }"
    writeFileSync(join(project, 'node_modules/libsql/index.js'), client)
    const opening = openStore(`sqlite:${newFile()}`, { clientsOf: form(project) })
    await expect(opening).rejects.toThrow('the client of the project')
  })

  test('makes nothing if `create` is false', async () => {
    const file = newFile()
    const opening = openStore(`sqlite:${file}`, { clientsOf, create: false })
    await expect(opening).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: `sqlite:${file} cannot be opened: there is no such file`,
      option: 'create',
    })
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, '')
    await expect(openStore(`sqlite:${file}`, { clientsOf, create: false })).rejects.toMatchObject({
      message: expect.stringMatching(/has no table graupel_store: no process has had a node by it$/),
      option: 'create',
    })
  })

  test('reports a store as durable unless `assumeDurable` says otherwise', async () => {
    const { store, close } = await openStore(`sqlite:${newFile()}`, { clientsOf, assumeDurable: false })
    expect(store.durable).toBe(false)
    await close()
  })

  test("opens Leaf's table in MySQL only", async () => {
    const { leafAlloc, close } = await openStore(`sqlite:${newFile()}`, { clientsOf })
    expect(() => leafAlloc()).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('pass a mysql: URL') }),
    )
    await close()
  })

  test('serves segments like a store that is passed in', async () => {
    const { store, close } = await openStore(`sqlite:${newFile()}`, { clientsOf })
    const orders = await createSegmentGenerator({ store, name: 'orders' })
    expect(orders.next()).toBe(1n)
    orders.close()
    await close()
  })

  test.each<[string, unknown, object, { readonly message: RegExp; readonly code: string; readonly name?: string }]>([
    [
      'a URL that is no text',
      5,
      {},
      { name: 'TypeError', code: 'ERR_OPTION_INVALID', message: /^store is 5; pass the text of a URL/ },
    ],
    [
      'a URL object',
      new URL('redis://h'),
      {},
      {
        name: 'TypeError',
        code: 'ERR_OPTION_INVALID',
        message: /^store is a URL object, whose text is its href; pass/,
      },
    ],
    [
      'a text that is no URL',
      'localhost',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store is no URL; give one such as/ },
    ],
    [
      'an unknown scheme',
      'cassandra://h',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store begins with cassandra:; the stores are redis:, / },
    ],
    [
      'an unknown option',
      'sqlite:a',
      { tabel: 'a' },
      { name: 'TypeError', code: 'ERR_OPTION_UNKNOWN', message: /tabel/ },
    ],
    [
      'the name of another kind of store',
      'sqlite:a',
      { prefix: 'a' },
      { code: 'ERR_OPTION_INVALID', message: /^prefix is not for sqlite:; / },
    ],
    [
      'a port that is too large',
      'redis://:s3cret@127.0.0.1:99999',
      {},
      {
        name: 'RangeError',
        code: 'ERR_OPTION_INVALID',
        message: /^store has a port that is not a number up to 65535; /,
      },
    ],
    [
      'the port of the second host',
      'etcd://127.0.0.1:2379,127.0.0.1:65536/path:1',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store has a port / },
    ],
    [
      'a password without a host',
      'postgres://user:s3cret',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store has a port that is not a number/ },
    ],
    [
      'a parameter that is given twice',
      'consul://h?datacenter=a&datacenter=b',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store has the parameter datacenter twice; give it once/ },
    ],
    ['a signal that is none', 'sqlite:a', { signal: 5 }, { code: 'ERR_OPTION_INVALID', message: /signal/ }],
    [
      'a server that is not there',
      'etcd://root:s3cret@127.0.0.1:1',
      {},
      { code: 'ERR_STORE_UNAVAILABLE', message: /^etcd:\/\/\*\*\*@127\.0\.0\.1:1 cannot be opened: / },
    ],
  ])('refuses %s', async (_, url, options, { message, ...rest }) => {
    const error = await openStore(url as string, { clientsOf, ...options }).catch((error) => error)
    expect(error).toMatchObject(rest)
    expect(error.message).toMatch(message)
    expect(error.message).not.toContain('s3cret')
  })

  test.each<[string, string, string]>([
    ['postgres', 'connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1; start the server, or correct'],
    ['p', 'connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1; start the server, or correct'],
    ['s3cret', 's3cret is wrong for user:s3cret@127.0.0.1', '*** is wrong for ***@127.0.0.1'],
    ['s%40cret', 's@cret is wrong', '*** is wrong'],
  ])('hides the password %s in the words of the client alone', async (password, said, reason) => {
    const project = `${newFile()}-project`
    mkdirSync(join(project, 'node_modules/pg'), { recursive: true })
    const client = `exports.Pool = class { on() {} async end() {} async connect() { throw new Error('${said}') } async query() { throw new Error('${said}') } }`
    writeFileSync(join(project, 'node_modules/pg/index.js'), client)
    const opening = openStore(`postgres://user:${password}@127.0.0.1:1/postgres`, { clientsOf: project })
    const { message } = await opening.catch((error) => error)
    expect(message.startsWith(`postgres://***@127.0.0.1:1/postgres cannot be opened: ${reason}`), message).toBe(true)
  })

  test('rejects with the reason of a signal', async () => {
    const opening = openStore('etcd://127.0.0.1:1', { clientsOf, signal: AbortSignal.abort(new Error('enough')) })
    await expect(opening).rejects.toThrow()
  })

  test('closes a client that connects after the opening was given up', async () => {
    const project = `${newFile()}-project`
    mkdirSync(join(project, 'node_modules/pg'), { recursive: true })
    const client = `
      exports.pools = []
      exports.Pool = class {
        constructor() { exports.pools.push(this) }
        on() {}
        query() { return new Promise((resolve) => { this.answer = resolve }) }
        async end() { this.isEnded = true }
      }`
    writeFileSync(join(project, 'node_modules/pg/index.js'), client)
    const controller = new AbortController()
    const opening = openStore('postgres://127.0.0.1:1/x', { clientsOf: project, signal: controller.signal })
    const { pools } = createRequire(join(project, 'package.json'))('pg')
    await until(() => pools[0]?.answer !== undefined)
    controller.abort(new Error('enough'))
    await expect(opening).rejects.toThrow('enough')
    pools[0].answer()
    await until(() => pools[0].isEnded === true)
  })

  test.each(['connect', 'sendCommand'])(
    'ends a client of node-redis for a server that does not answer %s',
    async (silent) => {
      const project = `${newFile()}-project`
      mkdirSync(join(project, 'node_modules/redis'), { recursive: true })
      const client = `
      exports.createClient = () => {
        let fail
        const call = (name) => () => new Promise((resolve, reject) => { name === '${silent}' ? fail = reject : resolve('') })
        const [connect, sendCommand] = [call('connect'), call('sendCommand')]
        return { on() {}, connect, sendCommand, destroy() { exports.isDestroyed = true; fail(new Error('Disconnects client')) } }
      }`
      writeFileSync(join(project, 'node_modules/redis/index.js'), client)
      const opening = openStore('redis://127.0.0.1:1', { clientsOf: project })
      await expect(opening).rejects.toThrow('redis://127.0.0.1:1 cannot be opened: no answer within 3 s; no server')
      expect(createRequire(join(project, 'package.json'))('redis').isDestroyed).toBe(true)
    },
  )

  test('says what to install if no client is installed', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    // The program runs in a copy of the package that finds no client.
    for (const name of ['package.json', 'dist']) cpSync(join(repository, name), join(empty, name), { recursive: true })
    const copy = join(empty, 'dist/stores/url/index.cjs')
    const program = `
      require(${JSON.stringify(copy)}).openStore('mysql://127.0.0.1/x').catch((error) => console.log(error.code, error.message))`
    const said = execFileSync(process.execPath, ['-e', program], { cwd: empty, encoding: 'utf8' })
    expect(said).toMatch(
      /^ERR_STORE_UNAVAILABLE no client for mysql: can be loaded from .*empty; run: npm install mysql2 \(mariadb will do, too\); if it is installed, deploy it, too, or set clientsOf to import\.meta\.url\n$/,
    )
  })

  test('loads no client before it is called, and then the one that it needs', () => {
    const program = `
      import { Module } from 'node:module'
      const loaded = []
      const load = Module._load
      Module._load = function (name, ...rest) { loaded.push(name); return load.call(this, name, ...rest) }
      const { openStore } = await import('graupel/stores/url')
      const before = loaded.length
      const { close } = await openStore(${JSON.stringify(`sqlite:${newFile()}`)}, { clientsOf: ${JSON.stringify(pathToFileURL(join(repository, 'package.json')).href)} })
      await close()
      console.log(JSON.stringify({ before, packages: loaded.filter((name) => /^(libsql|ioredis|pg|mysql2)$/.test(name)) }))`
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: repository,
      encoding: 'utf8',
    })
    expect(JSON.parse(said)).toEqual({ before: 0, packages: ['libsql'] })
  })
})
