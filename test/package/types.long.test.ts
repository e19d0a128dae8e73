import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { repository } from '../support/documents.ts'
import { install, node, temporaryFolder, tool } from './consumer.ts'
import { bareTarball } from './tarball.ts'

const folder = temporaryFolder()
const project = join(folder, 'project')
beforeAll(() => {
  install(project, bareTarball(), ['--ignore-scripts'])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the types', () => {
  const consumer = `import { createGenerator, decode, defineLayout, engineInfo, GraupelError, layouts, type IdGenerator, type Layout } from 'graupel'
    import { defineKind, type Kind } from 'graupel/kind'
    import { type TestGenerator, testGenerator } from 'graupel/testing'
    const ids: IdGenerator<layouts.Twitter> = createGenerator({ node: { datacenter: 1, worker: 7 }, onRollback: ({ rollbackMs }) => (rollbackMs > 5 ? 'throw' : 'wait') })
    const worker: number = ids.decode(ids.next()).fields.worker
    const few: number = createGenerator({ node: 1, layout: layouts.js53 }).nextNumber()
    const mine: Layout = defineLayout({ name: 'mine', epochMs: 0, tickMs: 1, fields: [['timestamp', 42], ['node', 10], ['sequence', 10]] })
    for (const id of ids.take(3)) console.log(decode(id, layouts.twitter).fields.datacenter, worker, few, mine.name)
    console.log(engineInfo().kind, new GraupelError('ERR_CLOSED', '').code, ids.fill(new BigInt64Array(2)).length)
    try { ids.next() } catch (error) { if (error instanceof GraupelError) console.log(error.code) }
    const [order, user] = [defineKind({ prefix: 'ord', layout: ids.layout }), defineKind({ prefix: 'usr', layout: ids.layout })]
    const orderIds = order.ids(ids)
    const orderId: Kind.Id<typeof order> = orderIds.next()
    console.log(order.text(orderId), decode(orderId, layouts.twitter).node, orderIds.take(2).map(order.text))
    // @ts-expect-error the id of an order
    console.log(user.text(orderId))
    const fakes: TestGenerator = testGenerator()
    testGenerator({ layout: layouts.js53, node: 3, clock: () => Date.now() }).nextNumber()
    const replaced: typeof ids = testGenerator({ node: { datacenter: 1, worker: 7 } })
    replaced.close()
    fakes.reset()
    // @ts-expect-error its clock is a function
    testGenerator({ clock: 'wall' })
    // @ts-expect-error a twitter id has no such field
    console.log(decode(1n, layouts.twitter).fields.shard)
    // @ts-expect-error it has more than 53 bits
    ids.nextNumber()
    ids.close()`

  const storesConsumer = `import { GraupelError } from 'graupel'
    import { memoryStore, type Store, type StoreEntry, type StoreOptions } from 'graupel/stores'
    import { memoryStore as same } from 'graupel/stores/memory'
    import { consulStore } from 'graupel/stores/consul'
    import { type DynamodbStore, dynamodbStore } from 'graupel/stores/dynamodb'
    import { etcdStore, type Fetch } from 'graupel/stores/etcd'
    import { mongodbStore } from 'graupel/stores/mongodb'
    import { serviceStore } from 'graupel/stores/service'
    import { mysqlStore } from 'graupel/stores/mysql'
    import { kubernetesStore } from 'graupel/stores/kubernetes'
    import { objectStore } from 'graupel/stores/object'
    import { postgresStore } from 'graupel/stores/postgres'
    import { redisStore } from 'graupel/stores/redis'
    import { sqliteStore } from 'graupel/stores/sqlite'
    import { storeContract } from 'graupel/stores/testing'
    import { zookeeperStore } from 'graupel/stores/zookeeper'
    import type {} from 'graupel/lease'
    const options: StoreOptions = { assumeDurable: true }
    const fetchOfMine: Fetch = async (url, { method }) => ({ status: 200, headers: { get: () => method }, text: async () => url })
    const stores: Store[] = [
      consulStore({ url: 'http://127.0.0.1:8500', token: 'mine', fetch: fetchOfMine }),
      serviceStore({ url: 'http://127.0.0.1:4728', token: 'mine', durable: false, fetch: fetchOfMine }),
      etcdStore({ url: ['http://127.0.0.1:2379'], user: 'me', password: 'mine', ...options }),
      memoryStore(),
      same(),
      mysqlStore({ getConnection: async () => ({ query: async () => [], release() {}, destroy() {} }), execute() {} }, { table: 'mine' }),
      kubernetesStore({ url: 'http://127.0.0.1:8001', namespace: 'default', headers: async () => ({}) }),
      objectStore({ client: { sign: async (url) => ({ url }) }, url: 'http://127.0.0.1:9000/ids' }),
      postgresStore({ query: async (text: string) => ({ rows: [text] }) }, { ...options, table: 'mine' }),
      redisStore({ call: async (command: string, ...words: string[]) => [command, words] }, { prefix: 'mine' }),
      sqliteStore({ exec() {}, prepare: () => ({ all: () => [] }) }),
      zookeeperStore(() => ({ connect() {}, close() {}, getSessionTimeout: () => 1, transaction: () => ({}) }), { prefix: 'mine' }),
    ]
    const tables = { getItem: async () => ({}), putItem: async () => ({}), query: async () => ({}), updateItem: async () => ({}), deleteItem: async () => ({}) }
    const control = { describeTable: async () => ({}), createTable: async () => ({}), config: {}, middlewareStack: { clone: () => ({}) } }
    export const dynamodb: DynamodbStore = dynamodbStore({ ...tables, ...control }, { table: 'mine' })
    // @ts-expect-error that is no database
    mongodbStore({ db() {} })
    export const entries: Promise<StoreEntry[]>[] = stores.map((store) => store.list('a/', new AbortController().signal))
    export const cases: string[] = storeContract(async () => memoryStore()).map(({ name }) => name)
    // @ts-expect-error it has no such option
    redisStore({ call: async () => 1 }, { table: 'mine' })
    // @ts-expect-error that is no client
    postgresStore({ connect() {} })
    // @ts-expect-error a store has write()
    export const half: Store = { name: 'half', durable: true, read: async () => undefined, list: async () => [] }
    export { GraupelError }`

  const entries = Object.keys(manifest.exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.replace('.', 'graupel'))
  /** Loads the declarations of every entry, which the compiler then checks. */
  const allEntries = entries.map((name) => `import type {} from '${name}'`).join('\n')

  /** A module format, a resolution, a file to which they apply, and the compilers that support them. */
  const cases = [
    ['nodenext', 'nodenext', 'consumer.mts', ['typescript-oldest', 'typescript', 'ours']],
    ['nodenext', 'nodenext', 'consumer.cts', ['typescript-oldest', 'typescript', 'ours']],
    ['node16', 'node16', 'consumer.cts', ['typescript-oldest']],
    ['commonjs', 'node10', 'consumer.ts', ['typescript-oldest', 'typescript']],
    ['esnext', 'bundler', 'consumer.ts', ['typescript-oldest', 'typescript', 'ours']],
  ] as const

  test.each(
    cases.flatMap(([module, resolution, file, compilers]) =>
      compilers.map((compiler) => [module, resolution, file, compiler] as const),
    ),
  )('are right for module %s, resolution %s, in %s, by %s', (module, resolution, file, compiler) => {
    const isOurs = compiler === 'ours'
    const program = isOurs ? join(repository, 'node_modules/typescript/bin/tsc') : tool(`${compiler}/bin/tsc`)
    // Without Node's types there is no console either. The package's types must not need Node's types.
    // Stores take an AbortSignal, which is Node's or a browser's.
    for (const types of isOurs ? ['node', 'dom', ''] : ['dom', '']) {
      const console = types === '' ? 'declare const console: { log(...values: unknown[]): void }\n' : ''
      writeFileSync(join(project, file), console + consumer)
      const storesFile = file.replace('consumer', 'stores')
      writeFileSync(join(project, storesFile), storesConsumer)
      const entriesFile = file.replace('consumer', 'entries')
      writeFileSync(join(project, entriesFile), allEntries)
      const options = {
        noEmit: true,
        strict: true,
        skipLibCheck: false,
        skipDefaultLibCheck: true,
        lib: types === 'dom' ? ['es2022', 'dom'] : ['es2022'],
        target: 'es2022',
        types: types === 'node' ? [types] : [],
        typeRoots: [join(repository, 'node_modules/@types')],
        module,
        moduleResolution: resolution,
      }
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: types === '' ? [file] : [file, storesFile, entriesFile] }),
      )
      expect(node(project, [program, '-p', '.'])).toMatchObject({ stdout: '', status: 0 })
    }
  })

  test('are compiled with the releases of TypeScript that docs/platforms.md names', () => {
    const page = readFileSync(join(repository, 'docs/platforms.md'), 'utf8')
    const release = (manifest: string) => JSON.parse(readFileSync(manifest, 'utf8')).version.replace(/(\.0)?\.\d+$/, '')
    const [oldest, ...others] = [
      release(tool('typescript-oldest/package.json')),
      release(tool('typescript/package.json')),
      release(join(repository, 'node_modules/typescript/package.json')),
    ]
    expect(page).toContain(`The declarations need TypeScript ${oldest} or later`)
    expect(page).toContain(`The tests compile a program with ${oldest}, ${others.join(' and ')}.`)
  })
})
