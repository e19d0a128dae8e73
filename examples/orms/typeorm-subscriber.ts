// Orders in PostgreSQL, by TypeORM, with ids by a subscriber that gets its generator from outside.
//
//   npm pkg set type=module && npm install graupel typeorm reflect-metadata pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx typeorm-subscriber.ts
//
// It needs "experimentalDecorators": true in tsconfig.json.
import 'reflect-metadata'
import { createGenerator, type IdGenerator } from 'graupel'
import { Column, DataSource, Entity, type EntitySubscriberInterface, type InsertEvent, PrimaryColumn } from 'typeorm'

@Entity('orders')
class Order {
  @PrimaryColumn('bigint')
  id!: string

  @Column('text')
  item!: string
}

/** Gives an id to each new row of these entities. */
class IdSubscriber implements EntitySubscriberInterface {
  constructor(
    private readonly ids: Pick<IdGenerator, 'nextString'>,
    private readonly entities: readonly unknown[],
  ) {}

  beforeInsert({ entity, metadata }: InsertEvent<{ id?: string }>) {
    if (this.entities.includes(metadata.target)) entity.id ??= this.ids.nextString()
  }
}

const ids = createGenerator({ node: 7 }) // each host needs its own number; a test passes testGenerator()
const url = process.env.DATABASE_URL
// In an app migrations do what synchronize does here.
const source = new DataSource({ type: 'postgres', url, entities: [Order], synchronize: true })
await source.initialize()
source.subscribers.push(new IdSubscriber(ids, [Order])) // in NestJS, the constructor of a provider does it
const orders = source.getRepository(Order)

// Plain objects get an id, too, by save() and by insert().
const order = await orders.save({ item: 'tea' })
typeof order.id // 'string'
const { identifiers } = await orders.insert([{ item: 'milk' }, { item: 'sugar' }])
identifiers.length // 2

const found = await orders.find({ order: { id: 'ASC' } })
found.map(({ item }) => item).join() // 'tea,milk,sugar'
found.map(({ id }) => id).join() === [order, ...identifiers].map(({ id }) => id).join() // true

console.log(JSON.stringify(found[0]))
await source.destroy()
