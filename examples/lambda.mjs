// Orders whose ids are made in an AWS Lambda function, behind a function URL or an HTTP API.
//
//   npm install graupel ioredis
//   zip -r function.zip lambda.mjs node_modules
//   aws lambda create-function --handler lambda.handler --timeout 30 --environment
//   'Variables={STORE_URL=redis://…}' …
//
// Each instance leases a node with its first request. An instance that was frozen for longer than its window
// leases again with the next request. With SnapStart, all instances are copies of one that was initialized,
// so nothing is leased at the initialization.
import { createGenerator, GraupelError } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'

let started

/**
 * The generator of this instance. The first request waits for its lease: 11 s after every start of Redis,
 * PostgreSQL or MySQL.
 */
function ids() {
  started ??= start().catch((error) => {
    started = undefined // the next request tries again
    throw error
  })
  return started
}

async function start() {
  const { store, close } = await openStore(process.env.STORE_URL)
  const lease = await acquireLease({ store }).catch(async (error) => {
    await close() // the next request opens another one
    throw error
  })
  lease.signal.addEventListener('abort', () => {
    started = undefined // the lease is lost, and no other node is free: the next request tries again
    close()
  })
  return createGenerator({ lease, maxWaitMs: 15_000 }) // for nextAsync() after the instance was frozen
}

export async function handler(event) {
  const body = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body
  const { item } = JSON.parse(body ?? '{}')
  if (typeof item !== 'string') return answer(400, { message: 'give an item' })
  try {
    const id = await (await ids()).nextAsync() // a bigint, as a database takes it
    return answer(201, { id: String(id), item }) // a number of JSON would lose its last digits
  } catch (error) {
    if (!(error instanceof GraupelError)) throw error
    // No id can be made now: the store was unreachable for too long, or the clock was set back.
    console.error(`${error.code}: ${error.message}`)
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))
    return answer(503, { message: 'try again later', code: error.code }, { 'retry-after': `${seconds}` })
  }
}

function answer(statusCode, body, headers = {}) {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

// There is no handler of SIGTERM, because Lambda sends it only to functions with an extension. An instance
// that ends keeps its node for 7 s.
