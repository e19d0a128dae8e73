import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../stores/servers.ts'
import { repository } from '../support/documents.ts'
import { until } from '../support/until.ts'
import { installOnce, node, packageFolder, temporaryFolder, tool } from './consumer.ts'
import { binaryPath, installWithBinary } from './tarball.ts'

// Tools that deploy a program copy the files that it imports, which @vercel/nft finds: Next.js, Nitro and
// Nuxt, Vercel, Netlify and others use it.

const folder = temporaryFolder()
const project = join(folder, 'project')
const program = `
  const { kind, file, reason } = engineInfo()
  console.log(JSON.stringify({ kind, file, reason, distinct: new Set(createGenerator({ node: 7 }).take(1000)).size }))`
const forms = {
  'service.mjs': `import { createGenerator, engineInfo } from 'graupel'; import 'graupel/lease'${program}`,
  'service.cjs': `const { createGenerator, engineInfo } = require('graupel'); require('graupel/lease')${program}`,
}

beforeAll(() => {
  installWithBinary(project)
  for (const [name, text] of Object.entries(forms)) writeFileSync(join(project, name), text)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Copies a program with the files that @vercel/nft finds into another folder, which it returns. */
async function deployed(name: string): Promise<string> {
  const { nodeFileTrace } = createRequire(import.meta.url)(tool('@vercel/nft/out/index.js')) as {
    nodeFileTrace(files: string[], options: { base: string }): Promise<{ fileList: Set<string> }>
  }
  const image = join(folder, `image of ${name}`)
  const { fileList } = await nodeFileTrace([join(project, name)], { base: project })
  for (const file of fileList) cpSync(join(project, file), join(image, file), { recursive: true })
  return image
}

test.each(Object.keys(forms))('%s is traced with the binary', async (name) => {
  const image = await deployed(name)
  const { status, stdout, stderr } = node(image, [name])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ kind: 'native', file: join(packageFolder(image), binaryPath), distinct: 1000 })
})

test('the binaries of all targets and a compiled binary are traced, and neither sources nor documents', async () => {
  const others = ['prebuilds/darwin-arm64/graupel.node', 'build/Release/graupel.node']
  for (const other of others) cpSync(join(packageFolder(project), binaryPath), join(packageFolder(project), other))
  const image = packageFolder(await deployed('service.mjs'))
  for (const other of others) rmSync(join(packageFolder(project), other))
  const files = readdirSync(image, { recursive: true, encoding: 'utf8' })
  expect(files).toEqual(expect.arrayContaining([...others, binaryPath, 'package.json']))
  expect(files.filter((file) => /^(native|docs|examples)\b|\.md$/.test(file))).toEqual([])
})

test('a program without the folder of binaries is told to deploy it', async () => {
  const image = await deployed('service.cjs')
  for (const name of ['prebuilds', 'build']) rmSync(join(packageFolder(image), name), { recursive: true, force: true })
  const { status, stdout, stderr } = node(image, ['service.cjs'])
  expect(status).toBe(0)
  expect(stderr).toContain('deploy the folders prebuilds and build of the package graupel, too (docs/platforms.md)')
  expect(stderr).not.toMatch(/compiler|node-gyp-build/)
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'js', distinct: 1000 })
})

const answer = `
  const { kind, file, reason } = engineInfo()
  return Response.json({ kind, file, reason, distinct: new Set(createGenerator({ node: 7 }).take(1000)).size })`

const apps: string[] = []
afterAll(() => {
  for (const app of apps) rmSync(app, { recursive: true, force: true })
})

/** Makes an app in the repository: Next.js resolves links, and compiles nothing outside of the root. */
function appWith(packages: string, files: Record<string, string>): string {
  const app = mkdtempSync(join(repository, 'dist', 'traced-'))
  apps.push(app)
  mkdirSync(join(app, 'node_modules'))
  const installed = installOnce(packages, ['--ignore-scripts'])
  for (const name of readdirSync(installed).filter((name) => !name.startsWith('.'))) {
    symlinkSync(join(installed, name), join(app, 'node_modules', name))
  }
  cpSync(packageFolder(project), packageFolder(app), { recursive: true })
  for (const [name, text] of Object.entries({ 'package.json': '{ "private": true }', ...files })) {
    mkdirSync(join(app, name, '..'), { recursive: true })
    writeFileSync(join(app, name), text)
  }
  return app
}

/** Builds an app, moves what it deploys to another folder, removes the app, and asks the deployed server. */
async function served(app: string, build: string[], output: string, program: string): Promise<unknown> {
  const image = mkdtempSync(join(folder, 'image '))
  const variables = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
  try {
    const done = node(app, build, variables)
    expect(done.status, done.stdout + done.stderr).toBe(0)
    cpSync(join(app, output), image, { recursive: true, verbatimSymlinks: true })
  } finally {
    rmSync(app, { recursive: true, force: true })
  }
  const port = await freePort()
  const env = {
    ...process.env,
    ...variables,
    GRAUPEL_ENGINE: '',
    PORT: `${port}`,
    HOST: '127.0.0.1',
    HOSTNAME: '127.0.0.1',
  }
  const child = spawn(process.execPath, [join(image, program)], { cwd: image, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
  try {
    let body: unknown
    await until(async () => {
      body = await fetch(`http://127.0.0.1:${port}/ids`).then(
        (told) => told.json(),
        () => undefined,
      )
      return body !== undefined || child.exitCode !== null
    })
    if (body === undefined) throw new Error(`the server has ended: ${said}`)
    return body
  } finally {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  }
}

const native = (image: string) => ({
  kind: 'native',
  file: expect.toSatisfy(
    (file: string) => file.startsWith(image) && file.endsWith(join('/node_modules/graupel', binaryPath)),
  ),
  distinct: 1000,
})

test.each([
  ['graupel is external', "{ output: 'standalone', serverExternalPackages: ['graupel'] }"],
  ['graupel is bundled', "{ output: 'standalone' }"],
])('the standalone output of Next.js has the binary if %s', async (_, config) => {
  const app = appWith('test/examples/next-packages', {
    'next.config.mjs': `export default ${config}`,
    'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>',
    'app/page.js': 'export default () => <p>ids</p>',
    'app/ids/route.js': `import { createGenerator, engineInfo } from 'graupel'
      export const dynamic = 'force-dynamic'
      export const GET = () => {${answer} }`,
  })
  const within = app.slice(repository.length)
  const told = await served(
    app,
    ['node_modules/next/dist/bin/next', 'build'],
    '.next/standalone',
    `${within}/server.js`,
  )
  expect(told).toEqual(native(folder))
})

test('the output of Nitro has the binary', async () => {
  const app = appWith('test/package/nitro-packages', {
    'nitro.config.mjs': "export default { preset: 'node-server', compatibilityDate: '2026-11-01' }",
    'routes/ids.js': `import { createGenerator, engineInfo } from 'graupel'
      export default defineEventHandler(() => {${answer} })`,
  })
  const told = await served(app, ['node_modules/nitropack/dist/cli/index.mjs', 'build'], '.output', 'server/index.mjs')
  expect(told).toEqual(native(folder))
})
