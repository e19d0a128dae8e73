import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { type App, examples, folderWith, linkPackages, order, orders, outlivesItsStore, start } from './app.ts'

const folder = folderWith('express.mjs', 'fastify.mjs')

beforeAll(() => {
  linkPackages(folder)
  compileNest(join(folder, 'nest'))
}, 600_000)

/** Makes a project like that of `nest new` out of the files, and compiles it. */
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

/** Tells whether the node is free. */
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

// Nest sends the signal to itself again at the end.
describe.each([
  ['express', 'express.mjs', 0],
  ['fastify', 'fastify.mjs', 0],
  ['nest', 'nest/dist/main.js', 'SIGTERM'],
])('the app of %s', { concurrent: true }, (framework, program, code) => {
  const startOn = (name: string) =>
    start(folder, program, { STORE_URL: `sqlite:${name}.db`, DATABASE_FILE: `${name}-orders.db` })

  it('makes other ids than a second process, and both release their nodes on SIGTERM', async () => {
    const apps = await Promise.all([startOn(framework), startOn(framework)])
    const lists = await Promise.all(Array.from({ length: 8 }, (_, index) => orders(apps[index % 2] as App, 25)))
    const ids = lists.flat()
    expect(new Set(ids).size).toBe(200)
    const nodes = new Set(ids.map((id) => decode(id, layouts.twitter).node))
    expect(nodes.size).toBe(2)
    for (const node of nodes) expect(await isFree(framework, node)).toBe(false)

    const [first] = apps
    const one = await fetch(`${first.url}/orders/${ids[0]}`)
    expect(await one.json()).toEqual({
      id: `${ids[0]}`,
      item: 'item 0',
      createdAt: decode(ids[0] as bigint, layouts.twitter).timestamp.toISOString(),
    })
    expect((await fetch(`${first.url}/orders/1`)).status).toBe(404)
    expect((await fetch(`${first.url}/orders/tea`)).status).toBe(400)
    expect((await fetch(`${first.url}/orders/${2n ** 63n}`)).status).toBe(400)
    expect((await order(first, undefined)).status).toBe(400)

    // Connections of this process are still open.
    for (const { child } of apps) child.kill('SIGTERM')
    expect(await Promise.all(apps.map(({ ended }) => ended))).toEqual([code, code])
    for (const node of nodes) expect(await isFree(framework, node)).toBe(true)
  })

  it('answers 503 with Retry-After while the store is unreachable, and recovers by itself', async () => {
    const name = `${framework}-away`
    const app = await startOn(name)
    await orders(app, 1)
    await outlivesItsStore(app, join(folder, `${name}.db`))
    app.child.kill('SIGTERM')
    expect(await app.ended).toBe(code)
  })
})
