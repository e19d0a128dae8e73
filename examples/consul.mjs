// Ids on a node that is leased from Consul.
//
//   npm install graupel
//   CONSUL_HTTP_ADDR=http://127.0.0.1:8500 node consul.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { consulStore } from 'graupel/stores/consul'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const { CONSUL_HTTP_ADDR: url = 'http://127.0.0.1:8500', CONSUL_HTTP_TOKEN: token } = process.env
const store = consulStore({ url, token })

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
