import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Copy, DockerfileParser, type JSONInstruction } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parts } from '../../scripts/build.ts'
import { blocksOf } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { deploy, read, root, unit } from './support/deployed.ts'
import { makeService, optionsOf } from './support/in-process.ts'
import { listen } from './support/listening.ts'
import { folder } from './support/process.ts'

/**
 * Returns the longest time from the signal to the end: the options, 5 s to release the nodes, and 2 s to
 * spare.
 */
const endMs = ({ drainMs, shutdownTimeoutMs }: ReturnType<typeof optionsOf>) => drainMs + shutdownTimeoutMs + 7000

const dockerfile = read('Dockerfile')
const instructions = DockerfileParser.parse(dockerfile).getInstructions()
const wordsOf = (keyword: string): string[] => {
  const found = instructions.filter((one) => one.getKeyword() === keyword).at(-1) as JSONInstruction
  return found.getJSONStrings().map((word) => JSON.parse(word.getValue()))
}

test('the linter finds no fault in the Dockerfile, and finds faults that are put in', () => {
  expect(validate(dockerfile)).toEqual([])
  for (const [right, wrong] of [
    ['STOPSIGNAL SIGTERM', 'STOPSIGNAL'],
    ['EXPOSE 4728 4729', 'EXPOSE web'],
    ['--interval=10s', '--interval=10'],
    ['COPY native native', 'COPY native'],
    ['WORKDIR /app', 'WORKDIRS /app'],
  ] as const) {
    expect(dockerfile).toContain(right)
    expect(validate(dockerfile.replace(right, wrong)), wrong).not.toEqual([])
  }
})

test('the linter finds no fault in the Dockerfile for npm users, and the service accepts its flags', () => {
  const [shown] = blocksOf('docs/service-deployment.md').filter(({ language }) => language === 'dockerfile')
  expect(validate(shown?.code ?? '')).toEqual([])
  const found = DockerfileParser.parse(shown?.code ?? '').getInstructions()
  const [flags] = found.filter((one) => one.getKeyword() === 'CMD') as JSONInstruction[]
  const words = flags?.getJSONStrings().map((word) => JSON.parse(word.getValue())) ?? []
  expect(optionsOf(words)).toMatchObject({ host: '0.0.0.0', data: '/data' })
  expect(wordsOf('CMD')).toEqual(words)
})

test('the Dockerfile names exact versions of one Node, and runs the service as a user without rights', () => {
  const images = instructions
    .filter((one) => one.getKeyword() === 'FROM')
    .map((one) => one.getArguments()[0]?.getValue())
  const versions = images.map((image) => /^node:(\d+\.\d+\.\d+)-bookworm(-slim)?$/.exec(image ?? '')?.[1])
  expect(new Set(versions).size).toBe(1)
  expect(versions[0]).toMatch(/^\d/)
  const user = instructions.filter((one) => one.getKeyword() === 'USER').at(-1)
  expect(user?.getArgumentsContent()).toMatch(/^[1-9]\d*:[1-9]\d*$/)
})

