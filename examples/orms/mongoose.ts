// Orders in MongoDB, by Mongoose.
//
//   npm pkg set type=module && npm install graupel mongoose
//   MONGODB_URL=mongodb://127.0.0.1:27017/shop npx tsx mongoose.ts
import { composeId, createGenerator } from 'graupel'
import mongoose from 'mongoose'

const ids = createGenerator({ node: 7 }) // each host needs its own number

const Order = mongoose.model(
  'Order',
  new mongoose.Schema(
    { _id: { type: BigInt, default: ids.next }, item: { type: String, required: true } },
    { toJSON: { transform: (_, order) => ({ id: String(order._id), item: order.item }) } },
  ),
)

// With useBigInt64 lean queries and aggregations return bigints; without it, they return objects of the class
// Long.
await mongoose.connect(process.env.MONGODB_URL ?? '', { useBigInt64: true })

const order = await Order.create({ item: 'tea' })
typeof order._id // 'bigint'

const found = await Order.findById(order._id)
found?._id === order._id // true
const lean = await Order.findById(order._id).lean()
lean?._id === order._id // true

// The orders of the last hour.
const idAt = (timestampMs: number) => composeId({ timestampMs, node: 0 }, ids.layout)
const now = Date.now()
const recent = await Order.find({ _id: { $gte: idAt(now - 3_600_000), $lt: idAt(now + 1000) } })
recent.some(({ _id }) => _id === order._id) // true

console.log(JSON.stringify(found))
await mongoose.disconnect()
