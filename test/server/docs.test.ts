import { expect, it, vi } from 'vitest'
import { statuses } from '../../server/src/http/problems.ts'
import { helpText } from '../../server/src/options/help.ts'
import { checkConnectOptions } from '../../src/client/options.ts'
import { checkCounterOptions } from '../../src/counter/resolve.ts'
import { layouts } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { read } from '../support/documents.ts'
import { serve } from './support/process.ts'

// Compares tables in the documents of the service with the code. docs.long.test.ts runs the code in the
// documents.

/** Returns the cells of the rows of the table with this head. */
function tableBelow(file: string, head: string): string[][] {
  const [, text] = read(file).split(`\n${head}\n`)
  const [rows = ''] = (text ?? '').split('\n\n')
  return rows
    .trim()
    .split('\n')
    .slice(1)
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

it('docs/service-operations.md has the options of --help', () => {
  vi.stubEnv('XDG_STATE_HOME', '')
  const help = helpText().replace(/\n {20,}/g, ' ')
  const options = help.matchAll(/^ {2}(-\S.*?) {2,}(\S.*)$/gm)
  vi.unstubAllEnvs()
  const rows = [...options].map(([, flag, help]) => [`\`${flag}\``, help])
  expect(rows.length).toBeGreaterThan(20)
  expect(tableBelow('docs/service-operations.md', '| option | what it is (its default) |')).toEqual(rows)
})

it('docs/service.md has the codes of refusals with their statuses', () => {
  const told = tableBelow('docs/service.md', '| status | codes | what to do |').flatMap(([status, codes = '']) =>
    [...codes.matchAll(/\w+/g)].map(([code]) => [code, Number(status)]),
  )
  expect(Object.fromEntries(told)).toEqual(statuses)
})

it('docs/service.md has the routes and parameters of the OpenAPI document, and other existing routes', async () => {
  const { url } = await serve()
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get: { parameters?: { name: string; in: string }[] } }>
  }
  const rows = Object.entries(paths).map(([path, { get }]) => {
    const names = (get.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => `\`${name}\``)
    return [path, names.toSorted().join(', ')]
  })
  const told = tableBelow('docs/service.md', '| route | parameters | answer |').map(([path = '', names]) => [
    path.slice(1, -1),
    names,
  ])
  expect(told).toEqual(expect.arrayContaining(rows))
  for (const [path = ''] of told) {
    if (!Object.hasOwn(paths, path)) expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
  }
})

it('docs/service-operations.md has the ids a second of the layouts in use', () => {
  const usable = Object.values(layouts).filter(
    ({ expiresAt, decodeOnly }) => !decodeOnly && expiresAt.getTime() > Date.now(),
  )
  const format = (value: number) => value.toLocaleString('en').replaceAll(',', ' ')
  const rows = tableBelow('docs/service-operations.md', '| layout | ids a second of a node | nodes |')
  const told = rows.flatMap(([names = '', ids, nodes]) =>
    [...names.matchAll(/\w+/g)].map(([name]) => [name, ids, nodes]),
  )
  expect(told.toSorted()).toEqual(
    usable.map(({ name, idsPerSecond, nodes }) => [name, format(idsPerSecond), format(nodes)]).toSorted(),
  )
})

it('docs/service-deployment.md has the metrics', async () => {
  const { url } = await serve()
  const text = await (await fetch(`${url}/metrics`)).text()
  const names = [...text.matchAll(/^# TYPE (graupel_\w+)/gm)].map(([, name]) => name)
  const told = tableBelow('docs/service-deployment.md', '| metric | labels | what it says |').flatMap(
    ([cell = '']) => cell.match(/graupel_\w+/g) ?? [],
  )
  expect(told.toSorted()).toEqual(names.toSorted())
})

it('docs/service-deployment.md has a section for each alert, and each alert has a link to its section', () => {
  const rules = read('server/deploy/prometheus/rules.yaml')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  const links = [...rules.matchAll(/^ +runbook_url: (.+)$/gm)].map(([, link]) => link)
  expect(links).toEqual(alerts.map((name) => `docs/service-deployment.md#${name.toLowerCase()}`))
  const sections = [...read('docs/service-deployment.md').matchAll(/^### (Graupel\w+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual(alerts)
})

it('clients and examples wait longer than the service does before it refuses a count', () => {
  const { callTimeoutMs } = checkCounterOptions({ store: memoryStore(), name: 'invoices' })
  // A counter repeats a write whose outcome is not known for two time limits of a call.
  const refusedMs = 2 * callTimeoutMs
  const client = checkConnectOptions({ url: 'http://127.0.0.1:4728' })
  expect(client.callTimeoutMs).toBeGreaterThan(refusedMs)
  const seconds = [...read('docs/service.md').matchAll(/timeout=(\d+)|ofSeconds\((\d+)\)|Timeout: (\d+) \* time/g)]
  expect(seconds).toHaveLength(3)
  for (const [, ...found] of seconds) expect(1000 * Number(found.find((one) => one))).toBeGreaterThan(refusedMs)
  const [, waitMs] = /maxWaitMs: (\d+)/.exec(read('examples/client.mjs')) ?? []
  expect(Number(waitMs)).toBeGreaterThan(refusedMs)
})
