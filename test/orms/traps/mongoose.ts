// Proves what Mongoose and BSON make of ids, without a connection.
import mongoose from 'mongoose'

const { deserialize, Long, serialize } = mongoose.mongo.BSON
const id = 2124552026368012289n

// A bigint and a Long are the same bytes.
Buffer.compare(serialize({ id }), serialize({ id: Long.fromBigInt(id) })) // 0
// A number is a double, which is another type in queries and indexes.
serialize({ id })[4] // 18
serialize({ id: Number(id) })[4] // 1

// The driver rounds nothing: beyond 2^53 it returns a Long.
const read = deserialize(serialize({ id }))
read.id instanceof Long // true
JSON.stringify(read) // '{"id":{"high":494660815,"low":-964661247,"unsigned":false}}'
deserialize(serialize({ id }), { useBigInt64: true }) // { id: 2124552026368012289n }
deserialize(serialize({ id: 5n })) // { id: 5 }
deserialize(serialize({ id: 5n }), { useBigInt64: true }) // { id: 5n }

const Order = mongoose.model('Order', new mongoose.Schema({ _id: BigInt }))
Order.hydrate({ _id: read.id })._id // 2124552026368012289n
Order.find({ _id: '2124552026368012289' }).cast(Order) // { _id: 2124552026368012289n }
const refusal = await new (mongoose.model('Number', new mongoose.Schema({ _id: Number })))({ _id: id })
  .validate()
  .catch(String)
refusal.includes('Cast to Number failed') // true

console.log('true')
