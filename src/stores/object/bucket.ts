import { GraupelError, isGraupelError, reasonOf } from '../../core/errors.js'
import { answerRemedy, unsentRemedy } from '../aws.js'
import { refusalOfTls } from '../http.js'

/** An object, as one answer has shown it. */
export interface StoredObject {
  readonly text: string
  /** The ETag or the generation, which the service compares with the condition of a write. */
  readonly tag: string
}

/** The answer to a read. */
export interface Look {
  /** `undefined` if there is no such object. */
  readonly found: StoredObject | undefined
  /** The `Date` of the answer. */
  readonly date: string | null | undefined
}

/** An answer that refuses a call, in the words of the service. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfter?: string | null | undefined
  readonly date?: string | null | undefined
}

/** The calls of a bucket that a store needs. Each kind of client has a function that makes it. */
export interface Bucket {
  /** The bucket for messages: `the bucket 'ids' of S3`. */
  readonly who: string
  /** Describes where the bucket is, for people. */
  place(): Promise<string>
  /** Reads an object. Rejects with the client's error also if there is no such object. */
  get(name: string, signal: AbortSignal | undefined): Promise<Look & { readonly found: StoredObject }>
  /**
   * Writes an object in one step, if it has this tag; `undefined` expects that there is no such object.
   *
   * @returns The new tag, or `undefined` if the answer has none.
   */
  put(
    name: string,
    text: string,
    expected: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined>
  /** Lists the names of the objects in a folder, which ends with `/`, without those in folders below. */
  list(folder: string, signal: AbortSignal | undefined): Promise<string[]>
  /** Deletes an object, if it has this tag; whatever its tag is, without one. */
  delete(name: string, expected: string | undefined, signal: AbortSignal | undefined): Promise<void>
  /** Reads the refusal of an error of the client; `undefined` if the error is no answer of the service. */
  refusalOf(error: unknown): Refusal | undefined
  /** Errors that are no refusals already name the service and the reason. */
  readonly hasOwnErrors?: true
}

/** The headers of an object. Caches on the way must not keep a record. */
export const noCache = 'no-store'
export const contentType = 'text/plain; charset=utf-8'

/** Reads a stream of bytes as text. */
export async function textOf(stream: unknown): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of stream as AsyncIterable<Uint8Array>) text += decoder.decode(part, { stream: true })
  return text + decoder.decode()
}

/** Codes of an object that is missing. A bucket that is missing has other codes. */
const missing = /^(NoSuchKey|NoSuchVersion|BlobNotFound|no such object)$/
/** Codes of a write that another write has come before. */
const lost = /^(PreconditionFailed|BlobAlreadyExists|ConditionNotMet|TargetConditionNotMet|conditionNotMet)$/
/** Codes of a write that met another write or a delete. They do not say whether its condition holds. */
const conflicting = /^(ConditionalRequestConflict|OperationAborted)$/

/** A write that the service gave up, whatever its condition, and that may be repeated. */
export class ConflictError extends Error {}

/** The calls of a bucket, whose errors say what to do. */
export class CheckedBucket {
  readonly #bucket: Bucket

  constructor(bucket: Bucket) {
    this.#bucket = bucket
  }

  get who(): string {
    return this.#bucket.who
  }

  place(): Promise<string> {
    return this.#bucket.place()
  }

  /** @throws GraupelError `ERR_STORE_UNAVAILABLE`, an Error, or the reason of the signal; so do all calls. */
  async get(name: string, signal?: AbortSignal): Promise<Look> {
    const asked = `read ${name}`
    try {
      signal?.throwIfAborted()
      const look = await this.#bucket.get(name, signal)
      if (look.found.tag !== '') return look
    } catch (error) {
      const refusal = this.#refusalOf(error)
      if (refusal !== undefined && missing.test(refusal.code)) return { found: undefined, date: refusal.date }
      throw this.#explained(asked, error, signal)
    }
    throw this.#noTag(asked)
  }

