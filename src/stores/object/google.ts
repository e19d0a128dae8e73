import { reasonOf } from '../../core/errors.js'
import { type Bucket, contentType, noCache, type Refusal, textOf } from './bucket.js'

interface GoogleFile {
  readonly name: string
  readonly metadata: { readonly generation?: string | number | undefined }
  createReadStream(options: { readonly validation: false }): {
    on(event: 'response', listener: (response: { readonly headers: object }) => void): unknown
  }
  save(
    text: string,
    options: {
      readonly resumable: false
      readonly validation: false
      readonly metadata: { readonly contentType: string; readonly cacheControl: string }
      readonly preconditionOpts: { readonly ifGenerationMatch: number | string }
    },
  ): Promise<unknown>
  delete(options: { readonly ifGenerationMatch?: number | string }): Promise<unknown>
}

/** The methods of a `Bucket` of `@google-cloud/storage`, version 7. */
export interface GoogleBucket {
  readonly name: string
  file(name: string): GoogleFile
  getFiles(query: {
    readonly prefix: string
    readonly delimiter: string
    readonly fields: string
  }): Promise<readonly [readonly { readonly name: string }[], ...unknown[]]>
}

/**
 * Makes a bucket of Google's. Its client has no signals: a call that is given up continues, and its outcome
 * is dropped.
 */
export function googleBucket(bucket: GoogleBucket): Bucket {
  return {
    who: `the bucket '${bucket.name}' of Google`,
    place: async () => {
      const { apiEndpoint = 'Google' } = Object((bucket as { storage?: unknown }).storage)
      return `bucket ${bucket.name} at ${apiEndpoint}`
    },
    async get(name) {
      // The answer that has the text also has its generation; `download` would lose the headers. The
      // conditions compare generations, so a checksum has nothing to prove.
      const stream = bucket.file(name).createReadStream({ validation: false })
      let header = (_: string): string | undefined => undefined
      stream.on('response', ({ headers }) => {
        header = (of) => headerOf(headers, of)
      })
      try {
        const text = await textOf(stream)
        return { found: { text, tag: header('x-goog-generation') ?? '' }, date: header('date') }
      } catch (error) {
        throw new ReadError(error, header('date'))
      }
    },
    async put(name, text, expected) {
      const file = bucket.file(name)
      await file.save(text, {
        resumable: false,
        // If its checksum differs, the client would delete the object, whatever has been written since.
        validation: false,
        metadata: { contentType, cacheControl: noCache },
        preconditionOpts: { ifGenerationMatch: expected ?? 0 },
      })
      const { generation } = file.metadata
      return generation === undefined ? undefined : `${generation}`
    },
    async list(folder) {
      const query = { prefix: folder, delimiter: '/', fields: 'items(name),nextPageToken' }
      const [files] = await bucket.getFiles(query)
      return files.map(({ name }) => name)
    },
    async delete(name, expected) {
      await bucket.file(name).delete(expected === undefined ? {} : { ifGenerationMatch: expected })
    },
    refusalOf,
  }
}

/** The error of a read, with the `Date` of its answer, which the client's error does not have. */
class ReadError extends Error {
  readonly date: string | undefined

  constructor(cause: unknown, date: string | undefined) {
    super(reasonOf(cause), { cause })
    this.date = date
  }
}

/** Reads a header of an answer, whose headers are an object, or `Headers` with some versions. */
function headerOf(headers: unknown, name: string): string | undefined {
  const of = headers as { get?: (name: string) => string | null } & Record<string, string | undefined>
  return (typeof of.get === 'function' ? of.get(name) : of[name]) ?? undefined
}

function refusalOf(thrown: unknown): Refusal | undefined {
  const error = thrown instanceof ReadError ? thrown.cause : thrown
  const { code: status, errors, response } = Object(error)
  if (typeof status !== 'number') return undefined
  const message = reasonOf(error)
  const headers: unknown = response?.headers ?? {}
  const reason = `${errors?.[0]?.reason ?? ''}`
  return {
    status,
    code: codeOf(status, reason, message),
    message,
    retryAfter: headerOf(headers, 'retry-after'),
    date: thrown instanceof ReadError ? thrown.date : headerOf(headers, 'date'),
  }
}

/** Returns the code of an answer. A missing object and a missing bucket have the same reason, `notFound`. */
function codeOf(status: number, reason: string, message: string): string {
  if (status === 412) return 'conditionNotMet'
  if (status === 404 && /no such object/i.test(message)) return 'no such object'
  return reason
}
