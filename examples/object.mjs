// Ids on a node that is leased from a bucket of S3.
//
//   npm install graupel @aws-sdk/client-s3
//   S3_BUCKET=ids AWS_REGION=eu-central-1 node object.mjs
//
// It prints an id a second, until Ctrl-C or SIGTERM. Start several of them. The SDK finds the credentials;
// AWS_ENDPOINT_URL_S3 is the address of another service with the API of S3.
import { subscribe } from 'node:diagnostics_channel'
import { S3 } from '@aws-sdk/client-s3'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { objectStore } from 'graupel/stores/object'

subscribe('graupel:lease', ({ type, node }) => console.error(`${type}, node ${node}`))

const { S3_BUCKET: bucket = 'ids', WINDOW_MS = '60000' } = process.env
const store = objectStore({ client: new S3(), bucket })

// Each renewal is a write that costs money. With a window of a minute there is one every 20 seconds.
const lease = await acquireLease({ store, windowMs: Number(WINDOW_MS) })
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