  /** @returns The new tag, or `undefined` if the object has another tag. */
  async put(name: string, text: string, expected: string | undefined, signal?: AbortSignal) {
    const asked = `write ${name}`
    let tag: string | undefined
    try {
      signal?.throwIfAborted()
      tag = await this.#bucket.put(name, text, expected, signal)
    } catch (error) {
      if (this.#isLost(error, expected)) return undefined
      throw this.#explained(asked, error, signal)
    }
    if (tag) return tag
    throw this.#noTag(asked)
  }

  async list(folder: string, signal?: AbortSignal): Promise<string[]> {
    try {
      signal?.throwIfAborted()
      return await this.#bucket.list(folder, signal)
    } catch (error) {
      throw this.#explained(`list ${folder}`, error, signal)
    }
  }

  /** @returns Whether the service has accepted the condition. It may have ignored it. */
  async delete(name: string, expected: string | undefined, signal?: AbortSignal): Promise<boolean> {
    try {
      signal?.throwIfAborted()
      await this.#bucket.delete(name, expected, signal)
      return true
    } catch (error) {
      if (this.#isLost(error, expected ?? '')) return false
      throw this.#explained(`delete ${name}`, error, signal)
    }
  }

  /** A write over an object that is missing has lost, too. */
  #isLost(error: unknown, expected: string | undefined): boolean {
    const { code = '' } = this.#refusalOf(error) ?? {}
    return lost.test(code) || (expected !== undefined && missing.test(code))
  }

  #refusalOf(error: unknown): Refusal | undefined {
    return isGraupelError(error) ? undefined : this.#bucket.refusalOf(error)
  }

  #noTag(asked: string): GraupelError {
    return new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `${this.who} answered without an ETag when it was asked to ${asked}; ${isThisABucket}`,
    )
  }

  #explained(asked: string, error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason
    if (isGraupelError(error)) return error
    const { who } = this
    const refusal = this.#bucket.refusalOf(error)
    if (refusal === undefined && this.#bucket.hasOwnErrors) return error
    if (refusal === undefined) {
      const reason = reasonOf(error)
      const remedy = unsentRemedy(error)
      if (remedy !== undefined) {
        const text = `${who} was not asked to ${asked}: ${reason}; ${remedy}`
        return new GraupelError('ERR_STORE_UNAVAILABLE', text, { cause: error })
      }
      const ofTls = refusalOfTls(error, who, 'let Node trust its authority (NODE_EXTRA_CA_CERTS)', 'http:')
      return ofTls ?? new Error(`${who} cannot be reached: ${reason}`, { cause: error })
    }
    const { status, code, message, retryAfter } = refusal
    const words = [code, message].filter(Boolean).join(': ').trim().replace(/\s+/g, ' ').replace(/\.$/, '')
    const said = `${who} answered ${status} when it was asked to ${asked}: ${words.length > 160 ? `${words.slice(0, 160)}…` : words}`
    if (isNotImplemented(refusal)) {
      return new GraupelError('ERR_STORE_UNSAFE', `${said}; it has no conditional writes, so use another bucket`)
    }
    if (conflicting.test(code)) return new ConflictError(said, { cause: error })
    if (status >= 500 || status === 429) {
      return new Error(`${said}${retryAfter ? `; it asks to wait for ${retryAfter} s` : ''}`, { cause: error })
    }
    const answer = `${status} ${code} ${message}`
    const find = (of: typeof remedies) => of.find(([reason]) => reason.test(answer))?.[1]
    const remedy = find(remedies) ?? answerRemedy(answer) ?? find(rights) ?? isThisABucket
    return new GraupelError('ERR_STORE_UNAVAILABLE', `${said}; ${remedy}`, { cause: error })
  }
}

const isThisABucket = 'is this the address of the bucket, and no website or proxy?'

/** The first pattern that matches status, code and message counts; then those of AWS. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/NoSuchBucket|ContainerNotFound|bucket does not exist/i, 'create the bucket, or correct its name'],
  [
    /PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraint|must be addressed using|^301 /,
    'the bucket is in another region: correct the region',
  ],
  [/invalid_grant|not valid in the specified time frame/, 'renew the credentials'],
  [
    /ImmutableDueToPolicy|retention|ObjectLock|Object Lock|Content-MD5/i,
    'use a bucket without retention and object lock',
  ],
]

/** The remedies of the other refusals. */
const rights: typeof remedies = [
  [/Expired/, 'renew the credentials'],
  [/AuthenticationFailed|failed to authenticate|InvalidAuthenticationInfo|^401 /, 'check the credentials'],
  [/^403 /, 'grant the rights that docs/stores/object.md names'],
]

/** Services without conditional writes, such as Backblaze B2, answer so to their headers. */
function isNotImplemented({ status, code }: Refusal): boolean {
  return status === 501 || code === 'NotImplemented'
}
