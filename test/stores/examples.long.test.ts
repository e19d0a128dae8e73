import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { decode, isId, layouts, parseId } from 'graupel'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { blocksOf, needsServer, repository } from '../support/documents.ts'
import { docstringExamples, examplesWithDatabase, program } from '../support/examples.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { startConsul } from './kinds/consul.ts'
import { startDynamodb } from './kinds/dynamodb.ts'
import { startEtcd } from './kinds/etcd.ts'
import { load } from './kinds/kind.ts'
import { startApi } from './kinds/kubernetes.ts'
import { mongodbUrl, startMongodb } from './kinds/mongodb.ts'
import { database, mysqlPools, startMysql } from './kinds/mysql.ts'
import { startBuckets } from './kinds/object.ts'
import { startPostgres } from './kinds/postgres.ts'
import { startRedis } from './kinds/redis.ts'
import { startService } from './kinds/service.ts'
import { startZooKeeper, zookeeperKind } from './kinds/zookeeper.ts'
import { type Admin, makeLeafTable } from './mysql-admin.ts'
import type { Server } from './servers.ts'

// The programs of examples/ and the examples in the docstrings of stores, on real servers.

vi.setConfig({ maxConcurrency: 20 })

let folder: string
beforeAll(() => {
  // The folder is inside the package and beside the clients, so the programs can import the package by its
  // name.
  folder = mkdtempSync(join(repository, 'dist', 'examples-'))
  mkdirSync(join(folder, 'node_modules'))
  for (const [name, place] of [
    ['ioredis', 'clients'],
    ['mysql2', 'clients'],
    ['pg', 'clients'],
    ['libsql', 'clients'],
    ['node-zookeeper-client', 'clients'],
    ['@aws-sdk/client-s3', 'clients'],
    ['better-sqlite3', 'better-sqlite3'],
    ['@aws-sdk/client-dynamodb', 'clients'],
    ['mongodb', 'clients'],
  ] as const) {
    load(name, place)
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(repository, 'test/stores', place, 'node_modules', name), link)
  }
  for (const name of programs) copyFileSync(join(repository, 'examples', name), join(folder, name))
  // The programs of docs/leases.md import it.
  writeFileSync(join(folder, 'store.js'), blocksOf('docs/leases.md')[0]?.code as string)
  // better-sqlite3 may have to be compiled.
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const programs = readdirSync(join(repository, 'examples')).filter((name) => name.endsWith('.mjs'))

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** The output of a program on a leased node, and how the program ended. */
interface Running {
  readonly child: ChildProcess
  readonly ids: string[]
  told(): string
  readonly ended: Promise<unknown[]>
}

function launch(name: string, variables: Record<string, string>): Running {
  const child = spawn(process.execPath, [name], { cwd: folder, env: { ...process.env, ...variables } })
  started.push(child)
  let told = ''
  child.stderr.on('data', (data) => (told += data))
  const ids: string[] = []
  createInterface(child.stdout).on('line', (line) => ids.push(line))
  return { child, ids, told: () => told, ended: once(child, 'close') }
}

/** Waits until a program has made this many ids. A program that has ended is an error. */
async function hasMade({ child, ids, told }: Running, count: number): Promise<void> {
  await until(() => ids.length >= count || child.exitCode !== null || child.signalCode !== null)
  if (ids.length < count) throw new Error(`the program has ended after ${ids.length} ids: ${told()}`)
}

/** Runs a program until it has made some ids, and ends it by SIGTERM. */
async function runUntilTerminated(name: string, variables: Record<string, string>) {
  const program = launch(name, variables)
  await hasMade(program, 4)
  program.child.kill('SIGTERM')
  const [code] = await program.ended
  return { code, told: program.told(), ids: program.ids.map((id) => parseId(id, 'decimal')) }
}

/** Makes a program of a document print ids as the programs of examples/ do, and end on SIGTERM. */
const printing = `
import { createGenerator as __create } from 'graupel'
import { acquireLease as __acquire } from 'graupel/lease'
const __lease = typeof lease === 'undefined' ? await __acquire({ store }) : lease
const __ids = typeof ids === 'undefined' ? __create({ lease: __lease }) : ids
const __timer = setInterval(() => {
  try {
    console.log(__ids.nextString())
  } catch (error) {
    console.error(error.code)
  }
}, 100)
__lease.signal.addEventListener('abort', () => clearInterval(__timer))
if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => __lease.release().then(() => process.exit()))
`

/** Writes the program of a document, so that it prints ids, and returns its file. */
function printingProgram({ code }: { readonly code: string }): string {
  const name = `${crypto.randomUUID()}.mjs`
  const here = code
    .replace("'zk1:2181,zk2:2181,zk3:2181'", 'process.env.ZOOKEEPER')
    .replace("'http://127.0.0.1:2379'", 'process.env.ETCD_URL')
    .replace("'http://127.0.0.1:8500'", 'process.env.CONSUL_HTTP_ADDR')
    // The programs of a test end within seconds.
    .replace('windowMs: 60_000', 'windowMs: 6000')
    .replace("'http://10.0.0.5:4728', token: process.env.GRAUPEL_TOKEN, durable: false", 'process.env.GRAUPEL_URL')
    // Some programs end at once.
    .replace(/^await (lease\.release|store\.close)\(\).*$/gm, '')
  writeFileSync(join(folder, name), `${here}\n${printing}`)
  return name
}

/**
 * Proves that programs go on when their server is back, and that they end in order on SIGTERM while it is
 * away or hangs.
 *
 * @param stop - The signal by which operators end the server.
 */
function outlivesServer(names: () => readonly string[], stop: NodeJS.Signals, start: Start): void {
  const startAll = async () => {
    const { server, variables } = await start()
    if (server === undefined) throw new Error('the programs have no server')
    const programs = names().map((name) => launch(name, variables))
    await Promise.all(programs.map((program) => hasMade(program, 3)))
    return { server, programs }
  }
  const endAll = async (programs: readonly Running[]) => {
    for (const { child } of programs) child.kill('SIGTERM')
    for (const { ended, ids, told } of programs) {
      expect(await ended, told()).toEqual([0, null])
      expect(new Set(ids).size).toBe(ids.length)
    }
  }

  it('its programs make ids again when the server is back, and end on SIGTERM while it is away', async () => {
    const { server, programs } = await startAll()
    await server.signal(stop)
    await Promise.all(
      programs.map(async (program) => {
        const { child, told, ended } = program
        await until(() => told().includes('ERR_LEASE_EXPIRED') || child.exitCode !== null)
        if (child.exitCode !== null) throw new Error(`the program has ended with ${await ended}: ${told()}`)
      }),
    )
    await server.restart()
    await Promise.all(programs.map((program) => hasMade(program, program.ids.length + 3)))
    await server.signal('SIGKILL')
    await endAll(programs)
    await server.stop()
  })

  it('its programs end on SIGTERM while the server hangs', async () => {
    const { server, programs } = await startAll()
    await server.signal('SIGSTOP')
    await endAll(programs)
    await server.stop()
  })
}

type Start = () => Promise<{ server?: Server; variables: Record<string, string> }>

/** The variables by which an example reaches its server, or its file. */
function describeExamples(
  names: string[],
  docstring: string,
  imports: string,
  needed: Parameters<typeof describeWith>[0],
  start: Start,
  more?: (run: (code: string) => Promise<{ stdout: string }>) => void,
): void {
  const tests = () => {
    let server: Server | undefined
    let variables: Record<string, string>
    beforeAll(async () => {
      ;({ server, variables } = await start())
    })
    afterAll(() => server?.stop())

    it.each(names)('%s makes ids on its node, and releases the node', async (name) => {
      const { code, told, ids } = await runUntilTerminated(name, variables)
      const [, node] = /^acquired, node (\d+)$/m.exec(told) ?? []
      expect(told).toMatch(new RegExp(`^released, node ${node}$`, 'm'))
      expect(new Set(ids.map((id) => decode(id, layouts.twitter).node))).toEqual(new Set([Number(node)]))
      expect(new Set(ids).size).toBe(ids.length)
      expect(told).not.toMatch(/Error|ERR_/)
      expect(code).toBe(0)
    })

    const run = async (code: string) => {
      const file = join(folder, `${crypto.randomUUID()}.mjs`)
      writeFileSync(file, code)
      return promisify(execFile)(process.execPath, [file], { cwd: folder, env: { ...process.env, ...variables } })
    }

    it(`the example in the docstring of ${docstring} runs`, async () => {
      await run(program(`${imports}\n${docstringExamples().get(docstring)}`))
    })

    const page = `docs/stores/${docstring.replace('Store', '')}.md`
    // The program for Kubernetes is for a pod.
    const [block] = existsSync(join(repository, page)) && docstring !== 'kubernetesStore' ? blocksOf(page) : []
    if (block !== undefined) {
      it(`the first program of ${page} runs`, async () => {
        const code = block.code.replace("'zk1:2181,zk2:2181,zk3:2181'", 'process.env.ZOOKEEPER')
        await run(`${program(code)}\nif (typeof lease !== 'undefined') await lease.release()\nprocess.exit()`)
      })
    }

    const documented = block === undefined ? [] : [block]
    if (docstring === 'redisStore') documented.push(...blocksOf('docs/leases.md').slice(1, 2))
    if (docstring === 'postgresStore') documented.push(...blocksOf('README.md').filter(needsServer))
    if (docstring !== 'sqliteStore' && names.length > 0) {
      // PostgreSQL waits on SIGTERM until all clients have gone.
      const stop = docstring === 'postgresStore' ? 'SIGINT' : 'SIGTERM'
      outlivesServer(() => [...names, ...documented.map(printingProgram)], stop, start)
    }

    more?.(run)
  }
  // The tests mostly wait, so they run side by side.
  describeWith(needed, `with ${docstring}`, tests, { concurrent: true })
}

describeExamples(
  ['redis.mjs', 'worker-threads.mjs'],
  'redisStore',
  `import { redisStore } from 'graupel/stores/redis'\nimport { Redis } from 'ioredis'`,
  ['redis'],
  async () => {
    const server = await startRedis()
    return { server, variables: { REDIS_URL: `redis://127.0.0.1:${server.port}` } }
  },
  (run) =>
    it('the first programs of docs/leases.md lease a node', async () => {
      const [, first] = blocksOf('docs/leases.md')
      await run(`${program(`${first?.code}`)}\nprocess.exit()`)
    }),
)

describeExamples(
  ['kubernetes.mjs'],
  'kubernetesStore',
  `import { kubernetesStore } from 'graupel/stores/kubernetes'`,
  [],
  async () => {
    const server = await startApi()
    const KUBERNETES_URL = `http://127.0.0.1:${server.port}`
    return { server, variables: { KUBERNETES_URL, KUBERNETES_NAMESPACE: 'default' } }
  },
)

describeExamples(
  ['mysql.mjs'],
  'mysqlStore',
  `import { mysqlStore } from 'graupel/stores/mysql'\nimport mysql from 'mysql2/promise'`,
  ['mysql'],
  async () => {
    const server = await startMysql()
    return { server, variables: { MYSQL_URL: `mysql://root@127.0.0.1:${server.port}/${database}` } }
  },
)

describeExamples(
  [],
  'leafAllocStore',
  `import { createSegmentGenerator, leafAllocStore } from 'graupel/segments'\nimport mysql from 'mysql2/promise'`,
  ['mysql'],
  async () => {
    const server = await startMysql()
    const pool = mysqlPools.mysql2(server.port)
    const admin = pool as never as Admin
    await makeLeafTable(admin)
    await admin.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 2000)")
    await pool.end()
    return { server, variables: { MYSQL_URL: `mysql://root@127.0.0.1:${server.port}/${database}` } }
  },
)

