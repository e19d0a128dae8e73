import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { fault, faultOfDelete, faultOfUpdate, faultsOf, invalid } from './kubernetes-rules.ts'

// A fake API server for Leases, as far as stores use them, with the traps of the real server: a PUT of an
// equal value keeps the resourceVersion; a PUT to a deleted Lease creates it again unless the PUT has the old
// uid; a page continues from a state that the server may forget; every error is a Status object.

export interface ApiOptions {
  /** The folder in which objects are kept, so that another server can continue with them. */
  readonly file?: string
  /** The verbs that each token allows. Without it every request is allowed. */
  readonly accounts?: Record<string, readonly Verb[]>
  readonly namespaces?: readonly string[]
  readonly tls?: { key: string; cert: string }
}

type Verb = 'get' | 'list' | 'create' | 'update' | 'delete'

/** A Lease as it is stored. */
export interface StoredLease {
  metadata: {
    name: string
    namespace: string
    uid: string
    resourceVersion: string
    creationTimestamp: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  spec?: Record<string, unknown>
}

const path = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/([^/]+)\/leases(?:\/([^/]+))?$/

export class KubernetesApi {
  readonly #options: ApiOptions
  readonly #leases = new Map<string, StoredLease>()
  /** The states from which pages continue, by the page's token. */
  readonly #pages = new Map<string, StoredLease[]>()
  #revision = 100
  readonly server

  constructor(options: ApiOptions = {}) {
    this.#options = options
    const { file, tls } = options
    for (const line of file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
      if (line !== '') this.#keep(...(JSON.parse(line) as [string, StoredLease | null]))
    }
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request).then(
        ({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json' })
          response.end(JSON.stringify(body))
        },
        () => response.destroy(),
      )
    }
    this.server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
  }

  /** Forgets the states from which pages continue, as etcd does after five minutes. */
  compact(): void {
    this.#pages.clear()
  }

