import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { googleDialect } from './google.ts'
import { s3Dialect } from './s3.ts'

// A STAND-IN for S3 and for Google Cloud Storage, and no real service: as far as stores use them, with
// conditional writes and the answers of the real services to mistakes. Azure has a real emulator, azurite.

/** A call of a bucket, in the terms of S3. */
export interface Call {
  readonly action: 'GetObject' | 'PutObject' | 'DeleteObject' | 'ListBucket'
  readonly bucket: string
  /** The name of the object; the prefix of a list. */
  readonly name: string
  readonly body: string
  /** The conditions of Google are turned into these. */
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  /** Returns a page of a list from this name on. */
  readonly after: string
  readonly limit: number
}

export interface Stored {
  readonly text: string
  readonly etag: string
  readonly generation: string
}

/** The outcome of a call, which a dialect turns into an answer. */
export type Outcome =
  | { readonly kind: 'object'; readonly stored: Stored }
  | { readonly kind: 'list'; readonly names: readonly string[]; readonly next: string | undefined }
  | { readonly kind: 'deleted' }
  | Fault

export interface Fault {
  readonly kind: 'fault'
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfter?: number
}

export interface Reply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** The API of one service. */
export interface Dialect {
  /** Reads a request; `undefined` if it belongs to another service. */
  callOf(request: IncomingMessage, body: string): Call | undefined
  reply(call: Call, outcome: Outcome): Reply
}

const fault = (status: number, code: string, message: string, retryAfter?: number): Fault => ({
  kind: 'fault',
  status,
  code,
  message,
  ...(retryAfter !== undefined && { retryAfter }),
})

