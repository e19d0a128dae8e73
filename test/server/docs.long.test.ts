import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { afterAll, expect, it } from 'vitest'
import { type Block, blocksOf, serviceDocuments } from '../support/documents.ts'
import { describeWith, type Tool } from '../support/needs.ts'
import { writeSingles } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { folder, type Serving, serve } from './support/process.ts'

// Runs the code in the documents of the service against a service. docs.test.ts compares their tables.

const documented = 'http://127.0.0.1:4728'
const blocks = serviceDocuments.flatMap(blocksOf)
const named = (language: string) => blocks.filter((block) => block.language === language)

/** The file of tokens with settings. */
const tokens = named('text').find(({ code }) => code.includes(' name='))

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function runs(command: string, words: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, words, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

/** Starts a new service, with the configuration file of the document if it has one. */
function serviceFor(file: string): Promise<Serving> {
  const data = mkdtempSync(join(folder, 'data-'))
  const [config] = named('json').filter((block) => block.file === file)
  if (config === undefined) return serve(['--data', data])
  const place = join(data, 'config.json')
  writeFileSync(place, config.code)
  // Leaf's answers have times in the time zone of the service.
  return serve(['--data', data, '--config', place], { TZ: 'UTC' })
}

/** Replaces the parts of a text that differ each time: ids in their forms, and the year of a count. */
function lasting(text: string): string {
  return text
    .replace(/\b\d{15,}\b/g, 'ID')
    .replace(/"[1-9A-HJ-NP-Za-km-z]{11}"/g, '"ID"')
    .replace(/"[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}"/g, '"UUID"')
    .replace(/_[0-9a-z]{13}"/g, '_ID"')
    .replace(/-20\d\d-/g, '-YEAR-')
}

/** Returns each command of a block with its output. */
function commandsOf({ code }: Block): { command: string; shown: string[] }[] {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...shown] = part.trimEnd().split('\n')
      return { command, shown }
    })
}

describeWith(['curl'], 'the commands', () => {
  it.each(['docs/service.md', 'docs/service-operations.md'])(
    'of %s answer as they are shown, in their order',
    async (file) => {
      const { url } = await serviceFor(file)
      const commands = named('console')
        .filter((block) => block.file === file)
        .flatMap(commandsOf)
        .filter(({ command }) => command.includes('curl '))
      expect(commands.length).toBeGreaterThan(2)
      for (const { command, shown } of commands) {
        const { stdout, stderr } = await runs('bash', ['-c', command.replaceAll(documented, url)])
        const lines = stdout.trimEnd().split(/\r?\n/).slice(0, shown.length)
        expect([command, ...lines.map(lasting)], stderr).toEqual([command, ...shown.map(lasting)])
      }
    },
  )

  it('that start the service show its output', async () => {
    const [first] = named('console').flatMap(commandsOf)
    expect(first?.command).toBe('npx graupel-server')
    const { stdout, url } = await serve([], { XDG_STATE_HOME: join(folder, 'ann') })
    const own = (text: string) => text.replace(/node \d+/, 'node N').trimEnd()
    const shown = (first?.shown.join('\n') ?? '')
      .replaceAll(documented, url)
      .replace('/home/ann/.local/state', join(folder, 'ann'))
    expect(own(stdout())).toBe(own(shown))
  })
})

/** The tools that run the programs of a document, by language. */
const languages: Record<string, { tool: Tool; file: string; command: string; words?: string[] }> = {
  python: { tool: 'python', file: 'ids.py', command: 'python3' },
  java: { tool: 'javac', file: 'Ids.java', command: 'java' },
  go: { tool: 'go', file: 'ids.go', command: 'go', words: ['run'] },
}

/** Runs a program of a document against the server at a URL. */
function runProgram({ language, code }: Block, url: string): Promise<Outcome> {
  const { file, command, words = [] } = languages[language] as (typeof languages)[string]
  const place = mkdtempSync(join(folder, `${language}-`))
  writeFileSync(join(place, file), code.replace(documented, url))
  return runs(command, [...words, join(place, file)], { GOCACHE: cache })
}

const cache = join(folder, 'go-cache')
mkdirSync(cache)

