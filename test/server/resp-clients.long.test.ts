import { execFile } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { installOnce } from '../package/consumer.ts'
import { blocksOf } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { folder, serve } from './support/process.ts'

// Runs the programs of docs/redis-protocol.md, and further calls of clients of Redis, against a service.

const runs = promisify(execFile)
const blocks = blocksOf('docs/redis-protocol.md')
const programs = (language: string) => blocks.filter((block) => block.language === language).map(({ code }) => code)
const python = '/usr/bin/python3'

let url: string
beforeAll(async () => {
  const { stdout } = await serve(['--data', join(folder, 'clients'), '--resp', '0'])
  url = /redis:\/\/\S+/.exec(stdout())?.[0] ?? ''
})

/** Expects a number, an id and three more ids, all ascending. */
function expectNumbers(stdout: string): void {
  const [number = '', ...ids] = stdout.match(/\d+/g) ?? []
  expect(Number(number)).toBeLessThan(100)
  expect(ids).toHaveLength(4)
  expect(ids.map(BigInt)).toEqual(ids.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1)))
}

it.each(programs('js'))('the program number %# in JavaScript gets numbers and ids', async (code) => {
  const place = mkdtempSync(join(folder, 'js-'))
  symlinkSync(installOnce('test/stores/clients', ['--ignore-scripts']), join(place, 'node_modules'))
  writeFileSync(join(place, 'ids.mjs'), code)
  const { stdout } = await runs(process.execPath, [join(place, 'ids.mjs')], { env: { ...process.env, IDS_URL: url } })
  expectNumbers(stdout)
})

it('redis with clientSideCache is told why it cannot connect, and a refused transaction takes no number', async () => {
  const place = mkdtempSync(join(folder, 'cache-'))
  symlinkSync(installOnce('test/stores/clients', ['--ignore-scripts']), join(place, 'node_modules'))
  const code = `
import { Redis } from 'ioredis'
import { createClient } from 'redis'
const url = process.env.IDS_URL
const cached = createClient({ url, RESP: 3, clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' } })
await new Promise((resolve) => {
  cached.on('error', (error) => resolve(console.log(error.message)))
  cached.connect().catch(() => {})
})
cached.destroy()
const plain = await createClient({ url }).connect()
await plain.multi().incr('multi').incr('multi').exec().catch((error) => console.log(error.message))
const other = new Redis(url)
await other.multi().incr('multi').incr('multi').exec().catch((error) => console.log(error.message))
console.log(await other.incr('multi'))
process.exit(0)
`
  writeFileSync(join(place, 'cache.mjs'), code)
  const { stdout } = await runs(process.execPath, [join(place, 'cache.mjs')], { env: { ...process.env, IDS_URL: url } })
  const lines = stdout.trim().split('\n')
  expect(lines[0]).toContain('CLIENT TRACKING came, and a client that caches replies would repeat ids')
  for (const line of lines.slice(1, -1)) expect(line).toMatch(/transaction|EXECABORT|aborted/i)
  expect(lines.at(-1)).toBe('1')
})

describeWith(['redisPy'], 'redis-py', () => {
  it('gets numbers and ids, also in a pipeline', async () => {
    const [code = ''] = programs('python')
    const more = `
with ids.pipeline(transaction=False) as pipe:
    for _ in range(1000):
        pipe.incr('pipeline')
    assert pipe.execute() == list(range(1, 1001))
assert ids.incrby('pipeline', 24) == 1024
try:
    ids.set('a', 'b')
    raise SystemExit('SET was not refused')
except redis.ResponseError as error:
    assert 'this is graupel-server' in str(error), error
try:
    with ids.pipeline() as pipe:
        for _ in range(3):
            pipe.incr('transaction')
        pipe.execute()
    raise SystemExit('MULTI was not refused')
except redis.ResponseError as error:
    assert 'the service has no transactions' in str(error), error
assert ids.incr('transaction') == 1
`
    const { stdout } = await runs(python, ['-c', code + more], { env: { ...process.env, IDS_URL: url } })
    expectNumbers(stdout)
  })
})

describeWith(['redis'], 'redis-cli', () => {
  it('answers the commands of the document as they are shown', async () => {
    const { stdout } = await serve(['--data', join(folder, 'cli'), '--resp', '0'])
    const port = /redis:\/\/\S+:(\d+)/.exec(stdout())?.[1] ?? ''
    const [shown = ''] = blocks.filter(({ language }) => language === 'console').map(({ code }) => code)
    const commands = [...shown.matchAll(/^\$ redis-cli -p 6380 (.*)\n(.*)$/gm)]
    expect(commands).toHaveLength(3)
    const lasting = (text: string) => text.trim().replace(/^\d{19}$/, 'ID')
    for (const [, words = '', reply = ''] of commands) {
      const { stdout } = await runs('redis-cli', ['-3', '-p', port, ...words.split(' ')])
      expect([words, lasting(stdout)]).toEqual([words, lasting(reply)])
    }
  })
})
