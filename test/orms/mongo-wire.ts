import { type Bson, type Document, hello, serveMongo } from '../support/mongo-wire.ts'

// A stand-in for MongoDB that answers the driver as far as the examples of Mongoose need: inserts, and finds
// by _id. It keeps the bytes of documents, so that a test sees which types the driver sent.

export interface MongoStandIn {
  readonly url: string
  /** The inserted documents, as BSON. */
  readonly documents: Buffer[]
  stop(): void
}

type Condition = bigint | { $gte: bigint; $lt: bigint }

export async function openMongoWire(bson: Bson): Promise<MongoStandIn> {
  const documents: Buffer[] = []
  const read = (bytes: Uint8Array) => bson.deserialize(bytes, { useBigInt64: true })

  function answer(command: Document): Document {
    if ('insert' in command) {
      const inserted = command['documents'] as Buffer[]
      documents.push(...inserted)
      return { n: inserted.length, ok: 1 }
    }
    if ('find' in command) {
      const { _id: condition } = command['filter'] as { _id: Condition }
      const firstBatch = documents.map(read).filter(({ _id }) => meets(_id as bigint, condition))
      return { cursor: { id: 0n, ns: `shop.${command['find']}`, firstBatch }, ok: 1 }
    }
    return hello
  }

  const { port, stop } = await serveMongo(bson, answer)
  return { url: `mongodb://127.0.0.1:${port}/shop`, documents, stop }
}

function meets(id: bigint, condition: Condition): boolean {
  return typeof condition === 'bigint' ? id === condition : id >= condition.$gte && id < condition.$lt
}
