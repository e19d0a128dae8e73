import { platform } from '#platform'
import { GraupelError, reasonOf, show, typeError } from '../core/errors.js'
import { type Rows, readRows } from '../core/options.js'
import { endpointsFrom, fetcher, globalFetch } from '../core/readers.js'
import { newVersion } from './record.js'
import type { StoreEntry } from './store.js'

/**
 * The parts of `fetch` that stores use: Node's, a browser's, undici's, or a function of your own that calls
 * one of them.
 */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly redirect: 'manual'
    readonly body?: string
    readonly signal?: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}>

export interface HttpOptions {
  /** The address of the service, such as `http://127.0.0.1:2379`; or several endpoints of one cluster. */
  readonly url: string | readonly string[]
  /**
   * Sends the requests. A `fetch` of your own may trust another certificate, or present a certificate.
   *
   * @default the global `fetch`
   */
  readonly fetch?: Fetch | undefined
}

const rows = {
  url: {
    read: (name, value) =>
      endpointsFrom(name, value, 'pass the scheme, the host, the port and a path, and all else as options'),
    isRequired: true,
  },
  fetch: { read: fetcher, byDefault: globalFetch },
} satisfies Rows<HttpOptions>

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
  /** Whether the request does no harm if the service gets it twice. */
  readonly isRepeatable: boolean
  /** Texts that no message may show, even if the service repeats them. */
  readonly secret?: string | readonly string[] | undefined
  /** The task of the request, for a message about its answer. */
  readonly asked?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  header(name: string): string | null
  /** An error that names the service, the answer and what to do, unless the answer says that itself. */
  error(remedy?: string): GraupelError
}

/** Codes of errors that only occur before a request is sent. */
const notSent = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/
const ofCertificate = /CERT|SIGNATURE/
/** The alert of a server that lacks, or refuses, the certificate of its client (RFC 8446, section 6.2). */
const ofClientCertificate = /ALERT_(.*CERTIFICATE|UNKNOWN_CA)/
/** The error of a server that answers without TLS, or ends the connection instead. */
const ofNoTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$|before secure TLS connection/

/**
 * A service that speaks HTTP. Calls go to one of its endpoints for as long as this endpoint works. After a
 * failure, or an abort without an answer, the next call begins with the next endpoint. A call tries a second
 * endpoint only if the request may arrive twice, or was certainly not sent.
 */
export class HttpService {
  readonly #name: string
  readonly #urls: readonly string[]
  readonly #fetch: Fetch
  #current = 0

  /** @throws TypeError, RangeError `ERR_OPTION_INVALID` */
  constructor(name: string, options: HttpOptions) {
    const { url, fetch } = readRows(options, rows)
    this.#name = name
    this.#urls = url
    this.#fetch = fetch
  }

  /**
   * Sends a request.
   *
   * @returns An answer whose status is below 500, or 501, and not 408 or 429.
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` if a certificate is missing or not trusted; an Error if no
   * endpoint has such an answer; the reason of the signal.
   */
  async request(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    for (let tried = 1; ; tried++) {
      signal?.throwIfAborted()
      const at = this.#current
      const { failure, wasSent, answer } = await this.#ask(this.#urls[at] as string, request, signal)
      if (answer !== undefined) return answer
      // A concurrent call may have gone on to the next endpoint already.
      if (this.#current === at) this.#current = (at + 1) % this.#urls.length
      signal?.throwIfAborted()
      if (tried === this.#urls.length || (wasSent && !request.isRepeatable)) throw failure
    }
  }

  async #ask(
    url: string,
    { method, path, headers, body, secret, asked }: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<{ answer?: HttpAnswer; failure?: Error; wasSent?: boolean }> {
    const who = `${this.#name} at ${url}`
    try {
      const response = await this.#fetch(url + path, {
        method,
        headers,
        // A redirect would send the credentials to another host.
        redirect: 'manual',
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
      })
      const { status } = response
      const text = await response.text()
      const what = asked === undefined ? '' : ` when it was asked to ${asked}`
      const said = () => `${who} answered ${status}${what}${shown(text, secret)}`
      // 429 means that this endpoint is overloaded or full, 408 that a busy host has sent the request late.
      // Another attempt or endpoint may work. After 501 none will.
      if ((status >= 500 && status !== 501) || status === 429 || status === 408) {
        const seconds = response.headers.get('retry-after')
        const wait = seconds === null ? '' : `; it asks to wait for ${seconds} s`
        return { failure: new Error(said() + wait), wasSent: true }
      }
      const error = (remedy?: string) =>
        new GraupelError('ERR_STORE_UNAVAILABLE', remedy === undefined ? said() : `${said()}; ${remedy}`)
      return { answer: { status, text, error, header: (name) => response.headers.get(name) } }
    } catch (error) {
      // Our own fetch made this error, whose message already has a remedy.
      if (error instanceof GraupelError) return { failure: error, wasSent: false }
      const refusal = refusalOfTls(error, who, trustRemedy, 'http:')
      if (refusal !== undefined) return { failure: refusal, wasSent: false }
      const failure = new Error(`${who} cannot be reached: ${hidden(reasonOf(error), secret)}`, { cause: error })
      return { failure, wasSent: !notSent.test(ofFetch(error).code) }
    }
  }
}

