import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { createSegmentGenerator } from 'graupel/segments'
import { openStore } from 'graupel/stores/url'
import { afterAll, describe, expect, test } from 'vitest'
import { repository } from '../../support/documents.ts'
import { copyPackage } from '../../support/package-copy.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-url-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newFile = () => join(folder, `${files++}.db`)
/** Makes the folder of a program with a client of its own. */
function projectWith(name: string, client: string): string {
  const project = `${newFile()}-project`
  mkdirSync(join(project, 'node_modules', name), { recursive: true })
  writeFileSync(join(project, 'node_modules', name, 'index.js'), client)
  return project
}
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
    const client = "module.exports = class { constructor() { throw new Error('the client of the project') } }"
    const project = projectWith('libsql', client)
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

  test.each([
    [{}, false],
    [{ assumeDurable: true }, true],
  ])('reports a store as durable if the database is, or if `assumeDurable` says so: %j', async (options, durable) => {
    const answer = "{ rows: [{ own: 'true', found: 'public', usual: 'public' }] }"
    const client = `exports.Pool = class { on() {} async query() { return ${answer} } async end() {} }`
    const project = projectWith('pg', client)
    const { store, close } = await openStore('postgres://127.0.0.1:1/x', { clientsOf: project, ...options })
    expect(store.durable).toBe(durable)
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
    [
      'a password with a slash',
      'redis://:s3cret/1@127.0.0.1:1',
      {},
      {
        code: 'ERR_OPTION_INVALID',
        message: /^store is no URL; write redis:\/\/USER:PASSWORD@HOST:6379, with %40 for an @, %2F for a \//,
      },
    ],
    [
      'a password with a slash, which pg and postgres.js do not read',
      'postgres://u:s3cret/1@127.0.0.1:1/x',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store is no URL; write postgres:\/\/USER:PASSWORD@HOST:5432\/DATABASE/ },
    ],
    [
      'a URL without slashes, of which pg makes the name of a database',
      'postgres:app:s3cret@db1/app',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store is no URL; write postgres:/ },
    ],
    [
      'an incomplete percent encoding, as the server would',
      'mysql://user:100%@127.0.0.1:1/x',
      {},
      { code: 'ERR_STORE_UNAVAILABLE', message: /ECONNREFUSED.*; start the server/ },
    ],
    [
      'a database that may forget without having an incarnation',
      `sqlite:${newFile()}`,
      { assumeDurable: false },
      {
        name: 'RangeError',
        code: 'ERR_OPTION_INVALID',
        message: /^assumeDurable is false; leave it out: stores in SQLite have no incarnation, /,
      },
    ],
    [
      'a file of a token that is given twice',
      'kubernetes://h/orders?token-file=a&token-file=b',
      {},
      {
        code: 'ERR_OPTION_INVALID',
        message: /^store has the parameter token-file twice; write kubernetes:\/\/HOST:PORT\//,
      },
    ],
    [
      'the certificate of a server without TLS',
      'kubernetes+http://h/orders?ca-file=a',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store has a ca-file, and kubernetes\+http: has no TLS; write kube/ },
    ],
    [
      'a fragment',
      'kubernetes://h/orders?token-file=a#s3cret',
      {},
      { code: 'ERR_OPTION_INVALID', message: /^store has a fragment; write %23 for a '#' in the name of a file$/ },
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
    expect(inspect(error)).not.toContain('s3cret')
  })

  test.each<[string, string, string]>([
    ['postgres', 'connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1; start the server, or correct'],
    ['p', 'connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1; start the server, or correct'],
    ['s3cret', 's3cret is wrong for user:s3cret@127.0.0.1', '*** is wrong for ***@127.0.0.1'],
    ['s%40cret', 's@cret is wrong', '*** is wrong'],
  ])('hides the password %s in the words of the client alone', async (password, said, reason) => {
    const client = `exports.Pool = class { on() {} async end() {} async connect() { throw new Error('${said}') } async query() { throw new Error('${said}') } }`
    const project = projectWith('pg', client)
    const opening = openStore(`postgres://user:${password}@127.0.0.1:1/postgres`, { clientsOf: project })
    const { message } = await opening.catch((error) => error)
    expect(message.startsWith(`postgres://***@127.0.0.1:1/postgres cannot be opened: ${reason}`), message).toBe(true)
  })

  test('rejects with the reason of a signal', async () => {
    const reason = new Error('enough')
    const opening = openStore('etcd://127.0.0.1:1', { clientsOf, signal: AbortSignal.abort(reason) })
    expect(await opening.catch((error) => error)).toBe(reason)
    expect(reason.message).toBe('enough')
  })

  test.each([
    ['reads', 1],
    ['makes its table', 2],
  ])('rejects with the reason of a signal that is aborted while it %s', async (_, silent) => {
    const clientsOf = projectWith(
      'pg',
      `
      exports.asked = []
      const query = async (asked) => {
        const text = (asked.text ?? asked).trim()
        if (text === 'SELECT 1') return { rows: [] }
        if (exports.asked.push(text) === ${silent}) return new Promise(() => {})
        throw Object.assign(new Error('no table'), { code: '42P01' })
      }
      exports.Pool = class {
        on() {}
        query(asked) { return query(asked) }
        async end() { exports.isEnded = true }
        async connect() { return { query, on() {}, off() {}, removeListener() {}, release() {} } }
      }`,
    )
    const controller = new AbortController()
    const opening = openStore('postgres://127.0.0.1:1/x', { clientsOf, signal: controller.signal })
    const pg = createRequire(join(clientsOf, 'package.json'))('pg')
    await until(() => pg.asked.length === silent)
    controller.abort()
    expect(await opening.catch((error) => error)).toBe(controller.signal.reason)
    await until(() => pg.isEnded === true)
  })

  test('closes a client if an option of the store is refused', async () => {
    const clientsOf = projectWith(
      'pg',
      'exports.Pool = class { on() {} async query() {} async end() { exports.isEnded = true } }',
    )
    const opening = openStore('postgres://127.0.0.1:1/x', { clientsOf, table: 'a-b' })
    await expect(opening).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'table' })
    expect(createRequire(join(clientsOf, 'package.json'))('pg').isEnded).toBe(true)
  })

  test.each([
    [
      'ioredis',
      `exports.Redis = class {
        on() {}
        async connect() {}
        async call() { throw new Error('Connection is closed.') }
        disconnect() { exports.isEnded = true }
      }`,
    ],
    [
      'redis',
      `exports.createClient = () => ({
        on() {},
        async connect() {},
        async sendCommand() { throw new Error('Connection is closed.') },
        destroy() { exports.isEnded = true },
      })`,
    ],
    [
      'redis',
      `exports.createClient = () => ({ on() {}, async connect() {}, async sendCommand() { return 'cluster_enabled:1' }, destroy() {} })
      exports.createCluster = () => ({
        on() {},
        async connect() { throw new Error('Connection is closed.') },
        destroy() { exports.isEnded = true },
      })`,
    ],
    [
      '@valkey/valkey-glide',
      `exports.Logger = { init() {} }
      exports.GlideClient = { createClient: async () => ({
        async customCommand() { throw new Error('Connection is closed.') },
        close() { exports.isEnded = true },
      }) }`,
    ],
  ])('ends a client of Redis whose connection broke while it was opened: %s', async (name, client) => {
    const clientsOf = projectWith(name, client)
    const opening = openStore('redis://127.0.0.1:1', { clientsOf })
    await expect(opening).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('Connection is closed'),
    })
    expect(createRequire(join(clientsOf, 'package.json'))(name).isEnded).toBe(true)
  })

  test('shows no password of a URL that a client could not parse, in the cause either', async () => {
    const clientsOf = projectWith(
      'pg',
      `exports.Pool = class { constructor({ connectionString }) { new URL(connectionString) } }`,
    )
    const error = await openStore('postgres://u:s3cret@[/x', { clientsOf }).catch((error) => error)
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: { code: 'ERR_INVALID_URL' } })
    expect(inspect(error)).not.toContain('s3cret')
  })

  test('closes a client that connects after the opening was given up', async () => {
    const project = projectWith(
      'pg',
      `
      exports.pools = []
      exports.Pool = class {
        constructor() { exports.pools.push(this) }
        on() {}
        query() { return new Promise((resolve) => { this.answer = resolve }) }
        async end() { this.isEnded = true }
      }`,
    )
    const controller = new AbortController()
    const opening = openStore('postgres://127.0.0.1:1/x', { clientsOf: project, signal: controller.signal })
    const { pools } = createRequire(join(project, 'package.json'))('pg')
    await until(() => pools[0]?.answer !== undefined)
    // As of AbortSignal.timeout(). It says nothing about the server.
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    controller.abort(reason)
    expect(await opening.catch((error) => error)).toBe(reason)
    pools[0].answer()
    await until(() => pools[0].isEnded === true)
  })

  test.each(['connect', 'sendCommand'])(
    'ends a client of node-redis for a server that does not answer %s',
    async (silent) => {
      const project = projectWith(
        'redis',
        `
      exports.createClient = () => {
        let fail
        const call = (name) => () => new Promise((resolve, reject) => { name === '${silent}' ? fail = reject : resolve('') })
        const [connect, sendCommand] = [call('connect'), call('sendCommand')]
        return { on() {}, connect, sendCommand, destroy() { exports.isDestroyed = true; fail(new Error('Disconnects client')) } }
      }`,
      )
      const opening = openStore('redis://127.0.0.1:1', { clientsOf: project })
      await expect(opening).rejects.toThrow('redis://127.0.0.1:1 cannot be opened: no answer within 3 s; no server')
      expect(createRequire(join(project, 'package.json'))('redis').isDestroyed).toBe(true)
    },
  )

  test('says what to install if no client is installed', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    // The program runs in a copy of the package that finds no client.
    copyPackage(empty)
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
