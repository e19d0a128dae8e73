import { type HttpAnswer, HttpService } from '../http.js'
import { type Bucket, contentType, noCache, type Refusal } from './bucket.js'

/** An `AwsClient` of aws4fetch. Only its `sign` is used: its `fetch` repeats a write that may have landed. */
export interface SigningClient {
  sign(
    url: string,
    init: {
      readonly method: string
      readonly headers: Record<string, string>
      readonly redirect: 'manual'
      readonly body?: string
      readonly signal?: AbortSignal
      readonly aws: { readonly service: string }
    },
  ): Promise<object>
}

/** An answer of the service that is no success. */
class RefusedError extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/**
 * Makes a bucket of S3's own API, by the global `fetch`.
 *
 * @param url - The bucket: its host, or the host of the service and the bucket's name as its path. @throws
 * TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function signedBucket(client: SigningClient, url: string): Bucket {
  const service = new HttpService('S3', {
    // Twice, so that a read which fails is repeated: a list has up to 1 024 reads, and needs them all.
    url: [url, url],
    fetch: async (at, init) => fetch((await client.sign(at, { ...init, aws: { service: 's3' } })) as Request),
  })
  const pathOf = (name: string) => `/${name.split('/').map(encodeURIComponent).join('/')}`
  const ask = async (
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
    body?: string,
  ): Promise<HttpAnswer> => {
    const given = { method, path, headers, ...(body !== undefined && { body }), isRepeatable: method === 'GET' }
    const answer = await service.request(given, signal)
    if (answer.status === 200 || answer.status === 204) return answer
    const { status, text } = answer
    throw new RefusedError({
      status,
      code: textOf(text, 'Code') ?? '',
      message: textOf(text, 'Message') ?? text,
      date: answer.header('date'),
    })
  }
  return {
    who: `the bucket at ${url}`,
    place: async () => `bucket of S3 at ${url}`,
    async get(name, signal) {
      const answer = await ask('GET', pathOf(name), {}, signal)
      return { found: { text: answer.text, tag: answer.header('etag') ?? '' }, date: answer.header('date') }
    },
    async put(name, text, expected, signal) {
      const condition = expected === undefined ? { 'if-none-match': '*' } : { 'if-match': expected }
      const headers = { 'content-type': contentType, 'cache-control': noCache, ...condition }
      return (await ask('PUT', pathOf(name), headers, signal, text)).header('etag') ?? undefined
    },
    async list(folder, signal) {
      const keys: string[] = []
      let token: string | undefined
      do {
        const query = new URLSearchParams({ 'list-type': '2', prefix: folder, delimiter: '/' })
        if (token !== undefined) query.set('continuation-token', token)
        const answer = await ask('GET', `/?${query}`, {}, signal)
        const { text } = answer
        if (!text.includes('<ListBucketResult')) throw answer.error('is this the address of a bucket of S3?')
        for (const [, inner = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          keys.push(textOf(inner, 'Key') ?? '')
        }
        token = textOf(text, 'NextContinuationToken')
      } while (token)
      return keys
    },
    async delete(name, expected, signal) {
      await ask('DELETE', pathOf(name), expected === undefined ? {} : { 'if-match': expected }, signal)
    },
    hasOwnErrors: true,
    refusalOf: (error) => (error instanceof RefusedError ? error.refusal : undefined),
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads the text of the first element of a name. */
function textOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml)?.[1]
  return text?.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, entity) => {
    if (entity !== undefined) return entities[entity] ?? all
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