  /** Returns all objects, like `etcdctl snapshot save`. */
  snapshot(): string {
    return JSON.stringify({ revision: this.#revision, leases: [...this.#leases] })
  }

  /** Goes back to a snapshot, with its revision. */
  restore(snapshot: string): void {
    const { revision, leases } = JSON.parse(snapshot)
    this.#revision = revision
    this.#leases.clear()
    for (const [at, lease] of leases) this.#leases.set(at, lease)
  }

  /** Answers one request. */
  async #answer(request: IncomingMessage) {
    const { method = '', headers } = request
    const url = new URL(request.url ?? '', 'http://api')
    const body = await text(request)
    const [, namespace = '', name] = path.exec(url.pathname) ?? []
    if (namespace === '') return fault(404, 'NotFound', 'the server could not find the requested resource', {})
    const verbs: Record<string, Verb> = { GET: name ? 'get' : 'list', POST: 'create', PUT: 'update', DELETE: 'delete' }
    const verb = verbs[method]
    if (verb === undefined || (name === undefined) !== (verb === 'list' || verb === 'create')) {
      return fault(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
    }
    const { accounts } = this.#options
    const account = accounts?.[/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '']
    if (accounts !== undefined && account === undefined) return fault(401, 'Unauthorized', 'Unauthorized')
    if (account?.includes(verb) === false) {
      const who = `User "system:serviceaccount:${namespace}:default" cannot ${verb} resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`
      const what = name === undefined ? 'leases.coordination.k8s.io' : `leases.coordination.k8s.io "${name}"`
      return fault(403, 'Forbidden', `${what} is forbidden: ${who}`, { kind: 'leases' })
    }
    if (verb === 'list') return this.#list(namespace, url.searchParams)
    if (verb === 'create') return this.#create(namespace, JSON.parse(body))
    if (verb === 'update') return this.#update(namespace, name as string, JSON.parse(body))
    const at = `${namespace}/${name}`
    const found = this.#leases.get(at)
    if (found === undefined) {
      return fault(404, 'NotFound', `leases.coordination.k8s.io "${name}" not found`, { name, kind: 'leases' })
    }
    if (verb === 'get') return { status: 200, body: shown(found) }
    const { preconditions = {} } = body === '' ? {} : JSON.parse(body)
    const refused = faultOfDelete(found, preconditions)
    if (refused !== undefined) return refused
    this.#revision++
    this.#save(at, null)
    return { status: 200, body: { kind: 'Status', status: 'Success' } }
  }

  #list(namespace: string, query: URLSearchParams) {
    const limit = Number(query.get('limit') ?? 0)
    const token = query.get('continue')
    const wanted = (query.get('labelSelector') ?? '').split(',').map((pair) => pair.split('=') as [string, string])
    let rest: StoredLease[]
    if (token === null) {
      const all = [...this.#leases.values()].filter(({ metadata }) => metadata.namespace === namespace)
      rest = all
        .filter(({ metadata }) => wanted.every(([name, value]) => name === '' || metadata.labels?.[name] === value))
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    } else {
      const found = this.#pages.get(token)
      if (found === undefined) {
        return fault(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.')
      }
      rest = found
    }
    const items = limit === 0 ? rest : rest.slice(0, limit)
    const next = items.length < rest.length ? randomUUID() : ''
    if (next !== '') this.#pages.set(next, rest.slice(items.length))
    const metadata = { resourceVersion: `${this.#revision}`, ...(next !== '' && { continue: next }) }
    return { status: 200, body: { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata, items } }
  }

  #create(namespace: string, given: StoredLease) {
    const { namespaces = ['default'] } = this.#options
    if (!namespaces.includes(namespace)) {
      return fault(404, 'NotFound', `namespaces "${namespace}" not found`, { name: namespace, kind: 'namespaces' })
    }
    const { name } = given.metadata
    const faults = faultsOf(given)
    if (faults.length > 0) return invalid(name, faults)
    const at = `${namespace}/${name}`
    if (this.#leases.has(at)) {
      const message = `leases.coordination.k8s.io "${name}" already exists`
      return fault(409, 'AlreadyExists', message, { name, kind: 'leases' })
    }
    const { labels, annotations } = given.metadata
    const resourceVersion = `${++this.#revision}`
    const creationTimestamp = new Date().toISOString()
    const metadata = { name, namespace, uid: randomUUID(), resourceVersion, creationTimestamp, labels, annotations }
    const lease = JSON.parse(JSON.stringify({ metadata, spec: given.spec ?? {} })) as StoredLease
    this.#save(at, lease)
    return { status: 201, body: shown(lease) }
  }

  #update(namespace: string, name: string, given: StoredLease) {
    const at = `${namespace}/${name}`
    const found = this.#leases.get(at)
    const refused = faultOfUpdate(found, { namespace, name }, given)
    if (refused !== undefined) return refused
    if (found === undefined) return this.#create(namespace, given)
    const { labels, annotations } = given.metadata
    const metadata = { ...found.metadata, labels, annotations }
    const lease = JSON.parse(JSON.stringify({ metadata, spec: given.spec ?? {} })) as StoredLease
    if (!isDeepStrictEqual(lease, found)) {
      lease.metadata.resourceVersion = `${++this.#revision}`
      this.#save(at, lease)
    }
    return { status: 200, body: shown(lease) }
  }

  #save(at: string, lease: StoredLease | null): void {
    this.#keep(at, lease)
    if (this.#options.file !== undefined) appendFileSync(this.#options.file, `${JSON.stringify([at, lease])}\n`)
  }

  #keep(at: string, lease: StoredLease | null): void {
    if (lease === null) this.#leases.delete(at)
    else this.#leases.set(at, lease)
    this.#revision = Math.max(this.#revision, Number(lease?.metadata.resourceVersion ?? 0))
  }
}

function shown(lease: StoredLease) {
  return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...lease }
}
