import { defineLayout, layouts } from 'graupel'
import { afterAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { startService } from './support/in-process.ts'
import { command, RespClient } from './support/resp.ts'

// A request asks for no more ids than a node makes of the layout in 10 s: a connection on which nothing moves
// is closed after 30 s.

/** Has 1024 ids a second. */
const slow = defineLayout({
  name: 'slow',
  epochMs: Date.UTC(2024, 0),
  tickMs: 1000,
  fields: [
    ['timestamp', 32],
    ['node', 10],
    ['sequence', 10],
  ],
})
/** Has 64 ids a second. */
const slower = defineLayout({
  name: 'slower',
  epochMs: Date.UTC(2024, 0),
  tickMs: 1000,
  fields: [
    ['timestamp', 32],
    ['node', 10],
    ['sequence', 6],
  ],
})
const { app, respUrl } = await startService({ resp: 0, layouts: [layouts.twitter, slow, slower] })
const client = await RespClient.open(respUrl)
afterAll(() => client.socket.destroy())

const head = (query: string) => app.inject({ method: 'HEAD', url: `/v1/ids?${query}` })

test.each([
  ['layout=slow', 10_240],
  ['layout=slower', 640],
  ['layout=twitter', 65_536],
])('the most ids of a request with %s are %i', async (query, maximum) => {
  expect((await head(`${query}&count=${maximum}`)).statusCode).toBe(200)
  const refused = await app.inject(`/v1/ids?${query}&count=${maximum + 1}`)
  expect([refused.statusCode, refused.json()]).toMatchObject([
    400,
    { code: 'ERR_OPTION_INVALID', parameter: 'count', minimum: 1, maximum },
  ])
})

test('the most ids of ID.NEXT depend on the layout, too', async () => {
  const detail = 'ERR_OPTION_INVALID n is "10241"; give a whole number from 1 to 10240'
  await expect(client.ask('ID.NEXT', 10_241, 'LAYOUT', 'slow')).rejects.toThrow(detail)
  expect(await client.ask('ID.NEXT', 10_241)).toHaveLength(10_241)
})

test('the OpenAPI document has the most ids of the fastest layout', async () => {
  const own = await startService({ layouts: [slower, slow] }, { listens: false })
  const { parameters } = (await own.app.inject('/openapi.json')).json().paths['/v1/ids'].get
  const count = parameters.find(({ name }: { name: string }) => name === 'count')
  expect(count.schema).toMatchObject({ minimum: 1, maximum: 10_240, default: 1 })
})

test('requests together wait for no more ids than two of the largest', async () => {
  const own = await startService({ layouts: [slow] }, { listens: false })
  const source = own.service.ids.get('slow') as NonNullable<ReturnType<typeof own.service.ids.get>>
  const waiting: (() => void)[] = []
  source.fill = (array) => new Promise((resolve) => waiting.push(() => resolve(array)))
  const ask = () => own.app.inject('/v1/ids?count=10240')
  const two = [ask(), ask()]
  await until(() => waiting.length === 2)
  expect((await ask()).json()).toMatchObject({ code: 'ERR_OVERLOADED' })
  for (const resolve of waiting) resolve()
  for (const answer of two) expect((await answer).statusCode).toBe(200)
})

test('more commands of one read than may wait are answered by several batches', async () => {
  const own = await startService({ resp: 0, layouts: [slower] })
  const source = own.service.ids.get('slower') as NonNullable<ReturnType<typeof own.service.ids.get>>
  let last = 0n
  source.fill = async (array) => array.map(() => ++last)
  const many = await RespClient.open(own.respUrl)
  const answers = await many.send(command('GET', 'id:slower').repeat(2000), 2000)
  expect(answers).toEqual(Array.from({ length: 2000 }, (_, index) => `${index + 1}`))
  many.socket.destroy()
})
