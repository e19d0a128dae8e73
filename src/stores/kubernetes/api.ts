import { GraupelError, show, typeError } from '../../errors.js'
import { timeOf } from '../http-date.js'
import { refusal, unreachable } from './refusal.js'

/** What is used of `fetch`. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>

interface FetchRequest {
  method: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
  redirect: 'manual'
}

interface FetchAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** How the API of a cluster is reached. */
export interface Access {
  readonly url: string
  headers(): Promise<Record<string, string>>
  readonly fetch: Fetch
}

/** A Lease of coordination.k8s.io/v1, as far as it is used here. */
export interface Lease {
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> }
}

/** One step of a JSON Patch (RFC 6902). */
export interface Step {
  readonly op: 'test' | 'add'
  readonly path: string
  readonly value: unknown
}

/** What the API says in JSON: an object, a list of them, or a Status. */
export interface Said extends Lease {
  readonly kind?: string
  readonly items?: readonly Lease[]
  readonly reason?: string
  readonly message?: string
  readonly details?: { readonly kind?: string }
  readonly metadata?: Lease['metadata'] & { readonly continue?: string }
}

/** An answer of the API. */
export interface Answer {
  readonly status: number
  /** `undefined` where it is no JSON. */
  readonly said: Said | undefined
  /** What it says, for a message. */
  reason(): string
  header(name: string): string | null
}

/** What is asked for. */
export interface Question {
  readonly verb: 'get' | 'list' | 'create' | 'patch'
  readonly url: string
  readonly namespace: string
}

const methods = { get: 'GET', list: 'GET', create: 'POST', patch: 'PATCH' } as const
/** As kubectl has it. A page of 500 Leases has about 700 kB. */
const pageLength = 500

/** The Leases of a namespace. Each function makes one request; `list` one for each page. */
export class LeaseApi {
  readonly #access: Access
  readonly #namespace: string
  readonly #path: string

  constructor(access: Access, namespace: string) {
    this.#access = access
    this.#namespace = namespace
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  }

  async get(name: string, signal?: AbortSignal): Promise<Lease | undefined> {
    const answer = await this.#ask('get', `/${name}`, signal)
    return isNoLease(answer) ? undefined : this.#expect('get', answer, 200)
  }

  /** The time of the server that answers. */
  async nowMs(name: string, signal?: AbortSignal): Promise<number> {
    const answer = await this.#ask('get', `/${name}`, signal)
    if (!isNoLease(answer)) this.#expect('get', answer, 200)
    return timeOf(answer.header('date'))
  }

  /** @param limit - Of a page; 0 for everything in one. */
  async list(selector: string, signal?: AbortSignal, limit = pageLength): Promise<Lease[]> {
    const found: Lease[] = []
    let next = ''
    do {
      // Without a resourceVersion the API asks etcd, and not its cache.
      const page = { labelSelector: selector, limit: `${limit}`, ...(next && { continue: next }) }
      const answer = await this.#ask('list', `?${new URLSearchParams(page)}`, signal)
      // Between two pages etcd has removed the state that the first one showed.
      if (answer.status === 410 && next !== '') return this.list(selector, signal, 0)
      const { items = [], metadata } = this.#expect('list', answer, 200)
      found.push(...items)
      next = metadata?.continue ?? ''
    } while (next !== '')
    return found
  }

  /** What was created, or `undefined` where there is a Lease of its name. */
  async create(lease: object, signal?: AbortSignal): Promise<Lease | undefined> {
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease }
    const answer = await this.#ask('create', '?fieldManager=graupel', signal, body, 'application/json')
    // Other conflicts, such as one about a quota, say nothing of the Lease.
    if (answer.status === 409 && answer.said?.reason === 'AlreadyExists') return undefined
    return this.#expect('create', answer, 201)
  }

  /** What was made of a Lease; `refused` where it does not take the steps; neither where it is not there. */
  async patch(name: string, steps: readonly Step[], signal?: AbortSignal): Promise<{ lease?: Lease; refused?: Error }> {
    const path = `/${name}?fieldManager=graupel`
    const answer = await this.#ask('patch', path, signal, steps, 'application/json-patch+json')
    if (isNoLease(answer)) return {}
    if (answer.status === 409 || answer.status === 422) return { refused: refusal(this.#question('patch'), answer) }
    return { lease: this.#expect('patch', answer, 200) }
  }

  #question(verb: Question['verb']): Question {
    return { verb, url: this.#access.url, namespace: this.#namespace }
  }

  #expect(verb: Question['verb'], answer: Answer, status: number): Said {
    const kind = verb === 'list' ? 'LeaseList' : 'Lease'
    if (answer.status === status && answer.said?.kind === kind) return answer.said
    throw refusal(this.#question(verb), answer)
  }

  async #ask(
    verb: Question['verb'],
    path: string,
    signal: AbortSignal | undefined,
    body?: unknown,
    type?: string,
  ): Promise<Answer> {
    signal?.throwIfAborted()
    const { url, fetch } = this.#access
    const own = await this.#access.headers()
    checkHeaders(own)
    const request: FetchRequest = {
      method: methods[verb],
      headers: { accept: 'application/json', ...(type && { 'content-type': type }), ...own },
      // A redirect leads to a page to log in, and would make a GET of a POST.
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }
    try {
      const answer = await fetch(url + this.#path + path, request)
      const text = await answer.text()
      const said = parsed(text)
      const reason = () => hidden(said?.message ?? text, own)
      return { status: answer.status, said, reason, header: (name) => answer.headers.get(name) }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof GraupelError) throw error
      throw unreachable(this.#question(verb), error)
    }
  }
}

/** The Lease is not there; a namespace that is not there, or another service, is another matter. */
function isNoLease({ status, said }: Answer): boolean {
  return status === 404 && said?.reason === 'NotFound' && said.details?.kind === 'leases'
}

function parsed(text: string): Said | undefined {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null ? found : undefined
  } catch {
    return undefined
  }
}

/** @throws TypeError `ERR_OPTION_INVALID`, because the error of fetch would show the value. */
function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    const rule = 'pass a text without line breaks'
    throw typeError('ERR_OPTION_INVALID', `headers has for ${show(name)} what HTTP does not allow there; ${rule}`)
  }
}

/** What is said without credentials, which another service may repeat. */
function hidden(text: string, headers: Record<string, string>): string {
  const secrets = Object.values(headers).map((value) => value.replace(/^\w+ +/, ''))
  return secrets.filter(Boolean).reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}
