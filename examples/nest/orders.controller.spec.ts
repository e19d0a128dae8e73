import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { testGenerator } from 'graupel/testing'
import { AppModule } from './app.module'
import { IDS } from './ids.module'

describe('orders', () => {
  let app: INestApplication

  beforeAll(async () => {
    process.env.DATABASE_FILE = ':memory:'
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(IDS) // so no store is opened
      .useValue(testGenerator({ node: 3 }))
      .compile()
    app = module.createNestApplication()
    await app.listen(0)
  })
  afterAll(() => app.close())

  it('have ids that a test knows', async () => {
    const order = { id: '2006515713438658560', item: 'tea' }
    const made = await fetch(`${await app.getUrl()}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ item: 'tea' }),
    })
    expect(await made.json()).toEqual(order)
    const found = await fetch(`${await app.getUrl()}/orders/${order.id}`)
    expect(await found.json()).toEqual({ ...order, createdAt: '2026-01-01T00:00:00.000Z' })
  })
})