/** The faults of a service, each as a function that answers before the bucket is asked. */
export const faults = {
  'has no such bucket': () => fault(404, 'NoSuchBucket', 'The specified bucket does not exist.'),
  throttles: () => fault(503, 'SlowDown', 'Please reduce your request rate.', 1),
  'answers conflicts': ({ action, ifMatch = '', ifNoneMatch = '' }: Call) =>
    action === 'PutObject' && ifMatch + ifNoneMatch !== ''
      ? fault(
          409,
          'ConditionalRequestConflict',
          'The conditional request cannot succeed due to a conflicting operation.',
        )
      : undefined,
  'is in another region': () =>
    fault(
      301,
      'PermanentRedirect',
      'The bucket you are attempting to access must be addressed using the specified endpoint.',
    ),
  'expects another region': () =>
    fault(
      400,
      'AuthorizationHeaderMalformed',
      "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1'",
    ),
  'has expired credentials': () => fault(400, 'ExpiredToken', 'The provided token has expired.'),
  'knows no such key': () =>
    fault(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.'),
  'sees a wrong clock': () =>
    fault(403, 'RequestTimeTooSkewed', "The difference between the request time and the server's time is too large."),
  'has no conditional writes': ({ action, ifMatch = '', ifNoneMatch = '' }: Call) =>
    action === 'PutObject' && ifMatch + ifNoneMatch !== ''
      ? fault(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.')
      : undefined,
  'denies reads': (call: Call) => denied(call, 'GetObject'),
  'denies writes': (call: Call) => denied(call, 'PutObject'),
  'denies lists': (call: Call) => denied(call, 'ListBucket'),
  'denies deletes': (call: Call) => denied(call, 'DeleteObject'),
} satisfies Record<string, (call: Call) => Fault | undefined>

function denied({ action }: Call, of: Call['action']): Fault | undefined {
  return action === of ? fault(403, 'AccessDenied', `User is not authorized to perform: s3:${of}`) : undefined
}

/** The behaviour of a service with conditions and versions. */
export interface Habits {
  /** Conditions that it accepts and ignores. */
  ignores?: readonly ('ifNoneMatch' | 'ifMatch' | 'ifMatch of a missing object' | 'ifMatch of a delete')[]
  /** The bucket has versioning: a delete leaves a delete marker and all versions. */
  isVersioned?: boolean
  /** The objects of one page of a list. */
  pageSize?: number
  fault?: keyof typeof faults | undefined
  /** Answers in place of the API, such as a website does. */
  instead?: Reply
  /** Is called before a call is done. */
  before?: (call: Call) => Promise<unknown> | unknown
  /** Is called between the comparison of a write and the write, which are one step without it. */
  between?: (call: Call) => Promise<unknown>
  /** Makes the ETag of a write, in place of the hash of its body. */
  etagOf?: (body: string) => string
  /** Answers a read in place of the present object, such as a cache does. */
  shows?: (call: Call, present: Stored | undefined) => Stored | undefined
  /** Is called after a call is done. If it returns true, the answer is lost. */
  after?: (call: Call) => boolean | undefined
}

export interface BucketServerOptions {
  /** A file in which objects are kept, so that another server can continue with them. */
  readonly file?: string
}

export class BucketServer {
  readonly server
  habits: Habits = {}
  /** All calls, in their order. */
  readonly calls: Call[] = []
  /** All versions of each object; `null` is a delete marker. The last one is the present one. */
  readonly versions = new Map<string, (Stored | null)[]>()
  readonly #options: BucketServerOptions
  #generation = 1_700_000_000_000_000

  constructor(options: BucketServerOptions = {}) {
    this.#options = options
    const { file } = options
    for (const line of file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
      if (line !== '') this.#keep(...(JSON.parse(line) as [string, Stored | null]))
    }
    this.server = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, headers = {}, body = '' }) => {
          response.writeHead(status, { 'x-amz-request-id': randomUUID(), ...headers })
          response.end(body)
        },
        () => response.destroy(),
      )
    })
  }

  /** Starts to listen, and returns the port. Its idle connections live longer than a test. */
  async listen(port = 0): Promise<number> {
    this.server.keepAliveTimeout = 600_000
    // All processes of a fleet may connect at once.
    await new Promise<void>((resolve) => this.server.listen({ port, host: '127.0.0.1', backlog: 4096 }, resolve))
    return (this.server.address() as { port: number }).port
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  /** The names of the present objects. */
  names(): string[] {
    return [...this.versions].filter(([, all]) => all.at(-1)).map(([at]) => at)
  }

  /** Deletes all objects, as an operator does. */
  empty(): void {
    this.versions.clear()
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const body = await text(request)
    if (this.habits.instead !== undefined) return this.habits.instead
    for (const dialect of [googleDialect, s3Dialect]) {
      const call = dialect.callOf(request, body)
      if (call === undefined) continue
      this.calls.push(call)
      await this.habits.before?.(call)
      const outcome = await this.#do(call)
      if (this.habits.after?.(call) === true) throw new Error('the answer is lost')
      return dialect.reply(call, outcome)
    }
    return { status: 400, body: 'the stand-in does not know this request' }
  }

  async #do(call: Call): Promise<Outcome> {
    const early = this.habits.fault === undefined ? undefined : faults[this.habits.fault](call)
    if (early !== undefined) return early
    const at = `${call.bucket}/${call.name}`
    const present = this.versions.get(at)?.at(-1) ?? undefined
    if (call.action === 'ListBucket') return this.#list(call)
    const noSuchKey = fault(404, 'NoSuchKey', 'The specified key does not exist.')
    if (call.action === 'GetObject') {
      const stored = this.habits.shows === undefined ? present : this.habits.shows(call, present)
      return stored === undefined ? noSuchKey : { kind: 'object', stored }
    }
    const ignores = this.habits.ignores ?? []
    const failed = fault(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
    const isOther = ({ etag, generation }: Stored) => call.ifMatch !== etag && call.ifMatch !== generation
    if (call.action === 'DeleteObject') {
      if (call.ifMatch !== undefined && !ignores.includes('ifMatch of a delete')) {
        if (present === undefined) return noSuchKey
        if (isOther(present)) return failed
      }
      if (present !== undefined) this.#save(at, null)
      return { kind: 'deleted' }
    }
    if (call.ifNoneMatch === '*' && present !== undefined && !ignores.includes('ifNoneMatch')) return failed
    if (call.ifMatch !== undefined) {
      if (present === undefined && !ignores.includes('ifMatch of a missing object')) return noSuchKey
      if (present !== undefined && isOther(present) && !ignores.includes('ifMatch')) return failed
    }
    if (this.habits.between !== undefined) await this.habits.between(call)
    const etag = this.habits.etagOf?.(call.body) ?? `"${createHash('md5').update(call.body).digest('hex')}"`
    const stored = { text: call.body, etag, generation: `${++this.#generation}` }
    this.#save(at, stored)
    return { kind: 'object', stored }
  }

  #list({ bucket, name, after, limit }: Call): Outcome {
    const start = `${bucket}/${name}`
    const names = this.names()
      .filter((at) => at.startsWith(start) && !at.includes('/', start.length))
      .map((at) => at.slice(bucket.length + 1))
      .filter((one) => one > after)
      .sort()
    const page = names.slice(0, Math.min(limit, this.habits.pageSize ?? 1000))
    return { kind: 'list', names: page, next: page.length < names.length ? page.at(-1) : undefined }
  }

  #save(at: string, stored: Stored | null): void {
    this.#keep(at, stored)
    if (this.#options.file !== undefined) appendFileSync(this.#options.file, `${JSON.stringify([at, stored])}\n`)
  }

  #keep(at: string, stored: Stored | null): void {
    const all = this.habits.isVersioned ? (this.versions.get(at) ?? []) : []
    this.versions.set(at, [...all, stored])
    this.#generation = Math.max(this.#generation, Number(stored?.generation ?? 0))
  }
}
