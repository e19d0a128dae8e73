import { reasonOf } from '../../core/errors.js'
import { type Bucket, contentType, noCache, type Refusal } from './bucket.js'

interface CallOptions {
  readonly abortSignal?: AbortSignal
}

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

/** The parts of a client that its type does not need to have. */
interface Inner {
  readonly middlewareStack?: { clone(): Stack }
  readonly config?: {
    region?(): Promise<unknown>
    endpoint?(): Promise<{ protocol: string; hostname: string; port?: number }>
  }
}
interface Stack {
  add(middleware: unknown, options: object): void
}
interface Answer {
  readonly response?: { readonly headers?: Readonly<Record<string, string>> }
  readonly output?: object
}

/** Makes a bucket of a client of the AWS SDK. */
export function s3Bucket(client: S3Methods, name: string): Bucket {
  const { own, dateOf } = withDates(client)
  const at = (key: string) => ({ Bucket: name, Key: key })
  const options = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { abortSignal: signal })
  return {
    who: `the bucket '${name}' of S3`,
    async place() {
      const { config } = client as Inner
      const endpoint = await config?.endpoint?.()
      const { protocol, hostname, port } = endpoint ?? {}
      const where =
        endpoint === undefined
          ? await config?.region?.()
          : `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
      return `bucket ${name} of S3 at ${where}`
    },
    async get(key, signal) {
      const output = await own.getObject(at(key), options(signal))
      const text = (await output.Body?.transformToString('utf-8')) ?? ''
      return { found: { text, tag: output.ETag ?? '' }, date: dateOf(output) }
    },
    async put(key, text, expected, signal) {
      const condition = expected === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected }
      const input = { ...at(key), Body: text, ContentType: contentType, CacheControl: noCache, ...condition }
      return (await own.putObject(input, options(signal))).ETag
    },
    async list(folder, signal) {
      const keys: string[] = []
      let token: string | undefined
      do {
        const input = { Bucket: name, Prefix: folder, Delimiter: '/', ...(token && { ContinuationToken: token }) }
        const page = await own.listObjectsV2(input, options(signal))
        for (const { Key } of page.Contents ?? []) if (Key !== undefined) keys.push(Key)
        token = page.NextContinuationToken
      } while (token)
      return keys
    },
    async delete(key, expected, signal) {
      await own.deleteObject({ ...at(key), ...(expected !== undefined && { IfMatch: expected }) }, options(signal))
    },
    refusalOf,
  }
}

/**
 * Makes a client that also tells the `Date` of an answer, which the outputs of the SDK lack. It is the user's
 * client with another stack of middleware, so that the user's client stays as it is.
 */
function withDates(client: S3Methods): { own: S3Methods; dateOf(output: object): string | undefined } {
  const dates = new WeakMap<object, string | undefined>()
  const dateOf = (output: object) => dates.get(output)
  const stack = (client as Inner).middlewareStack?.clone()
  if (stack === undefined) return { own: client, dateOf }
  const middleware = (next: (given: unknown) => Promise<Answer>) => async (given: unknown) => {
    const answer = await next(given)
    if (answer.output !== undefined) dates.set(answer.output, answer.response?.headers?.['date'])
    return answer
  }
  // With high priority it is called last, when the deserializer has made the output.
  stack.add(middleware, { step: 'deserialize', priority: 'high', name: 'graupelDates', override: true })
  const own = Object.create(client, { middlewareStack: { value: stack } }) as S3Methods
  return { own, dateOf }
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
