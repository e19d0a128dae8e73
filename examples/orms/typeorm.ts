// Orders in PostgreSQL or MySQL, by TypeORM.
//
//   npm pkg set type=module && npm install graupel typeorm reflect-metadata pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx typeorm.ts
//
// It needs "experimentalDecorators": true in tsconfig.json. For MySQL: install mysql2, and set
// DATABASE_TYPE=mysql.
import 'reflect-metadata'
import { composeId, createGenerator } from 'graupel'
import {
  And,
  BeforeInsert,
  Column,
  DataSource,
  Entity,
  LessThan,
  ManyToOne,
  MoreThanOrEqual,
  PrimaryColumn,
} from 'typeorm'

const ids = createGenerator({ node: 7 }) // each host needs its own number

/** The base class of all entities with such an id. */
abstract class WithId {
  @PrimaryColumn('bigint')
  id!: string

  @BeforeInsert()
  setId() {
    this.id ??= ids.nextString()
  }
}

@Entity('customers')
class Customer extends WithId {
  @Column('text')
  name!: string
}

@Entity('orders')
class Order extends WithId {
  @Column('text')
  item!: string

  @ManyToOne(() => Customer)
  customer!: Customer
}

const type = (process.env.DATABASE_TYPE ?? 'postgres') as 'postgres' | 'mysql'
const url = process.env.DATABASE_URL
// In an app migrations do what synchronize does here.
const source = new DataSource({ type, url, entities: [Customer, Order], synchronize: true })
await source.initialize()
const customers = source.getRepository(Customer)
const orders = source.getRepository(Order)

// create() makes instances of the class. save() and insert() of plain objects do not call setId.
const customer = await customers.save(customers.create({ name: 'Ann' }))
const order = await orders.save(orders.create({ item: 'tea', customer }))
typeof order.id // 'string'

const found = await orders.findOneOrFail({ where: { id: order.id }, relations: { customer: true } })
found.id === order.id // true
found.customer.id === customer.id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => String(composeId({ timestampMs, node: 0 }, ids.layout))
const now = Date.now()
const recent = await orders.findBy({ id: And(MoreThanOrEqual(idAt(now - 3_600_000)), LessThan(idAt(now + 1000))) })
recent.some(({ id }) => id === order.id) // true

console.log(JSON.stringify({ id: found.id, item: found.item }))
await source.destroy()
