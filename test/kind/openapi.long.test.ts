import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { layouts } from 'graupel'
import { defineKind } from 'graupel/kind'
import { beforeAll, expect, it } from 'vitest'
import { folderWith, linkPackages } from '../examples/app.ts'
import { blocksOf, repository } from '../support/documents.ts'

// Runs the TypeScript of docs/kinds.md: the types, and the recipe with zod and OpenAPI. zod, the JSON Schemas
// of the document and the kinds have to agree on every value.

const [types = '', recipe = ''] = blocksOf('docs/kinds.md')
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => code)

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const product = defineKind({ prefix: 'prd', layout: layouts.twitter })
const keys = { a: Uint8Array.from({ length: 16 }, (_, i) => i) }
const invoice = defineKind({ prefix: 'inv', layout: layouts.twitter, keys })
const ids = [0n, 7n, 1541815603606036480n, 2n ** 63n - 1n]
const values: unknown[] = [
  ...ids.flatMap((id) => [order.text(id), product.text(id), invoice.text(id)]),
  'ord_8000000000000',
  'ord_1ASD13XH1F800',
  'ord_1asd13xh1f80u',
  'ord_1asd13xh1f80',
  'ord_1asd13xh1f8000',
  ' ord_1asd13xh1f800',
  'ord_1asd13xh1f800\n',
  'ord-1asd13xh1f800',
  'inv_0123456789abcdefghjkmnpqrs',
  '1541815603606036480',
  '',
  1541815603606036,
  null,
  ['ord_1asd13xh1f800'],
]

const app = `
import { readFileSync } from 'node:fs'
import { layouts } from 'graupel'
import { defineKind, type Kind } from 'graupel/kind'
import { document, idOf, NewOrder, Order, Parameters, place, Query, textOf } from './recipe.js'
import './types.js'

const keys = { a: Uint8Array.from({ length: 16 }, (_, i) => i) }
const invoice = defineKind({ prefix: 'inv', layout: layouts.twitter, keys })
const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const product = defineKind({ prefix: 'prd', layout: layouts.twitter })

// The types that zod infers.
export const id: Kind.Id<typeof order> = Parameters.parse({ id: 'ord_1asd13xh1f800' }).id
export const text: Kind.Text<typeof order> = textOf(order).parse('ord_1asd13xh1f800')
// @ts-expect-error the id of an order is no id of a product
product.text(id)
// @ts-expect-error nor is its text
text satisfies Kind.Text<typeof product>

const zero = 'ord_0000000000000'
const values: unknown[] = JSON.parse(readFileSync('values.json', 'utf8'))
const verdicts = values.map((value) => ({
  path: Parameters.safeParse({ id: value }).success,
  query: Query.safeParse({ after: value }).success,
  body: NewOrder.safeParse({ product: value, pieces: 1 }).success,
  response: Order.safeParse({ id: value, product: 'prd_0000000000000', pieces: 1 }).success,
  opaque: [textOf(invoice), idOf(invoice)].map((schema) => schema.safeParse(value).success),
}))
const placed = place({ product: 'prd_1asd13xh1f800', pieces: 3 })
console.log(JSON.stringify({ document, verdicts, placed, read: String(id), without: Query.safeParse({}).success }))
`

const folder = folderWith()
beforeAll(() => linkPackages(folder), 600_000)

it('zod, the JSON Schemas of the OpenAPI document and the kinds agree on every value', async () => {
  expect([types.includes('order.ids('), recipe.includes("from 'zod'")]).toEqual([true, true])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  writeFileSync(join(folder, 'values.json'), JSON.stringify(values))
  for (const [name, code] of Object.entries({ types, recipe, app })) writeFileSync(join(folder, `${name}.ts`), code)
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(run(join(repository, 'node_modules/typescript/bin/tsc')).stdout).toBe('')
  const { stdout, stderr } = run('app.js')
  expect(stderr).toBe('')
  const { document, verdicts, placed, read, without } = JSON.parse(stdout)

  const { '/orders': orders, '/orders/{id}': one } = document.paths
  const schemaIn = ({ content }: { content: Record<string, { schema: object }> }) => content['application/json']?.schema
  const ajv = new Ajv2020()
  const [path, query, body, response, list] = [
    one.get.parameters[0].schema,
    orders.get.parameters[0].schema,
    schemaIn(orders.post.requestBody),
    schemaIn(one.get.responses[200]),
    schemaIn(orders.get.responses[200]),
  ].map((schema) => ajv.compile(schema as object))
  const expected = values.map((value) => ({
    path: order.is(value),
    query: order.is(value),
    body: product.is(value),
    response: order.is(value),
  }))
  expect(expected.filter((verdict) => verdict.path)).toHaveLength(ids.length)
  const byAjv = values.map((value) => {
    const answer = { id: value, product: 'prd_0000000000000', pieces: 1 }
    expect(list?.([answer])).toBe(response?.(answer))
    return {
      path: path?.(value),
      query: query?.(value),
      body: body?.({ product: value, pieces: 1 }),
      response: response?.(answer),
    }
  })
  expect(byAjv).toEqual(expected)
  const opaque = values.map((value) => [invoice.is(value), invoice.is(value)])
  expect(verdicts).toEqual(expected.map((verdict, i) => ({ ...verdict, opaque: opaque[i] })))
  expect([read, without]).toEqual(['1541815603606036480', true])
  expect(response?.(placed)).toBe(true)
  expect(placed).toMatchObject({ product: 'prd_1asd13xh1f800', pieces: 3 })
  expect(order.is(placed.id)).toBe(true)

  // Last, because the validator changes the document.
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
})
