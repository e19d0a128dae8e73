// Proves when TypeORM makes ids, on PostgreSQL.
import 'reflect-metadata'
import { createGenerator } from 'graupel'
import { BeforeInsert, DataSource, Entity, ManyToOne, PrimaryColumn } from 'typeorm'

const ids = createGenerator({ node: 7 })

@Entity('orders')
class ByHook {
  @PrimaryColumn('bigint')
  id: string

  @BeforeInsert()
  setId() {
    this.id ??= ids.nextString()
  }
}

@Entity('others')
class ByField {
  @PrimaryColumn('bigint')
  id = ids.nextString()
}

@Entity('bigints')
class ByTransformer {
  @PrimaryColumn('bigint', { transformer: { to: String, from: (id) => (id === null ? null : BigInt(id)) } })
  id: bigint
}

@Entity('lines')
class Line {
  @PrimaryColumn('int')
  number: number

  @ManyToOne(() => ByTransformer)
  order: ByTransformer | null
}

const entities = [ByHook, ByField, ByTransformer, Line]
const url = process.env.DATABASE_URL
const source = await new DataSource({ type: 'postgres', url, entities, synchronize: true }).initialize()

const byHook = source.getRepository(ByHook)
typeof (await byHook.save(byHook.create())).id // 'string'
const refused = (promise) => promise.then(String, (error) => error.message.includes('null value in column "id"'))
await refused(byHook.save({})) // true
await refused(byHook.insert({})) // true

const byField = source.getRepository(ByField)
await byField.save([new ByField(), new ByField()])
const before = ids.stats().issued
await byField.find()
ids.stats().issued - before // 2

const byTransformer = source.getRepository(ByTransformer)
await byTransformer.insert({ id: 2124552026368012289n })
const found = await byTransformer.findOneByOrFail({ id: 2124552026368012289n })
found.id // 2124552026368012289n
const lines = source.getRepository(Line)
await lines.save([
  { number: 1, order: found },
  { number: 2, order: null },
])
const read = await lines.find({ relations: { order: true }, order: { number: 'ASC' } })
read[0].order.id // 2124552026368012289n
read[1].order // null

await source.destroy()
console.log('true')
