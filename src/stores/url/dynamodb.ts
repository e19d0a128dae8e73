import { rangeError } from '../../core/errors.js'
import { decoded } from '../record.js'
import { type Client, connectMs, type Names, type StoreKind } from './kind.js'
import { cut, type StoreUrl } from './url.js'

const awsSdk: Client = {
  name: '@aws-sdk/client-dynamodb',
  async open({ DynamoDB }, url, { names }) {
    const { region, table, endpoint } = partsOf(url, names)
    const { dynamodbStore } = await import('../dynamodb.js')
    // The SDK finds the credentials, and a region that is not given.
    const client = new DynamoDB({
      ...(region !== '' && { region }),
      ...(endpoint !== undefined && { endpoint }),
      requestHandler: { connectionTimeout: connectMs },
    })
    const store = dynamodbStore(client, { ...names, ...(table !== undefined && { table }) })
    return { store, close: () => client.destroy(), ...(table !== undefined && { table }) }
  },
}

/** @throws RangeError `ERR_OPTION_INVALID` */
function partsOf(url: StoreUrl, { table: named }: Names) {
  const { endpoint } = url.parameters(['endpoint'])
  const [region, path = ''] = cut(url.address, '/')
  const isUrl = url.rest === '' || (url.rest.startsWith('//') && url.credentials === '')
  if (!isUrl || !/^[a-z0-9-]*$/.test(region)) {
    // The message omits the text, which may have keys.
    throw rangeError(
      'ERR_OPTION_INVALID',
      'store has no region; write dynamodb://REGION/TABLE without credentials, which the AWS SDK finds in the environment',
      'store',
    )
  }
  if (endpoint !== undefined && !/^https?:/.test(endpoint)) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      'store has an endpoint that is no URL; write endpoint=http://127.0.0.1:8000',
      'store',
    )
  }
  const table = decoded(path)
  if (table !== '' && named !== undefined) {
    throw rangeError('ERR_OPTION_INVALID', 'table is in the URL already; leave out one of the two', 'table')
  }
  return { region, endpoint, ...(table !== '' && { table }) }
}

export const dynamodbKind: StoreKind = {
  schemes: ['dynamodb:'],
  named: 'table',
  isTableMissing: ({ name }) => name === 'ResourceNotFoundException',
  clients: [awsSdk],
}
