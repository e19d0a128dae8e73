// Orders in MongoDB with numbers 1, 2, 3, … beside their ids, by Mongoose. A store counts them, because
// MongoDB has no sequence.
//
//   npm pkg set type=module && npm install graupel mongoose libsql
//   MONGODB_URL=mongodb://127.0.0.1:27017/shop STORE_URL=sqlite:numbers.db npx tsx mongoose-numbers.ts
import { createGenerator } from 'graupel'
import { createSegmentGenerator, type SegmentGenerator } from 'graupel/segments'
import { openStore } from 'graupel/stores/url'
import mongoose from 'mongoose'

/** A plugin: gives each new document a number. It runs for `create`, `save` and `insertMany`. */
function numbered(schema: mongoose.Schema, { numbers }: { numbers: SegmentGenerator }) {
  schema.add({ number: { type: Number, unique: true } })
  schema.pre('validate', async function () {
    if (this.isNew && this.get('number') === undefined) this.set('number', Number(await numbers.nextAsync()))
  })
}

const { store, close } = await openStore(process.env.STORE_URL ?? 'sqlite:numbers.db')
const numbers = await createSegmentGenerator({ store, name: 'orders' })
const ids = createGenerator({ node: 7 }) // each host needs its own number

const schema = new mongoose.Schema<{ _id: bigint; item: string; number?: number }>({
  _id: { type: BigInt, default: ids.next },
  item: { type: String, required: true },
})
schema.plugin(numbered, { numbers })
const Order = mongoose.model('Order', schema)

await mongoose.connect(process.env.MONGODB_URL ?? '', { useBigInt64: true })
const first = await Order.create({ item: 'tea' })
const [second, third] = await Order.insertMany([{ item: 'milk' }, { item: 'sugar' }])
const following = [second?.number, third?.number].map((number) => Number(number) - Number(first.number))
following.join(' ') // '1 2'

console.log(JSON.stringify({ id: String(first._id), item: first.item, number: first.number }))
await mongoose.disconnect()
numbers.close()
await close()
