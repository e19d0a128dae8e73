import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from 'graupel/stores/url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { graupelIn, projectWith } from '../../cli/fleet.ts'
import { BucketServer } from '../buckets/server.ts'
import { host } from '../kinds/kind.ts'
import { azuriteConnection } from '../kinds/object.ts'

// The URLs of buckets, by the clients that are installed in a folder. The service is a stand-in.

let service: BucketServer
let port: number
beforeEach(async () => {
  service = new BucketServer()
  port = await service.listen()
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AZURE_STORAGE_CONNECTION_STRING', 'AWS_ENDPOINT_URL_S3']) {
    vi.stubEnv(name, undefined)
  }
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
})
afterEach(() => {
  vi.unstubAllEnvs()
  service.close()
})

const clientsOf = (...names: string[]) => `${projectWith(...names)}/`
const s3 = (path = '') => `s3://ids${path}?region=us-east-1&endpoint=http://${host}:${port}`
const gs = (path = '') => `gs://ids${path}?endpoint=http://${host}:${port}`

describe.each<[string, (path?: string) => string]>([
  ['@aws-sdk/client-s3', s3],
  ['aws4fetch', s3],
  ['@google-cloud/storage', gs],
])('a bucket by %s', (client, url) => {
  it('is proved when it is opened, and has the prefix of the URL', async () => {
    const { store, shown, close } = await openStore(url('/team/a'), { clientsOf: clientsOf(client) })
    const proof = service.calls.length
    expect(proof).toBeGreaterThan(8)
    expect(service.names()).toEqual([])
    await store.write('a/1', 'x', undefined)
    expect(service.calls.length).toBe(proof + 1)
    expect(service.names()).toEqual(['ids/team/a/a/1'])
    expect(await store.place?.()).toContain('objects team/a/')
    expect(shown).not.toContain('?')
    await close()
  })

  it('is not written by `create: false`', async () => {
    const { store, close } = await openStore(url(), { clientsOf: clientsOf(client), create: false })
    expect(await store.list('a/')).toEqual([])
    expect(service.calls.map(({ action }) => action)).toEqual(['GetObject', 'ListBucket'])
    await close()
  })

  it('is refused if it ignores conditions', async () => {
    service.habits = { ignores: ['ifNoneMatch', 'ifMatch'] }
    await expect(openStore(url(), { clientsOf: clientsOf(client) })).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining('despite If-None-Match'),
    })
  })

  it('takes its prefix from the URL or from the option, but not from both', async () => {
    const of = clientsOf(client)
    await expect(openStore(url('/a'), { clientsOf: of, prefix: 'b' })).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('prefix is given, and store has the prefix a'),
    })
    const { store, close } = await openStore(url(), { clientsOf: of, prefix: 'b' })
    expect(await store.place?.()).toContain('objects b/')
    await close()
  })

  it('has a message if the bucket is missing', async () => {
    service.habits = { fault: 'has no such bucket' }
    await expect(openStore(url(), { clientsOf: clientsOf(client) })).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('create the bucket, or correct its name'),
    })
  })
})

it.each<[string, string, string]>([
  ['s3://', '@aws-sdk/client-s3', 'store has no bucket; write s3://BUCKET/PREFIX'],
  ['s3://key:secret@ids', '@aws-sdk/client-s3', 'store has credentials; write s3://BUCKET/PREFIX, and give the client'],
  ['s3://ids?regoin=x', '@aws-sdk/client-s3', 'there are region and endpoint'],
  ['s3://ids/a//b', 'aws4fetch', 'store has no region'],
  ['s3://ids/a//b?region=us-east-1', 'aws4fetch', "prefix is 'a//b'"],
  ['s3://ids', '@aws-sdk/client-s3', 'give the client a region'],
  ['az://account', '@azure/storage-blob', 'store has no account and container; write az://ACCOUNT/CONTAINER/PREFIX'],
  [
    'az://account/c',
    '@azure/storage-blob',
    'AZURE_STORAGE_CONNECTION_STRING is not set; set it, or run: npm install @azure/identity',
  ],
  ['gs://ids?region=x', '@google-cloud/storage', 'there are endpoint'],
  ['s3://ids', 'ioredis', 'run: npm install @aws-sdk/client-s3 (aws4fetch will do, too)'],
  ['az://account/c', 'ioredis', 'run: npm install @azure/storage-blob'],
  ['gs://ids', 'ioredis', 'run: npm install @google-cloud/storage'],
])('%s by %s is refused', async (url, client, message) => {
  const error: Error = await openStore(url, { clientsOf: clientsOf(client) }).then(
    () => new Error('it was opened'),
    (refused) => refused,
  )
  expect(error.message).toContain(message)
  expect(error.message).not.toContain('secret')
})

it('an account that is not that of the connection string is refused', async () => {
  vi.stubEnv('AZURE_STORAGE_CONNECTION_STRING', azuriteConnection(port))
  await expect(openStore('az://other/ids', { clientsOf: clientsOf('@azure/storage-blob') })).rejects.toThrow(
    'store names the account other, and AZURE_STORAGE_CONNECTION_STRING another',
  )
})

it('without a connection string, the credentials are those of @azure/identity', async () => {
  const folder = projectWith('@azure/storage-blob')
  const identity = join(folder, 'node_modules/@azure/identity')
  mkdirSync(identity, { recursive: true })
  const fails = "async getToken() { throw new Error('the identity was asked') }"
  writeFileSync(join(identity, 'index.js'), `exports.DefaultAzureCredential = class { ${fails} }`)
  await expect(openStore('az://account/ids', { clientsOf: `${folder}/` })).rejects.toThrow('the identity was asked')
})

it('without the keys of the environment, aws4fetch is refused', async () => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined)
  await expect(openStore(s3(), { clientsOf: clientsOf('aws4fetch') })).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining('AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set'),
  })
})

it('the command line makes ids on a node of a bucket', async () => {
  const folder = projectWith('aws4fetch')
  const { status, stdout, stderr } = await graupelIn(folder, ['next', '--store', s3(), '--count', '3'])
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n')).toHaveLength(3)
  expect(status).toBe(0)
  const listed = await graupelIn(folder, ['lease', 'list', '--store', s3()])
  expect(listed.stdout).toContain('default')
})
