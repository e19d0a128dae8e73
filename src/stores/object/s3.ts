import { reasonOf } from '../../core/errors.js'
import { type CallOptions, callOptions, withDate } from '../aws.js'
import { type Bucket, contentType, noCache, type Refusal } from './bucket.js'

/** The methods of an `S3` of `@aws-sdk/client-s3`, version 3. An `S3Client` has only `send`. */
export interface S3Methods {
  getObject(
    input: { Bucket: string; Key: string },
    options?: CallOptions,
  ): Promise<{
    Body?: { transformToString(encoding?: string): Promise<string> } | undefined
    ETag?: string | undefined
  }>
  putObject(
    input: {
      Bucket: string
      Key: string
      Body: string
      ContentType: string
      CacheControl: string
      IfMatch?: string
      IfNoneMatch?: string
    },
    options?: CallOptions,
  ): Promise<{ ETag?: string | undefined }>
  listObjectsV2(
    input: { Bucket: string; Prefix: string; Delimiter: string; ContinuationToken?: string },
    options?: CallOptions,
  ): Promise<{
    Contents?: readonly { Key?: string | undefined }[] | undefined
    NextContinuationToken?: string | undefined
  }>
  deleteObject(input: { Bucket: string; Key: string; IfMatch?: string }, options?: CallOptions): Promise<unknown>
}

/** The part of a client that its type does not need to have. */
interface Configured {
  readonly config?: {
    region?(): Promise<unknown>
    endpoint?(): Promise<{ protocol: string; hostname: string; port?: number }>
  }
}

/** Makes a bucket of a client of the AWS SDK. */
export function s3Bucket(client: S3Methods, name: string): Bucket {
  const at = (key: string) => ({ Bucket: name, Key: key })
  return {
    who: `the bucket '${name}' of S3`,
    async place() {
      const { config } = client as Configured
      const endpoint = await config?.endpoint?.()
      const { protocol, hostname, port } = endpoint ?? {}
      const where =
        endpoint === undefined
          ? await config?.region?.()
          : `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
      return `bucket ${name} of S3 at ${where}`
    },
    async get(key, signal) {
      const { output, date } = await withDate(client, (own) => own.getObject(at(key), callOptions(signal)))
      const text = (await output.Body?.transformToString('utf-8')) ?? ''
      return { found: { text, tag: output.ETag ?? '' }, date }
    },
    async put(key, text, expected, signal) {
      const condition = expected === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected }
      const input = { ...at(key), Body: text, ContentType: contentType, CacheControl: noCache, ...condition }
      return (await client.putObject(input, callOptions(signal))).ETag
    },
    async list(folder, signal) {
      const keys: string[] = []
      let token: string | undefined
      do {
        const input = { Bucket: name, Prefix: folder, Delimiter: '/', ...(token && { ContinuationToken: token }) }
        const page = await client.listObjectsV2(input, callOptions(signal))
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key)
        token = page.NextContinuationToken
      } while (token)
      return keys
    },
    async delete(key, expected, signal) {
      await client.deleteObject(
        { ...at(key), ...(expected !== undefined && { IfMatch: expected }) },
        callOptions(signal),
      )
    },
    refusalOf,
  }
}

function refusalOf(error: unknown): Refusal | undefined {
  const { $metadata: metadata, $response: response, name } = Object(error)
  const status = metadata?.httpStatusCode
  if (typeof status !== 'number') return undefined
  const headers = response?.headers ?? {}
  return {
    status,
    code: `${name}`,
    message: reasonOf(error),
    retryAfter: headers['retry-after'],
    date: headers.date,
  }
}
