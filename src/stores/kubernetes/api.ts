import { show, showNoText, typeError } from '../../core/errors.js'
import { type HttpAnswer, type HttpOptions, HttpService, parseDate, parsed } from '../http.js'

/** How the API of a cluster is reached. */
export interface Access extends HttpOptions {
  headers(): Promise<Record<string, string>>
}

/** A Lease of coordination.k8s.io/v1, as far as it is used here. */
export interface Lease {
  readonly metadata?: {
    readonly name?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: { readonly holderIdentity?: string }
}

/** The object that a request deletes, as it has to be. */
export interface Preconditions {
  readonly uid: string
  readonly resourceVersion: string
}

interface DeleteOptions {
  readonly kind: 'DeleteOptions'
  readonly preconditions: Preconditions
}

/** The JSON of an answer: an object, a list of objects, or a Status. */
interface Said extends Lease {
  readonly kind?: string
  readonly items?: readonly Lease[]
  readonly reason?: string
  readonly details?: { readonly kind?: string }
  readonly metadata?: Lease['metadata'] & { readonly continue?: string }
}

interface Answer extends HttpAnswer {
  /** Empty if the answer is not JSON. */
  readonly said: Said
}

const methods = { get: 'GET', list: 'GET', create: 'POST', update: 'PUT', delete: 'DELETE' } as const
type Verb = keyof typeof methods
/** The page length of kubectl. A page of 500 Leases has about 700 kB. */
const pageLength = 500

/** The Leases of a namespace. Each function makes one request; `list` one for each page. */
export class LeaseApi {
  readonly #service: HttpService
  readonly #headers: Access['headers']
  readonly #namespace: string

  /** @throws TypeError, RangeError `ERR_OPTION_INVALID` */
  constructor(access: Access, namespace: string) {
    this.#service = new HttpService('the Kubernetes API', access)
    this.#headers = access.headers
    this.#namespace = namespace
  }

  async get(name: string, signal?: AbortSignal): Promise<Lease | undefined> {
    const answer = await this.#ask('get', `/${name}`, signal)
    return isNoLease(answer) ? undefined : expectKind('Lease', 200, answer)
  }

  /** The time of the server that answers. */
  async nowMs(name: string, signal?: AbortSignal): Promise<number> {
    const answer = await this.#ask('get', `/${name}`, signal)
    if (!isNoLease(answer)) expectKind('Lease', 200, answer)
    return parseDate(answer.header('date'))
  }

  /** Lists the Leases with a label. @param limit - Leases in a page; 0 for all Leases in one page. */
  async list(selector: string, signal?: AbortSignal, limit = pageLength): Promise<Lease[]> {
    const found: Lease[] = []
    let next = ''
    do {
      // Without a resourceVersion the API asks etcd, and not its cache.
      const page = { labelSelector: selector, limit: `${limit}`, ...(next && { continue: next }) }
      const answer = await this.#ask('list', `?${new URLSearchParams(page)}`, signal)
      // Between two pages, etcd has removed the snapshot of the first page.
      if (answer.status === 410 && next !== '') return this.list(selector, signal, 0)
      const { items = [], metadata } = expectKind('LeaseList', 200, answer)
      found.push(...items)
      next = metadata?.continue ?? ''
    } while (next !== '')
    return found
  }

  /** Creates a Lease. Resolves to `undefined` if a Lease has its name. */
  async create(lease: Lease, signal?: AbortSignal): Promise<Lease | undefined> {
    const answer = await this.#ask('create', '?fieldManager=graupel', signal, lease)
    return isFault(answer, 409, 'AlreadyExists') ? undefined : expectKind('Lease', 201, answer)
  }

  /**
   * Replaces the Lease with this uid and resourceVersion. Resolves to `undefined` if it is gone or has
   * changed.
   */
  async update(lease: Lease, signal?: AbortSignal): Promise<Lease | undefined> {
    const answer = await this.#ask('update', `/${lease.metadata?.name}?fieldManager=graupel`, signal, lease)
    if (isNoLease(answer) || isFault(answer, 409, 'Conflict')) return undefined
    return expectKind('Lease', 200, answer)
  }

  /**
   * Deletes the Lease with this uid and resourceVersion. Resolves to `false` if it is gone or has changed.
   */
  async delete(name: string, preconditions: Preconditions, signal?: AbortSignal): Promise<boolean> {
    const answer = await this.#ask('delete', `/${name}`, signal, { kind: 'DeleteOptions', preconditions })
    if (isNoLease(answer) || isFault(answer, 409, 'Conflict')) return false
    // The API answers with a Status, or with the Lease that it has deleted.
    if (answer.status === 200 && (answer.said.kind === 'Status' || answer.said.kind === 'Lease')) return true
    throw answer.error(remedyOf(answer))
  }

