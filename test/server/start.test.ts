import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, nodeOf, run, serve } from './support/process.ts'

// One service from its start to its end. The long tests have other starts.

test('it prints its address, node, store and example URLs, and logs the events of its lease', async () => {
  const data = join(folder, 'data')
  const { url, child, ended, stdout, stderr } = await serve(['--data', data])
  await until(() => stdout().endsWith('/openapi.json\n'))
  const [first, ...others] = stdout().split('\n')
  expect(first).toMatch(/^graupel-server http:\/\/127\.0\.0\.1:\d+, node \d+ \(twitter\), sqlite:\S.*graupel\.db$/)
  expect(first).toContain(data)
  expect(others).toEqual([`  ${url}/v1/ids?count=3`, `  ${url}/v1/segments/orders`, `  ${url}/openapi.json`, ''])
  for (const line of others.slice(0, 3)) expect((await fetch(line.trim())).status).toBe(200)
  expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok\n')
  // Only the service's user may read the numbers.
  expect(statSync(data).mode & 0o777).toBe(0o700)
  expect(statSync(join(data, 'graupel.db')).mode & 0o777).toBe(0o600)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  const lines = stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the service starts',
    expect.stringMatching(/^the store has no records, so all numbers and counts begin; /),
    'lease: acquired',
    'the service is being shut down',
    'lease: released',
  ])
  const store = `sqlite:${join(data, 'graupel.db')}`
  expect(lines[0]).toMatchObject({
    level: 30,
    event: 'start',
    layouts: ['twitter'],
    nodeSource: 'any free node',
    store,
  })
  expect(lines[1]).toMatchObject({ level: 40, event: 'new store', store })
  const place = `file ${join(data, 'graupel.db')}, table graupel_store`
  const node = Number(nodeOf(stdout()))
  expect(lines[2]).toMatchObject({ level: 30, event: 'acquired', node, layout: 'twitter', place })
})

test('it does not start with a database in which a bit was flipped, even if that hides a record', async () => {
  const data = join(folder, 'flipped')
  const first = await serve(['--data', data, '--drain-ms', '0'])
  for (const name of ['bills', 'orders']) await fetch(`${first.url}/v1/counters/${name}`)
  first.child.kill('SIGTERM')
  await first.ended
  const file = join(data, 'graupel.db')
  const whole = readFileSync(file)
  for (const [text, byte] of [
    ['numbers/bills', 'c'],
    ['"count":1', 'd'],
  ] as const) {
    const bytes = Buffer.from(whole)
    bytes.write(byte, bytes.indexOf(text) + (text.startsWith('"') ? 1 : 8))
    writeFileSync(file, bytes)
    const { ended, stderr } = run(['--port', '0', '--data', data])
    expect(await ended).toBe(1)
    expect(stderr()).toMatch(
      /^graupel-server: sqlite:\S+: the .* is damaged: .*; restore a backup; .* \(ERR_DATA_UNAVAILABLE\)$/m,
    )
  }
})
