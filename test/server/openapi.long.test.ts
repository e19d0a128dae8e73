import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installOnce } from '../package/consumer.ts'
import { listen } from './support/listening.ts'
import { folder } from './support/process.ts'

// It has a TypeScript of its own, because generators need an API that TypeScript 7 lacks.
const tools = installOnce('test/server/generator', ['--ignore-scripts'])
const run = (file: string, ...words: string[]) => {
  const { status, stdout } = spawnSync(process.execPath, [join(tools, file), ...words], {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return { status, stdout }
}

const use = `
import type { components, operations, paths } from './api'
type Answer<P extends keyof paths> = paths[P]['get']['responses'] extends { 200: { content: { 'application/json': infer T } } } ? T : never
export const ids: Answer<'/v1/ids'> = { ids: ['1'] }
export const node: number = ({} as Answer<'/v1/ids/{id}'>).node
export const query: operations['getIds']['parameters']['query'] = { count: 3, format: 'hex' }
export const problem: components['schemas']['Problem']['code'] = 'ERR_LEASE_EXPIRED'
// @ts-expect-error: the document has no such format
export const wrong: operations['getIds']['parameters']['query'] = { format: 'xml' }
// @ts-expect-error: the path needs an id
export const missing: operations['decodeId']['parameters']['path'] = {}
`

test.each(['without a token', 'with a token'])('the rules that Redocly recommends find no fault, %s', async (kind) => {
  const token = 'x'.repeat(24)
  const tokenFile = join(folder, 'tokens')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const { url } = await listen(kind === 'with a token' ? { tokenFile } : {})
  const file = join(folder, 'linted.json')
  const headers = { authorization: `Bearer ${token}` }
  const text = await (await fetch(`${url}/openapi.json`, { headers })).text()
  const lint = (content: string) => {
    writeFileSync(file, content)
    const words = ['lint', file, '--extends=recommended', '--format=json']
    const { status, stdout } = run('@redocly/cli/bin/cli.js', ...words)
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string }[] }
    return { status, problems: problems.map(({ ruleId, message }) => `${ruleId}: ${message}`) }
  }
  expect(lint(text)).toEqual({ status: 0, problems: [] })
  const { security, ...broken } = JSON.parse(text)
  expect(lint(JSON.stringify(broken)).problems.join()).toContain('security-defined')
})

test('a generator makes types of the document, and programs that use them compile', async () => {
  const { url } = await listen()
  const project = join(folder, 'generated')
  mkdirSync(project)
  writeFileSync(join(project, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text())
  run('openapi-typescript/bin/cli.js', join(project, 'openapi.json'), '--output', join(project, 'api.d.ts'))
  writeFileSync(join(project, 'use.ts'), use)
  const compile = () => run('typescript/bin/tsc', '--noEmit', '--strict', join(project, 'use.ts'))
  expect(compile()).toEqual({ status: 0, stdout: '' })
  writeFileSync(join(project, 'use.ts'), use.replaceAll('// @ts-expect-error', '//'))
  expect(compile().stdout).toMatch(/"xml".*'id' is missing/s)
})