describeExamples(
  ['postgres.mjs'],
  'postgresStore',
  `import { postgresStore } from 'graupel/stores/postgres'\nimport pg from 'pg'`,
  ['postgres'],
  async () => {
    const server = await startPostgres()
    const user = 'postgres'
    const DATABASE_URL = `postgres://${user}@127.0.0.1:${server.port}/postgres`
    return { server, variables: { DATABASE_URL, PGHOST: '127.0.0.1', PGPORT: `${server.port}`, PGUSER: user } }
  },
  (run) => {
    it('the program of README.md makes an id, and releases its node on SIGTERM', async () => {
      const [block] = blocksOf('README.md').filter(needsServer)
      const { stdout } = await run(
        `${block?.code}\nconsole.log(ids.nextString())\nprocess.kill(process.pid, 'SIGTERM')`,
      )
      expect(isId(stdout.trim())).toBe(true)
    })
    it('the store of skills/graupel/SKILL.md is opened', async () => {
      const [block] = blocksOf('skills/graupel/SKILL.md').filter(needsServer)
      await run(`${block?.code}\nawait store.read('x')\nprocess.exit()`)
    })
  },
)

describeExamples(
  ['dynamodb.mjs'],
  'dynamodbStore',
  `import { DynamoDB } from '@aws-sdk/client-dynamodb'\nimport { dynamodbStore } from 'graupel/stores/dynamodb'`,
  [],
  async () => {
    const server = await startDynamodb()
    const AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${server.port}`
    return { server, variables: { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION: 'eu-west-1' } }
  },
)

describeExamples(
  ['mongodb.mjs'],
  'mongodbStore',
  `import { mongodbStore } from 'graupel/stores/mongodb'\nimport { MongoClient } from 'mongodb'`,
  [],
  async () => {
    const server = await startMongodb('rs0')
    return { server, variables: { MONGODB_URL: mongodbUrl(server.port) } }
  },
)

describeExamples(['etcd.mjs'], 'etcdStore', `import { etcdStore } from 'graupel/stores/etcd'`, ['etcd'], async () => {
  const server = await startEtcd()
  return { server, variables: { ETCD_URL: `http://127.0.0.1:${server.port}` } }
})

