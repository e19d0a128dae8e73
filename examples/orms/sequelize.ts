// Orders in PostgreSQL or MySQL, by Sequelize.
//
//   npm pkg set type=module && npm install graupel sequelize pg
//   DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npx tsx sequelize.ts
//
// For MySQL: install mysql2, and set DATABASE_URL=mysql://root@127.0.0.1:3306/test.
import { composeId, createGenerator } from 'graupel'
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Op,
  Sequelize,
} from 'sequelize'

const ids = createGenerator({ node: 7 }) // each host needs its own number
const db = new Sequelize(process.env.DATABASE_URL ?? '', { logging: false })

class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<string>
  declare item: string
}
Order.init(
  {
    id: { type: DataTypes.BIGINT, primaryKey: true, defaultValue: () => ids.nextString() },
    item: { type: DataTypes.TEXT, allowNull: false },
  },
  { sequelize: db, tableName: 'orders', timestamps: false },
)
await db.sync() // in an app this is a migration

const order = await Order.create({ item: 'tea' })
typeof order.id // 'string'

const found = await Order.findByPk(order.id)
found?.id === order.id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => String(composeId({ timestampMs, node: 0 }, ids.layout))
const now = Date.now()
const recent = await Order.findAll({ where: { id: { [Op.gte]: idAt(now - 3_600_000), [Op.lt]: idAt(now + 1000) } } })
recent.some(({ id }) => id === order.id) // true

console.log(JSON.stringify(found))
await db.close()
