// Leases node 0 from a bucket that was NOT proved to enforce conditions, and prints ids of a second. Starts
// on a message.
import { once } from 'node:events'
import { createGenerator } from '../../../src/index.js'
import { acquireLease } from '../../../src/lease/index.js'
import { ConditionProof } from '../../../src/stores/object/proof.js'
import { s3Clients } from '../kinds/object.ts'

ConditionProof.prototype.proved = async () => ({ deletesByCondition: true })

const [port = ''] = process.argv.slice(2)
const opened = await s3Clients['aws-sdk']?.(Number(port))
if (opened === undefined) throw new Error('there is no such client')
console.log('ready')
await once(process.stdin, 'data')
const lease = await acquireLease({ store: opened.store, nodes: [0, 0], acquireTimeoutMs: 0 })
const ids = createGenerator({ lease })
const endMs = Date.now() + 1000
while (Date.now() < endMs) {
  console.log(ids.take(10).join('\n'))
  await new Promise((resolve) => setTimeout(resolve, 1))
}
process.exit()
