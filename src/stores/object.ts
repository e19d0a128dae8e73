import { GraupelError, rangeError, show, showNoText, typeError } from '../core/errors.js'
import { type Resolved, type Row, type Rows, readTable } from '../core/options.js'
import { checkString, flag } from '../core/readers.js'
import { entryOf as parse, parseDate, storedFor } from './http.js'
import { type AzureContainer, azureBucket } from './object/azure.js'
import { type Bucket, CheckedBucket, type StoredObject } from './object/bucket.js'
import { type GoogleBucket, googleBucket } from './object/google.js'
import { ConditionProof } from './object/proof.js'
import { type S3Methods, s3Bucket } from './object/s3.js'
import { type SigningClient, signedBucket } from './object/s3-fetch.js'
import { clientError, refuseForgetting } from './options.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

/**
 * An `S3` of `@aws-sdk/client-s3`, an `AwsClient` of aws4fetch, a `ContainerClient` of `@azure/storage-blob`
 * or a `Bucket` of `@google-cloud/storage`.
 */
export type ObjectClient = S3Methods | SigningClient | AzureContainer | GoogleBucket

/** The options of {@link objectStore}. */
export interface ObjectStoreOptions extends StoreOptions {
  /** The client of the bucket. It is never closed. */
  readonly client: ObjectClient
  /** The name of the bucket. Required with an `S3` of the AWS SDK, and not for other clients. */
  readonly bucket?: string
  /**
   * The URL of the bucket, such as `https://ids.s3.eu-central-1.amazonaws.com`. Required with an `AwsClient`
   * of aws4fetch, and not for other clients.
   */
  readonly url?: string
  /**
   * The beginning of the names of its objects, before a `/`: 1 to 200 letters, digits and `_.-`, in parts
   * with a `/` between them. Objects of proofs begin with the prefix and `.proof/`. @default 'graupel'
   */
  readonly prefix?: string
}

/** A store whose records are the objects of a bucket. */
export interface ObjectStore extends Store {
  /**
   * Proves that the bucket enforces conditions, by 13 requests about an object that it then deletes. The
   * first write does that by itself. A bucket that was proved or refused is not asked again.
   *
   * @throws as {@link objectStore}
   */
  prove(signal?: AbortSignal): Promise<void>
  remove(key: string, expected: string, signal?: AbortSignal): Promise<boolean>
}

/** Reads a prefix of names. @throws TypeError, RangeError `ERR_OPTION_INVALID` */
function readPrefix(name: string, value: unknown): string {
  checkString(name, value)
  if (value.length <= 200 && /^([\w-][\w.-]*)(\/[\w-][\w.-]*)*$/.test(value) && !isBadPath(value)) return value
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${name} is ${show(value)}; pass 1 to 200 letters, digits and '_.-', in parts that neither begin nor end with a dot`,
    name,
  )
}

const objectPrefixRow = { read: readPrefix, byDefault: 'graupel' } satisfies Row

const rows = {
  assumeDurable: { read: flag },
  client: {},
  bucket: {},
  url: {},
  prefix: objectPrefixRow,
} satisfies Rows<ObjectStoreOptions>

/**
 * The number of records that are read at once. At 50 ms for each read, a list of 1 024 records takes 1.6 s,
 * which is less than a call may take by default. 64 processes that start together have 2 048 connections.
 */
const readsAtOnce = 32

/**
 * A store in a bucket of S3, Azure Blob Storage, Google Cloud Storage, or a service with the API of S3 that
 * enforces conditional writes. Durable. A record is an object; a list reads each of its records.
 *
 * Before its first write, the store proves that the bucket enforces conditions, and refuses a bucket that
 * does not. Copies of a bucket in other regions are other stores. Each write is a request that is paid for:
 * give leases a `windowMs` of 15 000 or more (docs/stores/object.md has the costs).
 *
 * The clock is the `Date` of an answer, in whole seconds.
 *
 * @param options - `{ client }` for Azure and Google, `{ client, bucket }` for S3; `{ client, url }` for
 * aws4fetch. `assumeDurable` may not be false, because buckets have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNSAFE` if the bucket does not enforce conditions; with
 * `ERR_STORE_UNAVAILABLE` if the bucket, its region, the credentials, a right or a clock has to be changed;
 * with `ERR_STORE_INVALID` if another program has written an object of its name; with RangeError
 * `ERR_OPTION_INVALID` for a key with a part that is empty or ends with a dot; and otherwise with an Error
 * that has the reason or the answer. `remove` rejects with `ERR_STORE_UNSAFE` if the bucket deletes without
 * conditions.
 * @example
 * const client = new S3({ region: 'eu-central-1' }) // of @aws-sdk/client-s3
 * const store = objectStore({ client, bucket: 'ids' })
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * client.destroy()
 */
export function objectStore(options: ObjectStoreOptions): ObjectStore {
  const { assumeDurable, prefix, ...access } = readTable(options, rows, '{ client }')
  refuseForgetting('buckets', assumeDurable)
  const bucket = new CheckedBucket(bucketOf(access))
  const proofs = `${prefix}.proof/`
  const proof = new ConditionProof(bucket, proofs)

  const nameOf = (key: string) => {
    // URLs resolve dots, and Azure loses a dot at the end of a part.
    if (!isBadPath(key)) return `${prefix}/${key}`
    throw rangeError(
      'ERR_OPTION_INVALID',
      `the key is ${show(key)}; in a bucket no part of a key may be empty, or end with a dot`,
    )
  }
  const read = async (key: string, signal: AbortSignal | undefined) => {
    const { found } = await bucket.get(nameOf(key), signal)
    return found === undefined ? undefined : entryOf(key, found)
  }
  /** Reads the text of an object. The version has the token of the text, and the tag for the condition. */
  const entryOf = (key: string, { text, tag }: StoredObject): StoreEntry => {
    const { value } = parse(key, text)
    const token = tokenPattern.exec(text)?.[0]
    if (token !== undefined) return { key, value, version: `${token} ${tag}` }
    throw new GraupelError(
      'ERR_STORE_INVALID',
      `the object ${nameOf(key)} in ${bucket.who} was not written by graupel; find out who wrote it, or pass another prefix`,
    )
  }

  return {
    name: 'object',
    durable: true,
    async read(key, signal) {
      return read(key, signal)
    },
    async list(folder, signal) {
      const start = nameOf(`${folder}x`).slice(0, -1)
      const keys = (await bucket.list(start, signal)).map((name) => name.slice(prefix.length + 1))
      const entries: StoreEntry[] = []
      const rest = keys.filter((key) => key.startsWith(folder) && key !== folder && !key.includes('/', folder.length))
      const work = async () => {
        for (let key = rest.pop(); key !== undefined; key = rest.pop()) {
          // With one signal for all reads, Node would warn of many listeners.
          const entry = await read(key, signal && AbortSignal.any([signal]))
          if (entry !== undefined) entries.push(entry)
        }
      }
      try {
        await Promise.all(Array.from({ length: readsAtOnce }, work))
      } finally {
        // After a failure, no other read begins.
        rest.length = 0
      }
      return entries
    },
    async write(key, value, expected, signal) {
      signal?.throwIfAborted()
      const name = nameOf(key)
      const [, expectedTag] = versionPattern.exec(expected ?? '') ?? []
      // No record has such a version. Without a tag, the write would create a record.
      if (expected !== undefined && expectedTag === undefined) return undefined
      await proof.proved()
      const stored = storedFor(value)
      const tag = await bucket.put(name, stored, expectedTag, signal)
      return tag === undefined ? undefined : `${stored.slice(0, tokenLength)} ${tag}`
    },
    async remove(key, expected, signal) {
      signal?.throwIfAborted()
      const name = nameOf(key)
      const [, expectedTag] = versionPattern.exec(expected) ?? []
      if (expectedTag === undefined) return false
      const { deletesByCondition } = await proof.proved()
      if (deletesByCondition) return bucket.delete(name, expectedTag, signal)
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `${bucket.who} deletes objects without conditions, so ${name} cannot be removed in one step; delete it by hand if nothing uses it`,
      )
    },
    async prove(signal) {
      signal?.throwIfAborted()
      await proof.proved()
    },
    async place() {
      return `${await bucket.place()}, objects ${prefix}/`
    },
    async advice(signal) {
      const left = await bucket.list(proofs, signal)
      if (left.length === 0) return []
      return [
        `${bucket.who} has ${left.length} objects below ${proofs}, such as ${left[0]}: processes ended while they proved that it enforces conditions; delete them if they stay`,
      ]
    },
    async nowMs(signal, key) {
      // A read, also of an object that is missing, costs a tenth of a list.
      return parseDate((await bucket.get(nameOf(key ?? 'clock'), signal)).date)
    },
  }
}

