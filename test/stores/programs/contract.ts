// Runs the contract on a store in SQLite, in another release of Node than the tests.
import { storeContract } from '../../../src/stores/testing.js'
import { sqliteClients } from '../kinds/sqlite.ts'

const [client = '', file = ''] = process.argv.slice(2)
const opened = await sqliteClients[client]?.(file)
if (opened === undefined) throw new Error(`there is no client ${client} of SQLite`)
const { store, close } = opened
await store.setup?.()
const results: Record<string, string> = {}
for (const { name, run } of storeContract(async () => store)) {
  results[name] = await run().then(
    () => 'kept',
    (error: Error) => error.message,
  )
}
console.log(JSON.stringify(results))
await close()
