// Leases a node from a bucket of Ceph, beside other processes with this program. Prints the node and the ids
// that it makes, and holds the node until its standard input ends.
import { text } from 'node:stream/consumers'
import { createGenerator } from '../../../src/index.js'
import { acquireLease } from '../../../src/lease/index.js'
import { cephClients } from '../kinds/ceph.ts'

const [client = '', port = '', namespace = ''] = process.argv.slice(2)
const opened = await cephClients[client]?.(Number(port))
if (opened === undefined) throw new Error(`there is no client ${client} of Ceph`)
const lease = await acquireLease({ store: opened.store, namespace, windowMs: 60_000, callTimeoutMs: 10_000 })
const ids = createGenerator({ lease }).take(1000)
console.log(JSON.stringify({ node: lease.node, ids: Array.from(ids, String) }))
await text(process.stdin)
await lease.release()
await opened.close()