/** The token of a write, which is a UUID. */
const tokenPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const tokenLength = 36
/** A token, and the tag of the object. */
const versionPattern = /^[0-9a-f-]{36} (.+)$/

/** Whether a part of a path is empty, or ends with a dot. */
function isBadPath(path: string): boolean {
  return `/${path}/`.includes('//') || /\.(\/|$)/.test(path)
}

/** Chooses the kind of a client by its methods. @throws TypeError `ERR_OPTION_INVALID` */
function bucketOf({
  client,
  bucket,
  url,
}: Pick<Resolved<ObjectStoreOptions, typeof rows>, 'client' | 'bucket' | 'url'>): Bucket {
  const has = (...methods: string[]) => methods.every((method) => typeof Object(client)[method] === 'function')
  const only = (name: string, value: unknown) => {
    if (value === undefined) return
    throw typeError('ERR_OPTION_INVALID', `${name} is not for this client; leave it out`, name)
  }
  if (has('getObject', 'putObject', 'listObjectsV2', 'deleteObject')) {
    only('url', url)
    if (typeof bucket === 'string' && bucket !== '') return s3Bucket(client as S3Methods, bucket)
    throw typeError('ERR_OPTION_INVALID', `bucket is ${show(bucket)}; pass the name of the bucket`, 'bucket')
  }
  if (has('sign')) {
    only('bucket', bucket)
    if (typeof url === 'string') return signedBucket(client as SigningClient, url)
    throw typeError('ERR_OPTION_INVALID', `url is ${showNoText(url)}; pass the URL of the bucket as a text`, 'url')
  }
  if (has('getBlockBlobClient', 'listBlobsByHierarchy')) {
    only('bucket', bucket)
    only('url', url)
    return azureBucket(client as AzureContainer)
  }
  if (has('file', 'getFiles')) {
    only('bucket', bucket)
    only('url', url)
    return googleBucket(client as GoogleBucket)
  }
  const better = [
    [has('getContainerClient'), 'client.getContainerClient(NAME) of this client'],
    [has('bucket'), 'client.bucket(NAME) of this client'],
    [has('send'), 'an S3 in place of an S3Client'],
  ].find(([isSo]) => isSo)?.[1]
  throw clientError(
    'the bucket',
    client,
    `${better ?? 'an S3 of @aws-sdk/client-s3, an AwsClient of aws4fetch, a ContainerClient of @azure/storage-blob or a Bucket of @google-cloud/storage'}`,
  )
}