const trustRemedy = 'let Node trust its authority (NODE_EXTRA_CA_CERTS), or pass a fetch of your own'
/** The remedies for a certificate that no trust in its authority would mend. */
const certificateRemedies: readonly (readonly [RegExp, string])[] = [
  [/EXPIRED/, 'renew the certificate of the server'],
  [/NOT_YET_VALID/, 'set the clock of this host, by NTP'],
  [/ALTNAME/, 'use a host name that the certificate has'],
]

/**
 * Explains an error of TLS that came before a request was sent; `undefined` for another error.
 *
 * @param who - The service and its address.
 * @param trust - The remedy for a certificate that is not trusted.
 * @param plain - The scheme of a URL without TLS.
 */
export function refusalOfTls(error: unknown, who: string, trust: string, plain: string): GraupelError | undefined {
  const { code, message } = ofFetch(error)
  const refusal = (text: string) => new GraupelError('ERR_STORE_UNAVAILABLE', text, { cause: error })
  if (ofNoTls.test(code) || ofNoTls.test(message)) {
    return refusal(`${who} does not answer with TLS; write ${plain}// if it has no TLS`)
  }
  if (ofClientCertificate.test(code)) {
    return refusal(`${who} wants a client certificate: ${code}; let a fetch or a client of your own present one`)
  }
  if (!ofCertificate.test(code)) return undefined
  const remedy = certificateRemedies.find(([reason]) => reason.test(code))?.[1] ?? trust
  return refusal(`${who} cannot be trusted: ${code}; ${remedy}`)
}

/** Reads the code and the message of an error of `fetch`, which may be in its cause. */
function ofFetch(error: unknown): { readonly code: string; readonly message: string } {
  const { cause = error } = Object(error)
  const { code = '', message = '' } = Object(cause)
  return { code: `${code}`, message: `${message}` }
}

/** Reads the JSON of an answer. @throws GraupelError `ERR_STORE_UNAVAILABLE` */
export function parseJson(answer: HttpAnswer, remedy: string): unknown {
  const found = parsed(answer.text)
  if (found === undefined) throw answer.error(remedy)
  return found
}

/** Parses JSON. Returns `undefined` for any other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a text that is not empty, such as a user or a token. @throws TypeError `ERR_OPTION_INVALID` */
export function credential(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw typeError(
    'ERR_OPTION_INVALID',
    `${name} is ${value === '' ? 'empty' : show(value)}; pass a text, or leave it out`,
  )
}

function shown(text: string, secret: HttpRequest['secret']): string {
  const line = hidden(messageOf(text), secret).trim().replace(/\s+/g, ' ')
  if (line === '') return ' and nothing else'
  return `: ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`
}

/** Returns the message of an answer: JSON of etcd and Kubernetes, a problem (RFC 9457), or XML of S3. */
function messageOf(text: string): string {
  const { message, detail = message } = Object(parsed(text))
  if (typeof detail === 'string') return detail
  const [, code, words] = /<Code>(.*?)<\/Code>\s*<Message>(.*?)<\/Message>/s.exec(text) ?? []
  return code === undefined ? text : `${code}: ${words}`
}

/** Replaces the secrets, also in the form that they have in JSON, because a service may quote the request. */
function hidden(text: string, secret: HttpRequest['secret'] = []): string {
  const forms = [secret].flat().flatMap((one) => [one, JSON.stringify(one).slice(1, -1)])
  return forms.reduce((rest, one) => rest.replaceAll(one, '***'), text)
}

/**
 * Reads the time of a store from the Date of an answer, which has whole seconds (RFC 9110, section 6.6.1).
 * Returns the millisecond of this second that is nearest to the host's clock, so that the host's clock only
 * seems wrong by an amount that is certain.
 *
 * @returns Milliseconds since 1970.
 */
export function parseDate(date: string | null | undefined, wallMs = platform.wallMs()): number {
  const startMs = Date.parse(date ?? '')
  if (Number.isNaN(startMs)) {
    throw new Error(`the answer has ${show(date)} for its Date; a server or proxy has to send it`)
  }
  return Math.min(Math.max(wallMs, startMs), startMs + 999)
}

/** The length of a version, which is a UUID. */
const versionLength = 36

/**
 * Makes the text that is stored for a value: a version and the value. The service compares the whole text,
 * because a cluster that is made from a snapshot repeats its revisions and indexes.
 */
export function storedFor(value: string): string {
  return newVersion() + value
}

/** Reads the record that {@link storedFor} made. */
export function entryOf(key: string, stored: string): StoreEntry {
  return { key, value: stored.slice(versionLength), version: stored }
}

export function toBase64(text: string): string {
  let letters = ''
  for (const byte of new TextEncoder().encode(text)) letters += String.fromCharCode(byte)
  return btoa(letters)
}

export function fromBase64(text: string): string {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i)
  return new TextDecoder().decode(bytes)
}
