import { afterAll, beforeAll, describe, it } from 'vitest'
import { storeContract } from '../../src/stores/testing.js'
import { BucketServer } from './buckets/server.ts'
import { installClients, type Opened } from './kinds/kind.ts'
import { googleClients, s3Clients } from './kinds/object.ts'

// Buckets by the real clients, on a stand-in for S3 and Google. servers.long.test.ts has azurite.

beforeAll(() => installClients(), 600_000)

describe.each(Object.entries({ ...s3Clients, ...googleClients }))('a bucket by %s', (_name, open) => {
  let service: BucketServer
  let opened: Opened
  beforeAll(async () => {
    service = new BucketServer()
    opened = await open(await service.listen())
  })
  afterAll(() => {
    opened?.close()
    service?.close()
  })

  for (const { name, run } of storeContract(async () => opened.store)) it(name, run)
})
