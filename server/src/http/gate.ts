import type { IncomingMessage, RequestListener } from 'node:http'
import { isLoopback } from '../options/complete.js'
import type { Options } from '../options/table.js'
import { endAfter } from './connections.js'
import { requestIdOf } from './log.js'
import { pathOf } from './parameters.js'
import { Problem, refusalOf } from './problems.js'
import { clientOf, noteClient, type Tokens } from './tokens.js'

// The checks that a request passes before any route sees it. They read only its head.

const maxUrlLength = 2048

/**
 * Matches a part of a path that is `.` or `..`, also in percent encoding. Such a path is refused and never
 * resolved.
 */
const dots = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Refuses a request by throwing.
 *
 * @param route - The URL of its route, as Fastify writes it: `/v1/ids/:id`; `undefined` if it has none.
 * @throws Problem
 */
export type Check = (request: IncomingMessage, route: string | undefined) => void

/** The patterns of all routes, which tell an unknown path from a wrong method. */
export class Paths {
  readonly #patterns: RegExp[] = []
  readonly #posts = new Set<string>()

  /** Adds a path of POST requests, which has no parameters. */
  addPost(path: string): void {
    this.#posts.add(path)
  }

  /** Tells whether requests of a path are POST requests with a body. */
  takesPost(url: string): boolean {
    return this.#posts.has(pathOf(url))
  }

  /** @param url - As Fastify writes it: `/v1/ids/:id`. */
  add(url: string): void {
    const pattern = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    this.#patterns.push(new RegExp(`^${pattern}$`))
  }

  has(url: string): boolean {
    const path = pathOf(url)
    return this.#patterns.some((pattern) => pattern.test(path))
  }
}

/** The checks of requests before a route sees them. */
export interface Gate {
  /** Checks any request. */
  readonly check: Check
  /** Checks a GET request of a path that has such a route and is not open to every client. */
  readonly checkKnown: Check
}

/**
 * Makes the checks of requests.
 *
 * @param access - Checks the client.
 * @param openPaths - Paths that every client may request.
 */
export function makeGate(access: Check, openPaths: ReadonlySet<string>, paths: Paths): Gate {
  const check: Check = (request, route) => {
    const { method, url = '' } = request
    checkHost(request)
    if (url.length > maxUrlLength) {
      throw new Problem('ERR_URI_TOO_LONG', `the URL has ${url.length} characters; send at most ${maxUrlLength}`)
    }
    if (!openPaths.has(pathOf(url))) access(request, route)
    if (dots.test(pathOf(url))) throw unknownRoute()
    if (paths.takesPost(url)) {
      if (method === 'POST') return
      throw new Problem('ERR_METHOD_NOT_ALLOWED', `the method is ${method}; use POST`, { allow: 'POST' })
    }
    if (method !== 'GET' && method !== 'HEAD') {
      if (!paths.has(url)) throw unknownRoute(url, paths)
      throw new Problem('ERR_METHOD_NOT_ALLOWED', `the method is ${method}; use GET or HEAD`, { allow: 'GET, HEAD' })
    }
    checkEmpty(request)
  }
  const checkKnown: Check = (request, route) => {
    checkHost(request)
    access(request, route)
    checkEmpty(request)
  }
  return { check, checkKnown }
}

function checkHost({ headers: { host }, httpVersionMinor }: IncomingMessage): void {
  if (host === undefined && httpVersionMinor === 1) {
    throw new Problem('ERR_REQUEST_INVALID', 'the request has no Host header; send it, as HTTP/1.1 requires')
  }
  if (host?.includes(',')) {
    throw new Problem('ERR_REQUEST_INVALID', 'the request has two Host headers; send one')
  }
}

function checkEmpty(request: IncomingMessage): void {
  if (!hasBody(request)) return
  throw new Problem('ERR_BODY_UNEXPECTED', `the ${request.method} request has a body; send it without`)
}

/** The path of the store, which only a service with `--leases` has. Its routes are below it. */
export const storePath = '/v1/store'
const ofStore = new RegExp(`^${storePath}(/|$)`)

/** @param paths - The paths that the service has. Without them, the answer is the same for every URL. */
export function unknownRoute(url = '', paths?: Paths): Problem {
  if (ofStore.test(pathOf(url)) && paths?.has(storePath) === false) {
    return new Problem('ERR_ROUTE_UNKNOWN', 'the service lends no leases; start graupel-server with --leases')
  }
  return new Problem('ERR_ROUTE_UNKNOWN', 'the service has no such path; see /openapi.json for its paths')
}

/** Tells whether bytes follow the head. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}

/** Makes the check of the client. @param tokens - `undefined` if the service needs no token. */
export function accessCheck({ host }: Options, tokens: { readonly value: Tokens } | undefined): Check {
  if (tokens !== undefined) {
    return (request, route) => {
      const { headers } = request
      // A request that could not be answered directly is checked twice.
      if (clientOf(request) !== undefined) return
      const client = tokens.value.clientOf(headers.authorization)
      if (client !== undefined) {
        // By the route, because the router also reads percent signs and whole URLs.
        if (route !== undefined) client.requireOneOf(ofStore.test(route) ? ['leases', 'numbers'] : ['ids'])
        client.takeRequest()
        noteClient(request, client)
        return
      }
      const [rule, error] =
        headers.authorization === undefined
          ? ['the request has no token', '']
          : ['the service does not know the token', ', error="invalid_token"']
      throw new Problem('ERR_UNAUTHORIZED', `${rule}; send the header Authorization: Bearer TOKEN`, {
        'www-authenticate': `Bearer realm="graupel"${error}`,
      })
    }
  }
  const isLocal = isLoopback(host)
  // The last Host that is local. The requests of a client have one Host.
  let knownHost: string | undefined
  return ({ headers }) => {
    // A page of another site could use up numbers of a counter.
    const site = headers['sec-fetch-site']
    if (site === 'cross-site' || site === 'same-site' || (site === undefined && isOtherOrigin(headers))) {
      throw new Problem('ERR_FORBIDDEN', 'a page of another site sent the request; call the service from a program')
    }
    // The page could also reach this address by a host name of its own (DNS rebinding).
    if (!isLocal || headers.host === undefined || headers.host === knownHost) return
    if (!isLocalName(headers.host)) {
      throw new Problem('ERR_FORBIDDEN', 'Host is not localhost, 127.0.0.1 or [::1]; use one of these, or a token')
    }
    knownHost = headers.host
  }
}

/**
 * Tells a page of another origin by `Origin`, for browsers that send no `Sec-Fetch-Site`: old ones, and all
 * to an address without TLS.
 */
function isOtherOrigin({ origin, host = '' }: IncomingMessage['headers']): boolean {
  return origin !== undefined && origin.replace(/^https?:\/\//i, '').toLowerCase() !== host.toLowerCase()
}

function isLocalName(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)
}

/** The paths that the admin port answers. */
const adminPaths: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics'])

/** The most connections of the admin port. */
export const maxAdminConnections = 100

/**
 * Answers the paths of the admin port and refuses all others. @param next - Answers every path of the
 * service.
 */
export function onlyAdminPaths(next: RequestListener): RequestListener {
  return (request, response) => {
    if (adminPaths.has(pathOf(request.url ?? ''))) {
      next(request, response)
      return
    }
    const { status, headers, body } = refusalOf(unknownRoute())
    const id = requestIdOf(request)
    // The bytes of a body that follow it would be taken for a request.
    endAfter(response)
    response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': body.length }).end(body)
  }
}
