// Ids on a node that is leased from etcd.
//
//   npm install graupel
//   ETCD_URL=http://127.0.0.1:2379 node etcd.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
// Several endpoints are separated by commas.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { etcdStore } from 'graupel/stores/etcd'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const { ETCD_URL = 'http://127.0.0.1:2379', ETCD_USER: user, ETCD_PASSWORD: password } = process.env
const store = etcdStore({ url: ETCD_URL.split(','), user, password })

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

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => lease.release())
