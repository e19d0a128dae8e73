import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

// The wire protocol of MongoDB, for stand-ins that answer its driver. Debian does not have MongoDB, and
// mongodb-memory-server downloads it from a host of its own.

export type Document = Record<string, unknown>

export interface Bson {
  serialize(value: Document): Uint8Array
  deserialize(bytes: Uint8Array, options?: object): Document
}

export interface MongoWire {
  readonly port: number
  stop(): void
}

// Operation codes of messages.
const opReply = 1
const opQuery = 2004
const opMsg = 2013

const limits = { maxBsonObjectSize: 2 ** 24, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 }

/** The answer to `hello` of a server that can be written to. */
export const hello = { helloOk: true, isWritablePrimary: true, minWireVersion: 0, maxWireVersion: 25, ...limits, ok: 1 }

/**
 * Serves a driver. @param answer - Answers a command. The documents of a write are bytes, so that a test
 * sees which types the driver has sent.
 */
export async function serveMongo(bson: Bson, answer: (command: Document) => Document, port = 0): Promise<MongoWire> {
  /** Reads the sections behind the flags: a command, and the documents of a write of several. */
  function commandOf(request: Buffer): Document {
    const command: Document = {}
    for (let at = 20; at < request.length; ) {
      const isSequence = request[at] === 1
      const section = request.subarray(at + 1, at + 1 + request.readInt32LE(at + 1))
      at += 1 + section.length
      if (isSequence) {
        const end = section.indexOf(0, 4)
        command[section.toString('utf8', 4, end)] = documentsFrom(section.subarray(end + 1))
      } else Object.assign(command, bson.deserialize(section, { useBigInt64: true, fieldsAsRaw: { documents: true } }))
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
      return framed(opReply, requestId, Buffer.concat([head, bson.serialize(answer({ hello: 1 }))]))
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
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
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

function framed(kind: number, requestId: number, body: Buffer): Buffer {
  const head = Buffer.alloc(16)
  for (const [index, value] of [16 + body.length, 0, requestId, kind].entries()) head.writeInt32LE(value, index * 4)
  return Buffer.concat([head, body])
}
