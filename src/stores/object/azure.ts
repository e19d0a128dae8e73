import { reasonOf } from '../../core/errors.js'
import { type CallOptions, callOptions } from '../aws.js'
import { type Bucket, contentType, noCache, type Refusal, textOf } from './bucket.js'

interface Conditions {
  readonly conditions?: { readonly ifMatch?: string; readonly ifNoneMatch?: string }
}

interface AzureBlob {
  upload(
    body: string,
    bytes: number,
    options: CallOptions &
      Conditions & { readonly blobHTTPHeaders?: { blobContentType?: string; blobCacheControl?: string } },
  ): Promise<{ etag?: string | undefined }>
  download(
    offset?: number,
    count?: number,
    options?: CallOptions,
  ): Promise<{
    readonly etag?: string | undefined
    readonly date?: Date | undefined
    /** In Node. */
    readonly readableStreamBody?: unknown
    /** In browsers. */
    readonly blobBody?: Promise<{ text(): Promise<string> }> | undefined
  }>
  delete(options: CallOptions & Conditions): Promise<unknown>
}

/** The methods of a `ContainerClient` of `@azure/storage-blob`, version 12. */
export interface AzureContainer {
  readonly url: string
  readonly containerName: string
  getBlockBlobClient(name: string): AzureBlob
  listBlobsByHierarchy(
    delimiter: string,
    options: CallOptions & { readonly prefix: string },
  ): AsyncIterable<{ readonly kind: 'prefix' | 'blob'; readonly name: string }>
}

/** Makes a bucket of a container. */
export function azureBucket(container: AzureContainer): Bucket {
  // The query of the URL may be a shared access signature.
  const { origin, pathname } = new URL(container.url)
  return {
    who: `the container '${container.containerName}' of Azure`,
    place: async () => `container ${origin}${pathname}`,
    async get(name, signal) {
      const answer = await container.getBlockBlobClient(name).download(0, undefined, callOptions(signal))
      const { readableStreamBody: stream, blobBody, etag = '', date } = answer
      const text = blobBody === undefined ? await textOf(stream) : await (await blobBody).text()
      return { found: { text, tag: etag }, date: date?.toUTCString() }
    },
    async put(name, text, expected, signal) {
      const conditions = expected === undefined ? { ifNoneMatch: '*' } : { ifMatch: expected }
      const blobHTTPHeaders = { blobContentType: contentType, blobCacheControl: noCache }
      const bytes = new TextEncoder().encode(text).length
      const blob = container.getBlockBlobClient(name)
      return (await blob.upload(text, bytes, { conditions, blobHTTPHeaders, ...callOptions(signal) })).etag
    },
    async list(folder, signal) {
      const names: string[] = []
      for await (const { kind, name } of container.listBlobsByHierarchy('/', {
        prefix: folder,
        ...callOptions(signal),
      })) {
        if (kind === 'blob') names.push(name)
      }
      return names
    },
    async delete(name, expected, signal) {
      const conditions = expected === undefined ? {} : { ifMatch: expected }
      await container.getBlockBlobClient(name).delete({ conditions, ...callOptions(signal) })
    },
    refusalOf,
  }
}

function refusalOf(error: unknown): Refusal | undefined {
  const { statusCode, code, details, response } = Object(error)
  if (typeof statusCode !== 'number') return undefined
  const header = (name: string): string | undefined => response?.headers?.get(name)
  return {
    status: statusCode,
    code: `${code ?? details?.errorCode ?? header('x-ms-error-code') ?? ''}`,
    // The message also has the code, the id of the request and the time, each in a line.
    message: reasonOf(error).split('\n')[0] ?? '',
    retryAfter: header('retry-after'),
    date: header('date'),
  }
}