test('each path that the Dockerfile copies exists and is not ignored', () => {
  const copies = instructions.filter((one) => one.getKeyword() === 'COPY') as Copy[]
  expect(copies.length).toBeGreaterThan(5)
  const ignored = /(^|\/)(node_modules|dist|build|\.git)(\/|$)/
  for (const copy of copies) {
    const isFromBuild = copy.getFromFlag() !== null
    const paths = copy
      .getArguments()
      .slice(0, -1)
      .map((argument) => argument.getValue())
    for (const path of paths) {
      if (!isFromBuild) expect(path).not.toMatch(ignored)
      const local = path.replace(/^\/build\//, '')
      expect(path.startsWith('/build/')).toBe(isFromBuild)
      // The engine is not compiled on every machine. Its name is the name of the target.
      if (local === 'build/Release/graupel.node') {
        expect(readFileSync(join(root, 'binding.gyp'), 'utf8')).toMatch(/['"]target_name['"]: ['"]graupel['"]/)
      } else expect(existsSync(join(root, local)), local).toBe(true)
    }
  }
  for (const line of read('Dockerfile.dockerignore').split('\n')) {
    if (line !== '' && !line.startsWith('#'))
      expect(['**/node_modules', '**/dist', '**/build', '**/*.tsbuildinfo', '.git']).toContain(line)
  }
})

test('the image is built with all that the build reads', () => {
  const copied = (instructions.filter((one) => one.getKeyword() === 'COPY') as Copy[])
    .filter((copy) => copy.getFromFlag() === null)
    .flatMap((copy) => copy.getArguments().slice(0, -1))
    .map((argument) => argument.getValue())
  const sources = Object.values(parts).flatMap(({ sources }) => sources)
  expect(sources.length).toBeGreaterThan(10)
  for (const source of sources) {
    const holder = copied.find((path) => path === source || source.startsWith(`${path}/`))
    expect(holder, source).toBeDefined()
  }
})

test('no package of the service is in a folder that the image does not have', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const inServer = Object.keys(packages).filter((path) => path.startsWith('server/node_modules/'))
  expect(inServer).toEqual([])
})

test('the service accepts the flags of the image, and listens on the ports of the image', () => {
  const variables = instructions.filter((one) => one.getKeyword() === 'ENV').map((one) => one.getArgumentsContent())
  const options = optionsOf(wordsOf('CMD'), Object.fromEntries(variables.map((one) => `${one}`.split('='))))
  const exposed = instructions.find((one) => one.getKeyword() === 'EXPOSE')?.getArgumentsContent()
  expect(`${options.port} ${options.adminPort}`).toBe(exposed)
  expect(wordsOf('VOLUME')).toEqual([options.data])
  expect(wordsOf('ENTRYPOINT')).toEqual(['node', 'server/dist/main.js'])
  expect(instructions.find((one) => one.getKeyword() === 'STOPSIGNAL')?.getArgumentsContent()).toBe('SIGTERM')
})

/** Resolves to the exit code of the image's health check in an environment. */
async function healthOf(environment: Record<string, string>): Promise<number> {
  const [, command = ''] = /HEALTHCHECK [^\n]+\\\n\s+CMD (\[.+\])/.exec(dockerfile) ?? []
  const [program, ...words] = JSON.parse(command) as string[]
  expect(program).toBe('node')
  const child = spawn(process.execPath, words, { env: { ...process.env, ...environment } })
  return (await once(child, 'exit'))[0]
}

test('the health check of the image succeeds if the service is alive, and fails if nothing listens', async () => {
  const { adminUrl, admin } = await listen({ adminPort: 0 })
  const environment = { GRAUPEL_OPTION_ADMIN_PORT: new URL(adminUrl).port }
  expect(await healthOf(environment)).toBe(0)
  // It asks over TLS, which this service does not use.
  expect(await healthOf({ ...environment, GRAUPEL_OPTION_TLS_CERT: '/etc/graupel/tls.crt' })).toBe(1)
  await new Promise((resolve) => admin?.close(resolve))
  expect(await healthOf(environment)).toBe(1)
})

describeWith(['openssl'], 'the health check of the image', () => {
  test('succeeds over TLS with any name in the certificate', async () => {
    const [tlsCert, tlsKey] = [join(folder, 'health.crt'), join(folder, 'health.key')]
    const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ids.example'
    execFileSync('openssl', [...words.split(' '), '-keyout', tlsKey, '-out', tlsCert], { stdio: 'ignore' })
    const { adminUrl } = await listen({ tlsCert, tlsKey, adminPort: 0 })
    expect(
      await healthOf({ GRAUPEL_OPTION_ADMIN_PORT: new URL(adminUrl).port, GRAUPEL_OPTION_TLS_CERT: tlsCert }),
    ).toBe(0)
  })
})

test('the service accepts the flags of the unit, and systemd gives it more time to end than it takes', () => {
  const { Service: service = {}, Unit: always = {} } = unit(read('systemd/graupel-server.service'))
  // A store may be away for longer than systemd restarts a unit by default.
  expect([service['Restart'], always['StartLimitIntervalSec']]).toEqual(['on-failure', '0'])
  const [node, program, ...flags] = (service['ExecStart'] ?? '').split(' ')
  expect(node).toBe('/usr/bin/node')
  expect(program).toMatch(/\/node_modules\/graupel-server\/dist\/main\.js$/)
  const options = optionsOf(flags)
  expect(options.data).toBe(`\${STATE_DIRECTORY}`)
  expect(Number(service['TimeoutStopSec']) * 1000).toBeGreaterThan(endMs(options))
  expect(service['MemoryDenyWriteExecute']).toBeUndefined()
})

test('each metric of an alert or of the dashboard is a metric of the service', async () => {
  const { app, service } = await makeService()
  await service.open()
  const { body } = await app.inject('/metrics')
  const names = new Set(Array.from(body.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name]) => name as string))
  const histograms = Array.from(body.matchAll(/^# TYPE (\w+) histogram$/gm), ([, name]) => name as string)
  for (const name of histograms) for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`)
  const { groups } = parse(read('prometheus/rules.yaml'))
  const alerts = groups.flatMap((group: { rules: { expr: string }[] }) => group.rules.map(({ expr }) => expr))
  const queries = Array.from(read('grafana/dashboard.json').matchAll(/"expr": "(.+)"/g), ([, expr]) => expr as string)
  expect(alerts.length).toBeGreaterThan(10)
  expect(queries.length).toBeGreaterThan(20)
  const asked = [...alerts, ...queries].flatMap((expr) => expr.match(/\b(graupel|nodejs|process)_\w+/g) ?? [])
  expect(new Set(asked).size).toBeGreaterThan(20)
  expect([...new Set<string>(asked)].filter((name) => !names.has(name))).toEqual([])
  // Conversely, each metric of graupel is on the dashboard or in an alert.
  const shown = (name: string) => asked.some((one) => one.startsWith(name))
  expect(
    [...names].filter((name) => name.startsWith('graupel_') && !/_(bucket|sum|count)$/.test(name) && !shown(name)),
  ).toEqual([])
})

test('the package of the service contains all of these files', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))
  expect(files).toContain('deploy')
  expect(existsSync(join(deploy, 'Dockerfile'))).toBe(true)
})
