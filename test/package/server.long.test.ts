import { copyFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { engineInfo } from 'graupel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Serving, serve, servedBy } from '../server/support/process.ts'
import { dynamodbUrl, startDynamodb } from '../stores/kinds/dynamodb.ts'
import { installClients } from '../stores/kinds/kind.ts'
import { repository } from '../support/documents.ts'
import { until } from '../support/until.ts'
import { install, npm, poorPath, temporaryFolder } from './consumer.ts'
import { bareTarball, filesInTarball, packService, putBinary } from './tarball.ts'

// The service from its package, beside a package of the library without a binary, on a machine without a
// compiler.

const folder = temporaryFolder()
const project = join(folder, 'project')
const isWindows = process.platform === 'win32'
const program = join(project, 'node_modules/graupel-server/dist/main.js')
let tarball: string

beforeAll(() => {
  tarball = packService(folder)
  const poor = isWindows ? {} : { PATH: poorPath(join(folder, 'bin')), PYTHON: undefined }
  const flags = [tarball, '--prefer-offline']
  install(project, bareTarball(), flags, poor)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function start(...flags: string[]): Promise<Serving> {
  const env = { GRAUPEL_ENGINE: undefined }
  return serve(['--data', join(folder, 'data'), '--drain-ms', '0', ...flags], env, { program })
}

async function stop({ child, ended }: Serving): Promise<void> {
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}

test('packing builds the program, the page and the documents', () => {
  const files = ['dist/main.js', 'dist/page/index.html', 'dist/docs/service.md'].map((file) => `package/${file}`)
  expect(filesInTarball(tarball)).toEqual(expect.arrayContaining(files))
})

test('the command runs, and no package has an install script', () => {
  const said = npm(project, ['exec', '--offline', '--call', 'graupel-server --help'])
  expect(said).toContain('Usage: graupel-server [flags]')
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const scripted = Object.keys(packages).filter((name) => packages[name].hasInstallScript)
  expect(scripted).toEqual([])
})

test('workers have leases, ids and numbers on the TypeScript engine, and report that engine', async () => {
  const service = await start('--workers', '2')
  const nodes = new Set<number>()
  await until(async () => {
    nodes.add(await servedBy(service.url))
    return nodes.size === 2
  })
  const { ids } = (await (await fetch(`${service.url}/v1/ids?count=65536`)).json()) as { ids: string[] }
  expect(new Set(ids).size).toBe(65_536)
  expect(await (await fetch(`${service.url}/v1/counters/invoices`)).text()).toBe('{"counts":["1"]}')
  expect(await (await fetch(`${service.url}/v1/segments/orders`)).text()).toBe('{"numbers":["1"]}')
  await stop(service)
  expect(service.stderr().match(/"code":"GRAUPEL_JS_ENGINE"/g)).toHaveLength(2)
  expect(service.stderr().match(/lease: released/g)).toHaveLength(2)
})

test('a store whose client it does not bring says what to install, and uses it then', async () => {
  const server = await startDynamodb()
  const words = ['--store', dynamodbUrl(server.port), '--drain-ms', '0']
  const env = { GRAUPEL_ENGINE: undefined, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
  await expect(serve(words, env, { program })).rejects.toThrow('run: npm install @aws-sdk/client-dynamodb')
  installClients()
  symlinkSync(join(repository, 'test/stores/clients/node_modules/@aws-sdk'), join(project, 'node_modules/@aws-sdk'))
  const service = await serve(words, env, { program })
  expect(await (await fetch(`${service.url}/v1/ids`)).text()).toMatch(/^\{"ids":\["\d+"\]\}$/)
  await stop(service)
  await server.stop()
})

test.runIf(engineInfo().kind === 'native')('with the binary it runs on the native engine', async () => {
  putBinary(project, (place) => copyFileSync(engineInfo().file as string, place))
  const service = await start()
  expect(await (await fetch(`${service.url}/v1/ids`)).text()).toMatch(/^\{"ids":\["\d+"\]\}$/)
  await stop(service)
  expect(service.stderr()).not.toContain('GRAUPEL_JS_ENGINE')
})
