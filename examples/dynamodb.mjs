// Ids on a node that is leased from DynamoDB.
//
//   npm install graupel @aws-sdk/client-dynamodb
//   AWS_REGION=eu-west-1 node dynamodb.mjs
//
// The AWS SDK finds the credentials. For a server of your own, set AWS_ENDPOINT_URL_DYNAMODB.
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them.
import { subscribe } from 'node:diagnostics_channel'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { dynamodbStore } from 'graupel/stores/dynamodb'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const client = new DynamoDB()
const store = dynamodbStore(client)
await store.setup() // Creates its table; console.log(store.ddl) shows the command, if another user has to run it.

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
    client.destroy()
  })
}
