import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installOnce, repository } from '../package/consumer.ts'
import { serve } from '../server/support/process.ts'
import { load } from '../stores/kinds/kind.ts'
import { until } from '../support/until.ts'

// The apps of examples/, each as a process that is asked over HTTP and ended by SIGTERM.

const examples = join(repository, 'examples')
let folder: string
beforeAll(() => {
  const installed = installOnce('test/examples/packages', ['--ignore-scripts'])
  // Inside the package, where graupel, fastify and libsql are found, too.
  folder = mkdtempSync(join(repository, 'dist', 'examples-'))
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(installed)) {
    if (!name.startsWith('.')) symlinkSync(join(installed, name), join(folder, 'node_modules', name))
  }
  for (const name of ['express.mjs', 'fastify.mjs', 'client.mjs'])
    copyFileSync(join(examples, name), join(folder, name))
  compileNest(join(folder, 'nest'))
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Makes it a project as `nest new` does, and compiles that. */
function compileNest(project: string): void {
  cpSync(join(examples, 'nest'), join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    esModuleInterop: true,
    isolatedModules: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    types: ['node'],
    rootDir: 'src',
    outDir: 'dist',
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler], { cwd: project, encoding: 'utf8' })
  if (stdout !== '') throw new Error(stdout)
}

interface App {
  readonly child: ChildProcess
  readonly url: string
  /** The exit code, or the signal. */
  readonly ended: Promise<number | string>
}

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

async function start(program: string, name: string, variables: Record<string, string> = {}): Promise<App> {
  const child = spawn(process.execPath, [program], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: '0',
      STORE_URL: `sqlite:${name}.db`,
      DATABASE_FILE: `${name}-orders.db`,
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let told = ''
  child.stdout.on('data', (data) => (told += data))
  child.stderr.on('data', (data) => (told += data))
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const port = () => /http:\/\/\S+:(\d+)\b/.exec(told)?.[1]
  await until(() => port() !== undefined || child.exitCode !== null)
  if (port() === undefined) throw new Error(`${program} has ended: ${told}`)
  return { child, url: `http://127.0.0.1:${port()}`, ended }
}

function order({ url }: App, item: string | undefined): Promise<Response> {
  return fetch(`${url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ item }),
  })
}

/** The ids of orders that are placed one after the other. */
async function orders(app: App, count: number): Promise<bigint[]> {
  const ids: bigint[] = []
  for (let item = 0; item < count; item++) {
    const answer = await order(app, `item ${item}`)
    const { id } = (await answer.json()) as { id: string }
    expect([answer.status, typeof id]).toEqual([201, 'string'])
    ids.push(BigInt(id))
  }
  return ids
}

const isAscending = (ids: bigint[]) => ids.every((id, index) => index === 0 || id > (ids[index - 1] as bigint))

/** Whether a lease of this node can be had at once. */
async function isFree(name: string, node: number): Promise<boolean> {
  const { store, close } = await openStore(`sqlite:${join(folder, `${name}.db`)}`)
  try {
    const lease = await acquireLease({ store, nodes: [node, node], acquireTimeoutMs: 0 })
    await lease.release()
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_NODES_EXHAUSTED') throw error
    return false
  } finally {
    await close()
  }
}

// Nest sends itself the signal again in the end.
describe.each([
  ['express', 'express.mjs', 0],
  ['fastify', 'fastify.mjs', 0],
  ['nest', 'nest/dist/main.js', 'SIGTERM'],
])('the app of %s', { concurrent: true }, (name, program, code) => {
  it('makes other ids than a second one beside it, and both give their nodes back on SIGTERM', async () => {
    const apps = await Promise.all([start(program, name), start(program, name)])
    const lists = await Promise.all(Array.from({ length: 8 }, (_, index) => orders(apps[index % 2] as App, 25)))
    for (const list of lists) expect(isAscending(list)).toBe(true)
    const ids = lists.flat()
    expect(new Set(ids).size).toBe(200)
    const nodes = new Set(ids.map((id) => decode(id, layouts.twitter).node))
    expect(nodes.size).toBe(2)
    for (const node of nodes) expect(await isFree(name, node)).toBe(false)

    const [first] = apps
    const one = await fetch(`${first.url}/orders/${ids[0]}`)
    expect(await one.json()).toEqual({
      id: `${ids[0]}`,
      item: 'item 0',
      createdAt: decode(ids[0] as bigint, layouts.twitter).timestamp.toISOString(),
    })
    expect((await fetch(`${first.url}/orders/1`)).status).toBe(404)
    expect((await fetch(`${first.url}/orders/tea`)).status).toBe(400)
    expect((await order(first, undefined)).status).toBe(400)

    // Connections of this process are still open.
    for (const { child } of apps) child.kill('SIGTERM')
    expect(await Promise.all(apps.map(({ ended }) => ended))).toEqual([code, code])
    for (const node of nodes) expect(await isFree(name, node)).toBe(true)
  })

  it('answers 503 with Retry-After while the store is away, and goes on by itself', async () => {
    const app = await start(program, `${name}-away`)
    await orders(app, 1)
    const Database = load('libsql')
    const database = new Database(join(folder, `${name}-away.db`))
    database.exec('ALTER TABLE graupel_store RENAME TO elsewhere')
    let answer: Response | undefined
    await until(async () => {
      answer = await order(app, 'tea')
      return answer.status !== 201
    })
    expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)])
    expect(await answer?.json()).toEqual({ message: 'try again later', code: 'ERR_LEASE_EXPIRED' })
    database.exec('ALTER TABLE elsewhere RENAME TO graupel_store')
    database.close()
    await until(async () => (await order(app, 'tea')).status === 201)
    app.child.kill('SIGTERM')
    expect(await app.ended).toBe(code)
  })
})

describe('the app with the client', () => {
  it('has ids of the service, answers 503 while that is away, and goes on by itself', async () => {
    const data = join(folder, 'service')
    const first = await serve(['--data', data])
    const app = await start('client.mjs', 'client', { SERVICE_URL: first.url })
    const lists = await Promise.all(Array.from({ length: 8 }, () => orders(app, 25)))
    for (const list of lists) expect(isAscending(list)).toBe(true)
    expect(new Set(lists.flat()).size).toBe(200)

    first.child.kill('SIGKILL')
    await first.ended
    let answer: Response | undefined
    await until(async () => {
      answer = await order(app, 'tea')
      return answer.status !== 201
    })
    expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)])
    await serve(['--data', data, '--port', new URL(first.url).port])
    await until(async () => (await order(app, 'tea')).status === 201)
    app.child.kill('SIGTERM')
    expect(await app.ended).toBe(0)
  })
})
