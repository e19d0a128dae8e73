import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { layouts } from 'graupel'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listen } from './support/listening.ts'
import { folder } from './support/process.ts'

interface Media {
  readonly schema: { readonly type?: string; readonly $ref?: string }
  readonly example?: unknown
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security?: unknown
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly example: unknown
    readonly description: string
    readonly schema: Record<string, unknown>
  }[]
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content: Record<string, Media>
        readonly headers?: Record<string, unknown>
      }
    >
  >
}
interface Document {
  readonly openapi: string
  readonly components: { readonly schemas: Record<string, unknown>; readonly securitySchemes?: unknown }
  readonly security?: unknown
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, { readonly get: Operation; readonly head: Operation }>>
}

let service: Listening
let document: Document
beforeAll(async () => {
  service = await listen({ layouts: [layouts.twitter, layouts.wide] })
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
})

/** Each operation with its path. */
const operations = () => Object.entries(document.paths).map(([path, { get }]) => ({ path, operation: get }))

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)

function validate(schema: unknown, value: unknown): void {
  const isValid = ajv.validate({ ...(schema as object), components: document.components }, value)
  expect([isValid, ajv.errors]).toEqual([true, null])
}

test('the document is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toBe('3.1.0')
  expect(await new Validator().validate(structuredClone(document) as never)).toMatchObject({ valid: true })
})

test('an invalid document is found out', async () => {
  const broken = { ...structuredClone(document), paths: { ids: {} } }
  expect(await new Validator().validate(broken as never)).toMatchObject({ valid: false })
})

test('the routes of ids and the document itself are in it', () => {
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/ids', '/v1/ids/{id}', '/openapi.json']))
})