describeExamples(
  ['object.mjs'],
  'objectStore',
  `import { objectStore } from 'graupel/stores/object'\nimport { S3 } from '@aws-sdk/client-s3'`,
  [],
  async () => {
    const server = await startBuckets()
    const AWS_ENDPOINT_URL_S3 = `http://127.0.0.1:${server.port}`
    const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' }
    return { server, variables: { AWS_ENDPOINT_URL_S3, WINDOW_MS: '6000', ...credentials } }
  },
)

describeExamples(
  ['consul.mjs'],
  'consulStore',
  `import { consulStore } from 'graupel/stores/consul'`,
  ['consul'],
  async () => {
    const server = await startConsul()
    return { server, variables: { CONSUL_HTTP_ADDR: `http://127.0.0.1:${server.port}` } }
  },
)

describeExamples(
  ['sqlite.mjs'],
  'sqliteStore',
  `import { sqliteStore } from 'graupel/stores/sqlite'\nimport Database from 'better-sqlite3'`,
  [],
  async () => ({ variables: { SQLITE_FILE: 'fleet.db' } }),
)

describeExamples(
  ['zookeeper.mjs'],
  'zookeeperStore',
  `import { zookeeperStore } from 'graupel/stores/zookeeper'\nimport zookeeper from 'node-zookeeper-client'\nconst { createClient } = zookeeper`,
  [zookeeperKind.missing],
  async () => {
    const server = await startZooKeeper()
    return { server, variables: { ZOOKEEPER: `127.0.0.1:${server.port}` } }
  },
)

