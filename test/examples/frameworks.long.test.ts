import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { beforeAll, describe, expect, it } from 'vitest'
import { tool } from '../package/consumer.ts'
import { repository } from '../support/documents.ts'
import { type App, examples, folderWith, linkPackages, order, orders, outlivesItsStore, start } from './app.ts'

const folder = folderWith('express.mjs', 'fastify.mjs')

beforeAll(() => {
  linkPackages(folder)
  compileNest(join(folder, 'nest'))
}, 600_000)

/** The compiler options of `nest new` (Nest 11), beside those for its editor. */
const compilerOptions = {
  module: 'nodenext',
  target: 'es2023',
  esModuleInterop: true,
  isolatedModules: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  forceConsistentCasingInFileNames: true,
  skipLibCheck: true,
  strictNullChecks: true,
}

/** The configuration that `nest new` writes to package.json, with the path of ts-jest in these tests. */
const jest = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  rootDir: 'src',
  testRegex: '.*\\.spec\\.ts$',
  transform: { '^.+\\.(t|j)s$': tool('ts-jest/dist/index.js') },
  testEnvironment: 'node',
}

/** Makes a project like that of `nest new` out of the files, and compiles it. */
function compileNest(project: string): void {
  cpSync(join(examples, 'nest'), join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, jest }))
  const all = { ...compilerOptions, strict: true, types: ['node'], rootDir: 'src', outDir: 'dist' }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: all }))
  // As in a project of `nest new`, the build leaves out the tests.
  const build = { extends: './tsconfig.json', include: ['src'], exclude: ['src/**/*.spec.ts'] }
  writeFileSync(join(project, 'tsconfig.build.json'), JSON.stringify(build))
  // ts-jest needs the programming interface of TypeScript 5, which it looks for in the project.
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(tool('typescript'), join(project, 'node_modules/typescript'))
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const words = [compiler, '-p', 'tsconfig.build.json']
  const { stdout } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' })
  if (stdout !== '') throw new Error(stdout)
}

describe('the files for NestJS under the Jest of a new project', () => {
  const project = join(folder, 'nest')
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [tool('jest/bin/jest.js'), '--ci', ...words], {
      cwd: project,
      encoding: 'utf8',
      // Nothing answers there, so a test that opened the store would fail.
      env: { ...process.env, STORE_URL: 'redis://127.0.0.1:1' },
    })

  it('pass, and open no store', () => {
    const { status, stderr } = run()
    expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m)
    expect(status).toBe(0)
  })

  it('fail if the store is opened', () => {
    const spec = readFileSync(join(project, 'src/orders.controller.spec.ts'), 'utf8')
    const own = spec.replace(/\n *\.overrideProvider\(IDS\).*\n.*\n/, '\n')
    expect(own).not.toBe(spec)
    writeFileSync(join(project, 'src/opened.spec.ts'), own)
    const { status, stderr } = run('opened')
    expect(stderr).toMatch(/ECONNREFUSED|ERR_STORE_UNAVAILABLE/)
    expect(status).toBe(1)
  })

  it('take their options from another provider', () => {
    const spec = `import { Inject, Module } from '@nestjs/common'
      import { Test } from '@nestjs/testing'
      import type { IdGenerator } from 'graupel'
      import { IDS, IdsModule } from './ids.module'
      const CONFIG = Symbol('config')
      @Module({ providers: [{ provide: CONFIG, useValue: { node: 5 } }], exports: [CONFIG] })
      class ConfigModule {}
      class Reader { constructor(@Inject(IDS) readonly ids: IdGenerator) {} }
      it('leases the node of the configuration, and releases it', async () => {
        const url = 'sqlite:' + __dirname + '/async.db'
        const ids = IdsModule.forRootAsync({
          imports: [ConfigModule],
          inject: [CONFIG],
          useFactory: ({ node }: { node: number }) => ({ node, url }),
        })
        for (let run = 0; run < 2; run++) {
          const app = await Test.createTestingModule({ imports: [ids], providers: [Reader] }).compile()
          const reader = app.get(Reader)
          expect(reader.ids.decode(await reader.ids.nextAsync()).node).toBe(5)
          await app.close()
        }
      })`
    writeFileSync(join(project, 'src/async.spec.ts'), spec)
    const { status, stderr } = run('async')
    expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m)
    expect(status).toBe(0)
  })
})

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
