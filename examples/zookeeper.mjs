// Ids on a node that is leased from ZooKeeper.
//
//   npm install graupel node-zookeeper-client
//   ZOOKEEPER=127.0.0.1:2181 node zookeeper.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { zookeeperStore } from 'graupel/stores/zookeeper'
import zookeeper from 'node-zookeeper-client'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

// The store makes its own clients, because a client cannot be used after its session has expired.
const store = zookeeperStore(() => zookeeper.createClient(process.env.ZOOKEEPER ?? '127.0.0.1:2181'))

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
    await store.close()
  })
}
