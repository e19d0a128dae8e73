import { join } from 'node:path'
import { objectStore } from '../../../src/stores/object.js'
import { installOnce } from '../../package/consumer.ts'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, load, type Open, type Opened, type ServerKind } from './kind.ts'

/** The bucket of the tests. */
export const bucket = 'ids'

/** A stand-in for S3 and Google Cloud Storage, as a process. */
export function startBuckets(): Promise<Server> {
  const program = join(repository, 'test/stores/programs/bucket-server.ts')
  return start({
    program: process.execPath,
    words: (port, folder) => [
      ...['--import', join(repository, 'node_modules/tsx/dist/esm/index.mjs'), program, `${port}`, folder],
    ],
  })
}

/** The configuration of an `S3` for a server of the tests. */
export function s3Options(port: number) {
  return {
    region: 'us-east-1',
    endpoint: `http://${host}:${port}`,
    forcePathStyle: true,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  }
}

export const s3Clients: Record<string, Open> = {
  async 'aws-sdk'(port) {
    const { S3 } = load('@aws-sdk/client-s3')
    const client = new S3(s3Options(port))
    return { store: objectStore({ client, bucket }), close: () => client.destroy() }
  },
  async aws4fetch(port) {
    const { AwsClient } = load('aws4fetch')
    const client = new AwsClient({ accessKeyId: 'test', secretAccessKey: 'test', region: 'us-east-1' })
    return { store: objectStore({ client, url: `http://${host}:${port}/${bucket}` }), close() {} }
  },
}

export const googleClients: Record<string, Open> = {
  async 'google-cloud'(port) {
    return openGoogle(port)
  },
}

function openGoogle(port: number): Opened {
  const { Storage } = load('@google-cloud/storage')
  // By default a repetition waits for up to a minute.
  const retryOptions = { maxRetryDelay: 1 }
  const client = new Storage({ apiEndpoint: `http://${host}:${port}`, projectId: 'test', retryOptions })
  return { store: objectStore({ client: client.bucket(bucket) }), close() {} }
}

/** The account of azurite, which is public. */
const account = 'devstoreaccount1'
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

export function azuriteConnection(port: number): string {
  return `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=http://${host}:${port}/${account};`
}

/** Starts azurite, with a container. */
async function startAzurite(): Promise<Server> {
  const program = join(installOnce('test/stores/azurite', ['--ignore-scripts']), 'azurite/dist/src/blob/main.js')
  const words = (port: number, folder: string) => [
    ...[program, '--blobHost', host, '--blobPort', `${port}`, '--location', folder],
    // The client of the tests has a newer version of the API.
    ...['--silent', '--skipApiVersionCheck', '--disableTelemetry'],
  ]
  const server = await start({ program: process.execPath, words })
  await containerOf(server.port).createIfNotExists()
  // Azurite writes its index when it ends in order. Killed, it would forget, and the service does not.
  return {
    ...server,
    signal: (name) => server.signal(name === 'SIGKILL' ? 'SIGTERM' : name),
    restart: () => server.restart('SIGTERM'),
  }
}

export function containerOf(port: number, name = bucket) {
  const { BlobServiceClient } = load('@azure/storage-blob')
  return BlobServiceClient.fromConnectionString(azuriteConnection(port)).getContainerClient(name)
}

const azureClients: Record<string, Open> = {
  async 'storage-blob'(port) {
    return { store: objectStore({ client: containerOf(port) }), close() {} }
  },
}

export const s3: ServerKind = {
  name: 'S3 (stand-in)',
  missing: () => undefined,
  start: startBuckets,
  url: (port) => `s3://${bucket}?region=us-east-1&endpoint=http://${host}:${port}`,
  variables: () => ({ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }),
  clients: s3Clients,
  isFetched: true,
  resending: ['aws-sdk'],
}

export const google: ServerKind = {
  name: 'Google Cloud Storage (stand-in)',
  missing: () => undefined,
  start: startBuckets,
  url: (port) => `gs://${bucket}?endpoint=http://${host}:${port}`,
  clients: googleClients,
  isFetched: true,
  resending: ['google-cloud'],
}

export const azure: ServerKind = {
  name: 'Azure Blob Storage (azurite)',
  missing: () => undefined,
  start: startAzurite,
  url: () => `az://${account}/${bucket}`,
  variables: (port) => ({ AZURE_STORAGE_CONNECTION_STRING: azuriteConnection(port) }),
  clients: azureClients,
  isFetched: true,
  resending: ['storage-blob'],
}
