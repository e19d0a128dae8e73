import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, serve } from './support/process.ts'

let folders = 0
const dataFolder = () => join(folder, `data ${folders++}`)

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text()
}

/** The node of the first line. */
function nodeOf(stdout: string): string {
  return /, nodes? ([\d, ]+) \(/.exec(stdout)?.[1] ?? ''
}

async function stop({ child, ended }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  child.kill('SIGINT')
  expect(await ended).toBe(0)
}

test('it says where it listens, which node and store it has, and what to try', async () => {
  const data = dataFolder()
  const service = await serve(['--data', data])
  const { url } = service
  await until(() => service.stdout().endsWith('/openapi.json\n'))
  const [first, ...others] = service.stdout().split('\n')
  expect(first).toMatch(/^graupel-server http:\/\/127\.0\.0\.1:\d+, node \d+ \(twitter\), sqlite:\S.*graupel\.db$/)
  expect(first).toContain(data)
  expect(others).toEqual([`  ${url}/v1/ids?count=3`, `  ${url}/v1/segments/orders`, `  ${url}/openapi.json`, ''])
  for (const line of others.slice(0, 3)) expect((await fetch(line.trim())).status).toBe(200)
  expect(await textOf(`${url}/readyz`)).toBe('ok\n')
})

test('its database is readable by its user alone', async () => {
  const data = dataFolder()
  await serve(['--data', data])
  expect(statSync(data).mode & 0o777).toBe(0o700)
  expect(statSync(join(data, 'graupel.db')).mode & 0o777).toBe(0o600)
})

test('after a restart it has the node of before, and numbers go on', async () => {
  const flags = ['--data', dataFolder()]
  const first = await serve(flags)
  expect(await textOf(`${first.url}/v1/counters/invoices?count=2`)).toBe('{"counts":["1","2"]}')
  await stop(first)
  const second = await serve(flags)
  expect(nodeOf(second.stdout())).toBe(nodeOf(first.stdout()))
  expect(await textOf(`${second.url}/v1/counters/invoices`)).toBe('{"counts":["3"]}')
})

test('two on one folder have different nodes, and share numbers', async () => {
  const flags = ['--data', dataFolder()]
  const both = await Promise.all([serve(flags), serve(flags)])
  expect(nodeOf(both[0].stdout())).not.toBe(nodeOf(both[1].stdout()))
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { url } = both[i % 2] as (typeof both)[0]
      const { counts } = (await (await fetch(`${url}/v1/counters/invoices`)).json()) as { counts: string[] }
      return Number(counts[0])
    }),
  )
  expect(answers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
})

test('what happens to its lease is logged as JSON', async () => {
  const service = await serve(['--data', dataFolder()])
  await stop(service)
  const lines = service
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ msg }) => msg)).toEqual(['lease: acquired', 'the service is being shut down', 'lease: released'])
  expect(lines[0]).toMatchObject({
    level: 30,
    event: 'acquired',
    node: Number(nodeOf(service.stdout())),
    layout: 'twitter',
  })
})
