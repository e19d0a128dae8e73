// Adds to the number under one key by compare-and-swap, beside other processes with this program. Starts on a
// message.
import { once } from 'node:events'
import { eventually } from '../../support/until.ts'
import { cephClients } from '../kinds/ceph.ts'
import { serverKinds } from '../kinds/index.ts'
import { sqliteClients } from '../kinds/sqlite.ts'
import { callsOf } from '../real-time.ts'

const [kind = '', client = '', at = '', key = '', count = ''] = process.argv.slice(2)
const clients = kind === 'ceph' ? cephClients : serverKinds[kind]?.clients
const opened = kind === 'sqlite' ? await sqliteClients[client]?.(at) : await clients?.[client]?.(Number(at))
if (opened === undefined) throw new Error(`there is no client ${client} of ${kind}`)
const { store, close } = opened

console.log('ready')
await once(process.stdin, 'data')
// The calls run all at once, like the processes of a fleet.
await store.setup?.()
const calls = callsOf(store, 10_000)
let conflicts = 0
for (let done = 0; done < Number(count); ) {
  const found = await eventually(() => calls.read(key))
  // StoreCalls requires another text for each write.
  const value = `${Number.parseInt(found?.value ?? '0', 10) + 1} ${crypto.randomUUID()}`
  const { landed } = await calls.write(key, value, found?.version, 100_000)
  if (landed) done++
  else conflicts++
}
console.log(conflicts)
await close()
process.stdin.destroy()
