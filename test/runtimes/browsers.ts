import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transformSync } from 'esbuild'
import { npmBinary } from '../../scripts/npm-binary.ts'
import { repository } from '../support/documents.ts'
import { startSite } from './id-service.ts'
import { type Project, writeProgram } from './project.ts'
import { findCommand, type Outcome, run } from './run.ts'

// Browsers and workers: the package as a bundler bundles it for them, without polyfills of Node.

export async function inChromium(project: Project): Promise<Outcome> {
  const chromium = findCommand(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')
  const scriptOf = async (name: string) => ({
    type: 'text/javascript',
    text: await bundle(project, name, ['browser']),
  })
  const { origin, server } = await startSite(project.service, {
    '/': { type: 'text/html', text: '<body><script src="/page.js"></script></body>\n' },
    '/page.js': await scriptOf('page.ts'),
    '/worker.js': await scriptOf('page-worker.ts'),
  })
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
  const profile = `--user-data-dir=${join(project.folder, 'profile')}`
  const document = await run(chromium, [
    ...flags,
    '--disable-sync',
    '--disable-component-update',
    profile,
    '--dump-dom',
    `${origin}/`,
  ]).finally(() => {
    server.close()
    server.closeAllConnections()
  })
  const text = /\{.*\}/.exec(document)?.[0]
  if (text === undefined) throw new Error(`the page has come to nothing: ${document.slice(-500)}`)
  const { distinct, isAscending, filled, slots, fetched, warnings, engine, agent } = JSON.parse(text)
  if (distinct !== 1_000_000 || !isAscending || filled < 1_000_000 || warnings.length > 0 || engine !== 'js')
    throw new Error(text)
  if (slots !== 20_000) throw new Error(text)
  if (`${fetched}` !== '5012,5012') throw new Error(text)
  const version = /Chrome\/(\d+)/.exec(agent)?.[1]
  return {
    runtime: `Chromium ${version}`,
    engine: 'js, browser entry',
    proof: `a page, ${(distinct + filled).toLocaleString('en')} ids, 10,000 UUIDs, and some ids of a service there and in a Web Worker`,
  }
}

export async function inWorkerd(project: Project): Promise<Outcome> {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string]
  const name = `@cloudflare/workerd-${platform}-${process.arch === 'arm64' ? 'arm64' : '64'}`
  const workerd = npmBinary(name, '1', process.platform === 'win32' ? 'bin/workerd.exe' : 'bin/workerd')
  writeProgram(
    project.folder,
    'worker.js',
    await bundle(project, 'worker.ts', ['workerd', 'worker', 'browser'], 'frozen-clock.ts'),
  )
  const config = writeProgram(
    project.folder,
    'workerd.capnp',
    `using Workerd = import "/workerd/workerd.capnp";
const unit :Workerd.Config = (services = [
  (name = "main", worker = .worker),
  (name = "loopback", network = (allow = ["private"])),
]);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2025-01-01",
  globalOutbound = "loopback",
  bindings = [(name = "SERVICE", text = "${project.service}")],
);
`,
  )
  await run(workerd, ['test', config])
  const version = (await run(workerd, ['--version'])).trim().replace(/^workerd /, '')
  return {
    runtime: `workerd ${version}`,
    engine: 'js, browser entry',
    proof: 'a clock that stands still, 1,004,097 ids, and some of a service',
  }
}

/** @param first - A program that runs before the bundle. */
async function bundle(project: Project, name: string, conditions: string[], first?: string): Promise<string> {
  const read = (name: string) => readFileSync(join(repository, 'test/runtimes', name), 'utf8')
  const { outputFiles } = await build({
    // The bundler resolves from the project's folder, so it finds the installed package.
    stdin: { contents: read(name), resolveDir: project.folder, sourcefile: name, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: conditions.includes('workerd') ? 'esm' : 'iife',
    conditions,
    banner: { js: first === undefined ? '' : transformSync(read(first), { loader: 'ts', format: 'iife' }).code },
    logLevel: 'error',
  })
  const text = outputFiles[0]?.text ?? ''
  if (/["'`]node:\w|getBuiltinModule|\bprocess\.\w/.test(text))
    throw new Error(`the bundle of ${name} has something of Node's`)
  return text
}
