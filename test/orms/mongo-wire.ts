import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

// A server that answers a MongoDB driver as far as the examples of Mongoose need: inserts, and finds by _id.
// It keeps the bytes of documents, so that a test sees which types the driver sent. It stands in for MongoDB,
// which Debian does not have, and which mongodb-memory-server downloads from a host of its own.

export interface MongoWire {
  readonly url: string
  /** The inserted documents, as BSON. */
  readonly documents: Buffer[]
  stop(): void
}

type Document = Record<string, unknown>
type Condition = bigint | { $gte: bigint; $lt: bigint }

interface Bson {
  serialize(value: Document): Uint8Array
  deserialize(bytes: Uint8Array, options?: object): Document
}

// Operation codes of messages.
const opReply = 1
const opQuery = 2004
const opMsg = 2013

const limits = { maxBsonObjectSize: 2 ** 24, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 }
const hello = { helloOk: true, isWritablePrimary: true, minWireVersion: 0, maxWireVersion: 25, ...limits, ok: 1 }

export async function openMongoWire(bson: Bson): Promise<MongoWire> {
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

  /** Reads the sections behind the flags: a command, and the documents of an insert of several. */
  function commandOf(request: Buffer): Document {
    const command: Document = {}
    for (let at = 20; at < request.length; ) {
      const isSequence = request[at] === 1
      const section = request.subarray(at + 1, at + 1 + request.readInt32LE(at + 1))
      at += 1 + section.length
      if (isSequence) command['documents'] = documentsFrom(section.subarray(section.indexOf(0, 4) + 1))
      else Object.assign(command, bson.deserialize(section, { useBigInt64: true, fieldsAsRaw: { documents: true } }))
    }
    return command
  }

  function answerTo(request: Buffer): Buffer {
    const requestId = request.readInt32LE(4)
    // The first request of a connection, 'hello'. Before its document stand flags, a collection, a cursor and
    // a count.
    if (request.readInt32LE(12) === opQuery) {
      const head = Buffer.alloc(20)
      head.writeInt32LE(1, 16)
      return framed(opReply, requestId, Buffer.concat([head, bson.serialize(hello)]))
    }
    const command = commandOf(request)
    const body = bson.serialize(answer(command))
    return framed(opMsg, requestId, Buffer.concat([Buffer.alloc(5), body]))
  }

  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    let received = Buffer.alloc(0)
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const length = received.readInt32LE(0)
        socket.write(answerTo(received.subarray(0, length)))
        received = received.subarray(length)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    documents,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function documentsFrom(bytes: Buffer): Buffer[] {
  const all: Buffer[] = []
  for (let at = 0; at < bytes.length; at += all.at(-1)?.length ?? 0) {
    all.push(bytes.subarray(at, at + bytes.readInt32LE(at)))
  }
  return all
}

function meets(id: bigint, condition: Condition): boolean {
  return typeof condition === 'bigint' ? id === condition : id >= condition.$gte && id < condition.$lt
}

function framed(kind: number, requestId: number, body: Buffer): Buffer {
  const head = Buffer.alloc(16)
  for (const [index, value] of [16 + body.length, 0, requestId, kind].entries()) head.writeInt32LE(value, index * 4)
  return Buffer.concat([head, body])
}
