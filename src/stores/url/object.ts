import { GraupelError, rangeError } from '../../core/errors.js'
import type { ObjectStoreOptions } from '../object.js'
import { decoded } from '../record.js'
import { type Client, type Opened, type OpenOptions, opened, orClosed, type StoreKind, silentMs } from './kind.js'
import { cut, type StoreUrl } from './url.js'

// The stores in buckets. No URL has credentials: the clients find them as their users expect.

const awsSdk: Client = {
  name: '@aws-sdk/client-s3',
  async open({ S3 }, url, options) {
    const { places, parameters } = partsOf(url, ['BUCKET'], ['region', 'endpoint'])
    const { region, endpoint } = parameters
    const client = new S3({ ...(region && { region }), ...(endpoint && { endpoint, forcePathStyle: true }) })
    const access = { client, bucket: places[0] as string }
    return openBucket(access, url, 1, options, () => client.destroy())
  },
}

const aws4fetch: Client = {
  name: 'aws4fetch',
  async open({ AwsClient }, url, options) {
    const { places, parameters } = partsOf(url, ['BUCKET'], ['region', 'endpoint'])
    const bucket = places[0] as string
    const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env
    const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
    const { region = AWS_REGION ?? AWS_DEFAULT_REGION, endpoint = AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL } = parameters
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
      throw new GraupelError(
        'ERR_STORE_UNAVAILABLE',
        'AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set; set both, or run: npm install @aws-sdk/client-s3, which also finds other credentials',
      )
    }
    if (region === undefined) {
      throw rangeError('ERR_OPTION_INVALID', `store has no region; write s3://${bucket}?region=REGION`, 'store')
    }
    const client = new AwsClient({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      sessionToken: AWS_SESSION_TOKEN,
      region,
    })
    const service = endpoint?.replace(/\/+$/, '') ?? `https://s3.${region}.amazonaws.com`
    return openBucket({ client, url: `${service}/${bucket}` }, url, 1, options)
  },
}

const storageBlob: Client = {
  name: '@azure/storage-blob',
  async open({ BlobServiceClient }, url, options) {
    const { places } = partsOf(url, ['ACCOUNT', 'CONTAINER'], [])
    const [account, container] = places as [string, string]
    const { AZURE_STORAGE_CONNECTION_STRING: connection } = process.env
    const service = connection
      ? BlobServiceClient.fromConnectionString(connection)
      : new BlobServiceClient(`https://${account}.blob.core.windows.net`, credentialOf(options))
    if (service.accountName !== account) {
      throw rangeError(
        'ERR_OPTION_INVALID',
        `store names the account ${account}, and AZURE_STORAGE_CONNECTION_STRING another; correct one of them`,
        'store',
      )
    }
    return openBucket({ client: service.getContainerClient(container) }, url, 2, options)
  },
}

/** Makes the credential that Azure recommends: of the environment, a managed identity, or `az login`. */
function credentialOf({ beside }: OpenOptions): unknown {
  const identity = beside('@azure/identity') as { DefaultAzureCredential: new () => unknown } | undefined
  if (identity !== undefined) return new identity.DefaultAzureCredential()
  throw new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    'AZURE_STORAGE_CONNECTION_STRING is not set; set it, or run: npm install @azure/identity, which finds other credentials',
  )
}

const googleStorage: Client = {
  name: '@google-cloud/storage',
  async open({ Storage }, url, options) {
    const { places, parameters } = partsOf(url, ['BUCKET'], ['endpoint'])
    const { endpoint } = parameters
    // The client waits on a silent connection for as long as its timeout. Leases repeat calls themselves.
    const client = new Storage({
      timeout: silentMs,
      retryOptions: { autoRetry: false },
      ...(endpoint && { apiEndpoint: endpoint }),
    })
    return openBucket({ client: client.bucket(places[0] as string) }, url, 1, options)
  },
}

/** Opens a store, and proves that its bucket can be used: its conditions too, unless it is only read. */
async function openBucket(
  access: Pick<ObjectStoreOptions, 'client' | 'bucket' | 'url'>,
  url: StoreUrl,
  places: number,
  { names, mayMake }: OpenOptions,
  close: () => void = () => {},
): Promise<Opened> {
  const { objectStore } = await import('../object.js')
  const prefix = partsIn(url).slice(places).join('/')
  if (prefix !== '' && names.prefix !== undefined) {
    throw rangeError('ERR_OPTION_INVALID', `prefix is given, and store has the prefix ${prefix}; give one`, 'prefix')
  }
  const store = objectStore({ ...access, ...(prefix !== '' && { prefix }), ...names })
  return orClosed(close, async () => {
    await opened(store)
    if (mayMake) await store.prove()
    return { store, close }
  })
}

function partsIn({ address }: StoreUrl): string[] {
  return cut(address.replace(/\/+$/, ''), '?')[0].split('/').map(decoded)
}

/**
 * Reads `scheme://PLACE/…/prefix?name=value`.
 *
 * @param forms - The names of the places, for a message.
 * @throws RangeError `ERR_OPTION_INVALID`
 */
function partsOf(url: StoreUrl, forms: readonly string[], names: readonly string[]) {
  const form = `${url.scheme}//${forms.join('/')}/PREFIX`
  if (url.credentials !== '') {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store has credentials; write ${form}, and give the client its credentials by the environment`,
      'store',
    )
  }
  const places = partsIn(url).slice(0, forms.length)
  if (places.length < forms.length || places.includes('')) {
    throw rangeError('ERR_OPTION_INVALID', `store has no ${forms.join(' and ').toLowerCase()}; write ${form}`, 'store')
  }
  return { places, parameters: url.parameters(names) }
}

export const s3Kind: StoreKind = { schemes: ['s3:'], named: 'prefix', clients: [awsSdk, aws4fetch] }
export const azureKind: StoreKind = { schemes: ['az:'], named: 'prefix', clients: [storageBlob] }
export const googleKind: StoreKind = { schemes: ['gs:'], named: 'prefix', clients: [googleStorage] }
