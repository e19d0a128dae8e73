// Leases one of sixteen nodes from a bucket of Ceph, beside other processes with this program. Starts on a
// message. Prints the node and ids, and holds the node until its standard input ends.
import { once } from 'node:events'
import { createGenerator } from '../../../src/index.js'
import { acquireLease } from '../../../src/lease/index.js'
import { cephClients } from '../kinds/ceph.ts'

const [client = '', port = '', namespace = ''] = process.argv.slice(2)
const opened = await cephClients[client]?.(Number(port))
if (opened === undefined) throw new Error(`there is no client ${client} of Ceph`)
console.log('ready')
await once(process.stdin, 'data')
const { store } = opened
const lease = await acquireLease({ store, namespace, nodes: [0, 15], windowMs: 60_000, callTimeoutMs: 10_000 })
const ids = createGenerator({ lease }).take(1000)
console.log(JSON.stringify({ node: lease.node, ids: Array.from(ids, String) }))
await once(process.stdin, 'end')
await lease.release()
await opened.close()
