// Ids on a node that is leased from a graupel-server, which has the database.
//
//   npx graupel-server --leases
//   npm install graupel
//   GRAUPEL_URL=http://127.0.0.1:4728 node service.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them, and stop the server meanwhile.
// Several servers of one store are separated by commas. Set GRAUPEL_TOKEN if the server has tokens.
import { subscribe } from 'node:diagnostics_channel'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { serviceStore } from 'graupel/stores/service'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const { GRAUPEL_URL = 'http://127.0.0.1:4728', GRAUPEL_TOKEN: token } = process.env
const store = serviceStore({ url: GRAUPEL_URL.split(','), token })

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
