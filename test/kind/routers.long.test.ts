import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { folderWith, linkPackages } from '../examples/app.ts'
import { repository } from '../support/documents.ts'

/** An app of Hono, whose validator takes any Standard Schema. It calls itself and prints the answers. */
const hono = `import { sValidator } from '@hono/standard-validator'
import { layouts } from 'graupel'
import { defineKind, idSchema, type Kind } from 'graupel/kind'
import { Hono } from 'hono'

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const user = defineKind({ prefix: 'usr', layout: layouts.twitter })
const ship = (text: Kind.Text<typeof order>) => order.id(text).toString()
const remove = (text: Kind.Text<typeof user>) => user.id(text)

const app = new Hono()
  .post('/typed', sValidator('json', order.schema), (c) => {
    // @ts-expect-error an order is no user
    c.req.path === '' && remove(c.req.valid('json'))
    return c.json({ id: ship(c.req.valid('json')) })
  })
  .post('/plain', sValidator('json', idSchema(layouts.twitter)), (c) => c.json({ next: String(c.req.valid('json') + 1n) }))

const answers = []
for (const text of ['ord_1asd13xh1f800', 'usr_1asd13xh1f800', 'ord_8000000000000', 5]) {
  const headers = { 'content-type': 'application/json' }
  const answer = await app.request('/typed', { method: 'POST', headers, body: JSON.stringify(text) })
  answers.push([answer.status, await answer.json()])
}
for (const text of ['1541815603606036480', '9223372036854775808']) {
  const headers = { 'content-type': 'application/json' }
  const answer = await app.request('/plain', { method: 'POST', headers, body: JSON.stringify(text) })
  answers.push([answer.status, await answer.json()])
}
console.log(JSON.stringify(answers))
`

/** A router of tRPC, whose input may be any Standard Schema. */
const trpc = `import { initTRPC } from '@trpc/server'
import { layouts } from 'graupel'
import { defineKind, idSchema } from 'graupel/kind'

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const { procedure, router, createCallerFactory } = initTRPC.create()
const app = router({
  typed: procedure.input(order.schema).query(({ input }) => order.id(input).toString()),
  plain: procedure.input(idSchema(layouts.twitter)).query(({ input }) => String(input + 1n)),
})
const caller = createCallerFactory(app)({})
// @ts-expect-error a string is no text of the kind
const wrong = () => caller.typed(5)

const answers = []
for (const text of ['ord_1asd13xh1f800', 'usr_1asd13xh1f800']) {
  answers.push(await caller.typed(text as 'ord' & typeof text as never).catch(String))
}
for (const text of ['1541815603606036480', '9223372036854775808']) answers.push(await caller.plain(text).catch(String))
console.log(JSON.stringify(answers))
export { wrong }
`

const folder = folderWith()
beforeAll(() => linkPackages(folder), 600_000)

/** Compiles an app in strict mode, runs it, and returns what it prints. */
function answersOf(app: string) {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  writeFileSync(join(folder, 'app.ts'), app)
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['app.ts'] }))
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  expect(run(join(repository, 'node_modules/typescript/bin/tsc')).stdout).toBe('')
  const { stdout, stderr } = run('app.js')
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

it('the validator of Hono passes texts of a kind to handlers by their type, and refuses others', () => {
  const answers = answersOf(hono)
  expect(answers[0]).toEqual([200, { id: '1541815603606036480' }])
  expect(answers.slice(1).map(([status]: [number]) => status)).toEqual([400, 400, 400, 200, 400])
  expect(answers[4][1]).toEqual({ next: '1541815603606036481' })
  expect(JSON.stringify(answers[5])).toContain('ERR_ID_INVALID')
  expect(JSON.stringify(answers[1])).toContain("begins with 'ord_'")
  expect(JSON.stringify(answers[2])).toContain('64 bits')
})

it('tRPC passes texts of a kind and ids to procedures by their type, and refuses others', () => {
  const [typed, other, plain, wide] = answersOf(trpc)
  expect([typed, plain]).toEqual(['1541815603606036480', '1541815603606036481'])
  expect(other).toContain("begins with 'ord_'")
  expect(wide).toContain('9223372036854775808')
})