// The rules of linters that matter to generators of clients and to readers.
test('each operation has a name of its own, a summary, a tag that is described, and problems', () => {
  const names = Object.values(document.paths).flatMap(({ get, head }) => [get.operationId, head.operationId])
  expect(new Set(names).size).toBe(names.length)
  const tags = document.tags.map(({ name }) => name)
  for (const { path, operation } of operations()) {
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]+$/)
    expect(operation.summary).toMatch(/^\S.*[^.]$/)
    expect(tags).toEqual(expect.arrayContaining([...operation.tags]))
    expect(operation.responses['200']?.description).toMatch(/\S/)
    expect(Object.keys(operation.responses).some((status) => status.startsWith('4'))).toBe(true)
    const inPath = operation.parameters?.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`) ?? []
    expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath)
    for (const { description } of operation.parameters ?? []) expect(description).toMatch(/\S/)
  }
})

test('the headers of refusals are described: Retry-After, X-Request-Id and Graupel-Holder', () => {
  const { responses = {} } = document.paths['/v1/ids']?.get ?? {}
  const headersOf = (status: string) => Object.keys(responses[status]?.headers ?? {})
  expect(headersOf('400')).toEqual(['X-Request-Id'])
  expect(headersOf('503')).toEqual(['X-Request-Id', 'Retry-After', 'Graupel-Holder'])
  expect(responses['503']?.description).toContain('ERR_STANDBY')
  const { responses: ofCounter = {} } = document.paths['/v1/counters/{name}']?.get ?? {}
  expect(Object.keys(ofCounter['503']?.headers ?? {})).toEqual(['X-Request-Id', 'Retry-After'])
})

test('a store that may forget records is a described refusal of segments and counters', () => {
  for (const path of ['/v1/segments/{name}', '/v1/counters/{name}']) {
    expect(document.paths[path]?.get.responses['503']?.description).toContain('ERR_STORE_UNSAFE')
  }
})

test('each operation describes the refusals of a URL and of headers that are too long', () => {
  for (const { path, operation } of operations()) {
    const describedAs = ['408', '414', '431'].map((status) => operation.responses[status]?.description)
    expect([path, ...describedAs]).toEqual([path, 'ERR_REQUEST_TIMEOUT', 'ERR_URI_TOO_LONG', 'ERR_HEADERS_TOO_LARGE'])
  }
})

test('each path has HEAD, with the statuses and the headers of GET, and the service answers it without a body', async () => {
  for (const { path, operation } of operations()) {
    const head = document.paths[path]?.head
    expect([path, Object.keys(head?.responses ?? {})]).toEqual([path, Object.keys(operation.responses)])
    for (const [status, { headers, content }] of Object.entries(head?.responses ?? {})) {
      expect([path, headers, content]).toEqual([path, operation.responses[status]?.headers, undefined])
    }
    expect(head?.parameters).toEqual(operation.parameters)
  }
  const answer = await fetch(`${service.url}/v1/ids?count=2`, { method: 'HEAD' })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test('probes and metrics are in it', () => {
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/livez', '/readyz', '/metrics']))
  expect(Object.keys(document.paths['/readyz']?.get.responses['503']?.content ?? {})).toEqual([
    'text/plain',
    'application/json',
  ])
})

test('every described refusal exists', () => {
  for (const { path, operation } of operations()) {
    const described = Object.values(operation.responses).map(({ description }) => description)
    expect(described.join()).not.toContain('ERR_UNAUTHORIZED')
    const isLenient = operation.tags[0] === 'leaf' || ['/livez', '/readyz', '/metrics'].includes(path)
    expect(described.join().includes('ERR_NOT_ACCEPTABLE')).toBe(!isLenient)
    expect(described.join().includes('ERR_OPTION_')).toBe(!isLenient)
  }
})

test('the schemas allow the examples of parameters and answers', () => {
  let examples = 0
  for (const { operation } of operations()) {
    for (const { schema, example } of operation.parameters ?? []) validate(schema, example)
    for (const { content } of Object.values(operation.responses)) {
      for (const { schema, example } of Object.values(content)) {
        if (example === undefined) continue
        validate(schema, example)
        examples++
      }
    }
  }
  expect(examples).toBeGreaterThan(2)
})

describe('a request of each example', () => {
  test('has an answer that the schema of its representation allows', async () => {
    let answers = 0
    for (const { path, operation } of operations()) {
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
        const parameter = operation.parameters?.find((one) => one.name === name)
        return encodeURIComponent(`${parameter?.example}`)
      })
      const query = operation.parameters?.filter((one) => one.in === 'query') ?? []
      const all = query.map(({ name, example }) => `${name}=${encodeURIComponent(`${example}`)}`)
      const content = operation.responses['200']?.content ?? {}
      for (const [type, { schema }] of Object.entries(content)) {
        const format = query.find(({ name }) => name === 'format')?.example
        // The format is only for texts, or it overrides Accept.
        const isApart = format !== undefined && type !== 'application/json'
        const isNeeded = query.some(({ required }) => required)
        const queries = isApart
          ? ['']
          : [...(isNeeded ? [] : ['']), ...all.map((one) => `?${one}`), `?${all.join('&')}`]
        for (const one of new Set(queries)) {
          const answer = await fetch(`${service.url}${filled}${one}`, { headers: { accept: type } })
          expect([`${filled}${one} ${type}`, answer.status]).toEqual([`${filled}${one} ${type}`, 200])
          expect(answer.headers.get('content-type')?.split(';')[0]).toBe(type.split(';')[0])
          if (type === 'application/json') validate(schema, await answer.json())
          else expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0)
          answers++
        }
      }
    }
    expect(answers).toBeGreaterThan(5)
  })

  test('has the answer of the example, if the request makes nothing new', async () => {
    const example = document.paths['/v1/ids/{id}']?.get.responses['200']?.content['application/json']?.example
    const answer = await fetch(`${service.url}/v1/ids/${(example as { id: string }).id}`)
    expect(await answer.json()).toEqual(example)
  })

  test('that is refused has a problem that the schema allows', async () => {
    for (const path of ['/v1/ids?count=0', '/v1/ids/x', '/openapi.json?x=1', '/no']) {
      const answer = await fetch(`${service.url}${path}`)
      validate({ $ref: '#/components/schemas/Problem' }, await answer.json())
    }
  })
})

test('a service that needs a token says so', async () => {
  expect([document.security, document.components.securitySchemes]).toEqual([[], undefined])
  const token = 'x'.repeat(24)
  const tokenFile = join(folder, 'tokens')
  const other = 'y'.repeat(24)
  writeFileSync(tokenFile, `${token}\n${other} allow=leases`, { mode: 0o600 })
  const { url } = await listen({ tokenFile, leases: true })
  const answer = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  const told = (await answer.json()) as Document
  expect(told).toMatchObject({
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  })
  for (const [path, { get }] of Object.entries(told.paths)) {
    // Two routes of the store have POST alone.
    if (get === undefined) continue
    if (path === '/livez' || path === '/readyz') {
      expect([path, get.security, get.responses['401'], get.responses['403']]).toEqual([path, [], undefined, undefined])
      continue
    }
    expect(Object.keys(get.responses['401']?.headers ?? {})).toEqual(['X-Request-Id', 'WWW-Authenticate'])
    expect(get.responses['403']?.description).toBe('ERR_FORBIDDEN')
  }
  const refused = await fetch(`${url}/v1/ids`, { headers: { authorization: `Bearer ${other}` } })
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'ERR_FORBIDDEN' }])
})
