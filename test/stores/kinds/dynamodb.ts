import { join } from 'node:path'
import { dynamodbStore } from '../../../src/stores/dynamodb.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, installClients, load, type Open, type ServerKind } from './kind.ts'

// dynalite, a server of the DynamoDB API on LevelDB. It evaluates conditions, and all of its reads are
// consistent. It checks no credentials and no rights; dynamodb.test.ts has a server that refuses.

// For the clients that openStore makes, also in processes that tests start.
process.env['AWS_ACCESS_KEY_ID'] ??= 'test'
process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test'

const region = 'eu-west-1'

export function dynamodbUrl(port: number): string {
  return `dynamodb://${region}?endpoint=http://${host}:${port}`
}

export function startDynamodb(): Promise<Server> {
  installClients()
  const program = join(repository, 'test/stores/clients/node_modules/dynalite/cli.js')
  const words = (port: number, folder: string) => [
    ...[program, '--host', host, '--port', `${port}`, '--path', join(folder, 'data')],
    ...['--createTableMs', '0'],
  ]
  return start({ program: process.execPath, words })
}

/** Makes a `DynamoDB` of the SDK. @param options - Options in addition to the server's address. */
export function dynamodbClient(port: number, options: object = {}) {
  const { DynamoDB } = load('@aws-sdk/client-dynamodb')
  return new DynamoDB({ region, endpoint: `http://${host}:${port}`, ...options })
}

/** @param options - How items are translated: `marshallOptions`, `unmarshallOptions`. */
export function documentOf(client: object, options: object = {}) {
  return load('@aws-sdk/lib-dynamodb').DynamoDBDocument.from(client, options)
}

const dynamodbClients: Record<string, Open> = {
  async 'aws-sdk'(port) {
    const client = dynamodbClient(port)
    return { store: dynamodbStore(client), close: () => client.destroy() }
  },
  async 'aws-sdk document'(port) {
    const client = dynamodbClient(port)
    const store = dynamodbStore(documentOf(client))
    // A document client cannot create the table.
    return { store: { ...store, setup: () => dynamodbStore(client).setup() }, close: () => client.destroy() }
  },
}

export const dynamodb: ServerKind = {
  name: 'DynamoDB',
  missing: () => undefined,
  start: startDynamodb,
  url: dynamodbUrl,
  clients: dynamodbClients,
  resending: Object.keys(dynamodbClients),
  staysOpen: true,
}