describeExamples(
  ['service.mjs'],
  'serviceStore',
  `import { acquireLease } from 'graupel/lease'\nimport { serviceStore } from 'graupel/stores/service'`,
  [],
  async () => {
    const server = await startService()
    return { server, variables: { GRAUPEL_URL: `http://127.0.0.1:${server.port}` } }
  },
)

describeWith(['postgres'], 'with a counter', () => {
  it('order-numbers.mjs goes on after the numbers of its last start', async () => {
    const server = await startPostgres()
    const DATABASE_URL = `postgres://postgres@127.0.0.1:${server.port}/postgres`
    const start = () =>
      promisify(execFile)(process.execPath, ['order-numbers.mjs'], {
        cwd: folder,
        env: { ...process.env, DATABASE_URL },
      })
    const told = `${(await start()).stdout}${(await start()).stdout}`
    const counts = [...told.matchAll(/^SO-(\d{8})-(\d{6})$/gm)].map(([, day, count]) => [day, Number(count)])
    // Midnight may have passed between the two starts.
    const isNewDay = counts[0]?.[0] !== counts[9]?.[0]
    expect(counts.map(([, count]) => count).slice(0, 5)).toEqual([1, 2, 3, 4, 5])
    if (!isNewDay) expect(counts.map(([, count]) => count).slice(5)).toEqual([6, 7, 8, 9, 10])
    await server.stop()
  })
})

it('every program and every store has a test here', () => {
  // Programs without a server, and programs that serve requests, have their tests in
  // test/serial/payment.test.ts and test/examples.
  const elsewhere = [
    ...['payment-serial.mjs', 'express.mjs', 'fastify.mjs', 'client.mjs'],
    ...['bullmq.mjs', 'cluster.mjs', 'lambda.mjs', 'maelstrom.mjs', 'worker-lease.mjs', 'worker-pool.mjs'],
  ]
  expect(programs.filter((name) => !elsewhere.includes(name)).toSorted()).toEqual([
    'consul.mjs',
    'dynamodb.mjs',
    'etcd.mjs',
    'kubernetes.mjs',
    'mongodb.mjs',
    'mysql.mjs',
    'object.mjs',
    'order-numbers.mjs',
    'postgres.mjs',
    'redis.mjs',
    'service.mjs',
    'sqlite.mjs',
    'worker-threads.mjs',
    'zookeeper.mjs',
  ])
  expect(examplesWithDatabase).toEqual([
    'consulStore',
    'dynamodbStore',
    'etcdStore',
    'kubernetesStore',
    'leafAllocStore',
    'mongodbStore',
    'mysqlStore',
    'objectStore',
    'postgresStore',
    'redisStore',
    'serviceStore',
    'sqliteStore',
    'zookeeperStore',
  ])
})