/** Starts a server whose answers of one type have a byte too few. */
async function shortServer(short: 'application/octet-stream' | 'application/vnd.graupel.runs') {
  const server = createServer(({ url = '', headers: { accept } }, response) => {
    const count = Number(new URL(url, documented).searchParams.get('count'))
    const singles = writeSingles(Array.from({ length: count }, (_, index) => BigInt(index)))
    if (accept === 'application/vnd.graupel.runs') return response.end(singles.subarray(0, singles.length - 1))
    if (accept === 'application/octet-stream') {
      return response.end(Buffer.alloc(short === accept ? 8 * count - 1 : 8 * count))
    }
    response.end(JSON.stringify({ ids: Array.from({ length: count }, (_, index) => `${index}`) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

for (const [language, { tool }] of Object.entries(languages)) {
  describeWith([tool], `the program in ${language}`, () => {
    const [program] = named(language)

    it('gets ascending ids as JSON, bytes and runs', async () => {
      const { url } = await serviceFor('docs/service.md')
      const { stdout, stderr } = await runProgram(program as Block, url)
      expect(stderr).toBe('')
      const ids = stdout.trim().split('\n').map(BigInt)
      expect(ids.length).toBe(10_003)
      expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] as bigint))).toBe(true)
      const ages = ids.map((id) => Math.abs(Date.now() - decode(id, layouts.twitter).timestampMs))
      expect(Math.max(...ages)).toBeLessThan(600_000)
    })

    it('fails if a byte is missing', async () => {
      const { code, stderr, stdout } = await runProgram(program as Block, await shortServer('application/octet-stream'))
      expect(stdout).toBe('')
      expect(stderr).toContain('7999 bytes came, in place of 8000')
      expect(code).toBe(1)
    })

    it('fails if a byte of a run is missing', async () => {
      const { code, stdout } = await runProgram(program as Block, await shortServer('application/vnd.graupel.runs'))
      expect([code, stdout]).toEqual([1, ''])
    })
  })
}

it('the service accepts the file of tokens, and its line about taken numbers is as shown', async () => {
  const tokenFile = join(folder, 'tokens')
  writeFileSync(tokenFile, tokens?.code ?? '', { mode: 0o600 })
  const flags = ['--data', join(folder, 'taken'), '--token-file', tokenFile, '--log-ids']
  const { url, stderr } = await serve(flags)
  const headers = { authorization: `Bearer ${tokens?.code.slice(0, 48)}` }
  expect((await fetch(`${url}/v1/segments/orders?count=5000`, { headers })).status).toBe(200)
  await until(() => stderr().includes('"event":"taken"'))
  const line = JSON.parse(/^.*"event":"taken".*$/m.exec(stderr())?.[0] ?? '')
  const [, shown] = named('json')
  const { pid, hostname, ...told } = line
  expect(Object.keys(told)).toEqual(Object.keys(JSON.parse(shown?.code ?? '')))
  expect(told).toMatchObject({ client: 'billing', kind: 'segment', name: 'orders', count: 5000 })
  expect(told.ranges).toEqual([['1', '5000']])
})

it('the first line of its log is as shown', async () => {
  const { stderr } = await serve(['--data', join(folder, 'start')], { GRAUPEL_NODE: 'datacenter=1,worker=7' })
  const { pid, hostname, ...line } = JSON.parse(stderr().split('\n')[0] ?? '')
  const { time, store, ...shown } = JSON.parse(blocks.find(({ code }) => code.includes('"event":"start"'))?.code ?? '')
  expect(line).toEqual({ ...shown, time: expect.any(Number), store: expect.any(String) })
})

it('every block of code is run, except blocks that need a cluster', () => {
  // deploy.test.ts checks the Dockerfile, and rolling.long.test.ts runs HAProxy with its settings.
  const kinds = ['console', 'json', 'dockerfile', ...Object.keys(languages)]
  const others = blocks.filter((block) => !kinds.includes(block.language) && block !== tokens)
  const known = /^(kubectl|defaults)\b|"event":"start"|┌─/
  expect(others.filter(({ language, code }) => language !== 'text' || !known.test(code))).toEqual([])
  expect(named('json').length).toBe(2)
  for (const language of Object.keys(languages)) expect(named(language).length).toBe(1)
})