  async #ask(
    verb: Verb,
    path: string,
    signal: AbortSignal | undefined,
    body?: (Lease & { readonly kind?: never }) | DeleteOptions,
  ): Promise<Answer> {
    const own = await this.#headers()
    checkHeaders(own)
    const answer = await this.#service.request(
      {
        method: methods[verb],
        path: `/apis/coordination.k8s.io/v1/namespaces/${this.#namespace}/leases${path}`,
        headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...own },
        ...(body && {
          body: JSON.stringify(
            body.kind === undefined
              ? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...body }
              : { apiVersion: 'v1', ...body },
          ),
        }),
        isRepeatable: body === undefined,
        secret: secretsOf(own),
        asked: `${verb} Leases in the namespace '${this.#namespace}'`,
      },
      signal,
    )
    return { ...answer, said: Object(parsed(answer.text)) }
  }
}

/** Returns whether the Lease does not exist. A missing namespace and another service also answer 404. */
function isNoLease(answer: Answer): boolean {
  return isFault(answer, 404, 'NotFound')
}

/** Returns whether a Status is about the Lease: a conflict may also be about a quota. */
function isFault({ status, said }: Answer, code: number, reason: string): boolean {
  return status === code && said.reason === reason && said.details?.kind === 'leases'
}

/** @throws GraupelError `ERR_STORE_UNAVAILABLE` */
function expectKind(kind: string, status: number, answer: Answer): Said {
  if (answer.status === status && answer.said.kind === kind) return answer.said
  throw answer.error(remedyOf(answer))
}

function remedyOf({ status, said }: Answer): string {
  if (status === 401) return 'the token is missing, wrong or has expired: pass a valid token in headers'
  if (status === 403) {
    return 'let a Role allow its user get, list, create and update of leases in coordination.k8s.io, as kubernetes-rbac.yaml in the examples does'
  }
  if (status === 404 && said.details?.kind === 'namespaces') return 'create the namespace, or pass another namespace'
  if (said.kind === 'Status') return 'correct the fault that the answer names'
  return 'that is not how the API of Kubernetes answers: see whether url leads to it'
}

/** @throws TypeError `ERR_OPTION_INVALID`, because the error of fetch would show the value. */
function checkHeaders(headers: Record<string, string>): void {
  // A Headers or a Map has no entries of its own, so the request would go without them.
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    const rule = 'pass an object such as { authorization }'
    throw typeError('ERR_OPTION_INVALID', `headers are ${showNoText(headers)}; ${rule}`)
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    const rule = 'pass a text without line breaks'
    throw typeError('ERR_OPTION_INVALID', `headers has an invalid value for ${show(name)}; ${rule}`)
  }
}

/** Returns the values without their scheme, such as Bearer. */
function secretsOf(headers: Record<string, string>): string[] {
  return Object.values(headers)
    .map((value) => value.replace(/^\w+ +/, ''))
    .filter(Boolean)
}

/** The longest name of an object (RFC 1123, as Kubernetes has it), and the longest value of a label. */
export const maxName = 253
export const maxLabel = 63

/** Runs of small letters and digits that are joined by single hyphens, one for each folder. */
const plain = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)*$/
const digestBytes = 16

/**
 * Makes the name of an object, or the value of a label, from a key: `graupel/leases/orders/12` is
 * `graupel.leases.orders.12`. The name of a key that has other characters, or is too long, ends with two
 * hyphens and a hash. No plain name has two hyphens in a row, so two keys never have one name.
 */
export async function nameOf(text: string, maxLength: number): Promise<string> {
  if (text.length <= maxLength && plain.test(text)) return text.replaceAll('/', '.')
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const hash = [...digest.subarray(0, digestBytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const folders = text.toLowerCase().split('/')
  const readable = folders.map((part) => (part.match(/[a-z0-9]+/g) ?? ['x']).join('-')).join('.')
  return `${readable.slice(0, maxLength - hash.length - 2).replace(/[-.]+$/, '')}--${hash}`
}

/** Reads the owner from a value, for the column HOLDER of `kubectl get leases`. */
export function holderOf(value: string): string | undefined {
  try {
    const { owner, isReleased } = JSON.parse(value)
    if (typeof owner === 'string' && owner !== '' && isReleased !== true) return owner.slice(0, maxName)
  } catch {
    // Any text may be a value.
  }
  return undefined
}
