// Ids on a node that is leased from a replica set of MongoDB.
//
//   npm install graupel mongodb
//   MONGODB_URL='mongodb://127.0.0.1:27017/app?replicaSet=rs0' node mongodb.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { mongodbStore } from 'graupel/stores/mongodb'
import { MongoClient } from 'mongodb'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/app?replicaSet=rs0'
// For leases alone. A connection that goes silent for three seconds is replaced.
const client = new MongoClient(url, { maxPoolSize: 2, connectTimeoutMS: 3000, socketTimeoutMS: 3000 })
const store = mongodbStore(client.db())

const lease = await acquireLease({ store })
const ids = createGenerator({ lease })

const timer = setInterval(() => {
  try {
    console.log(ids.nextString())
  } catch (error) {
    console.error(`${error.code}: ${error.message}`)
  }
}, 1000)

// Aborted by release(), and if the lease is lost and no other node is free: then restart the service.
lease.signal.addEventListener('abort', () => clearInterval(timer))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await lease.release()
    await client.close()
  })
}
