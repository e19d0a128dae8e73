import type { IncomingMessage } from 'node:http'
import { Problem } from './problems.js'

const maxUrlLength = 2048

/** A part of a path that is `.` or `..`, also in percent encoding; what it would lead to is not worked out. */
const dots = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i

/** Whether it may be answered. @throws Problem */
export type Check = (request: IncomingMessage) => void

/** The routes there are, by which an unknown path is told from a wrong method. */
export class Paths {
  readonly #patterns: RegExp[] = []

  /** @param url - As Fastify has it: `/v1/ids/:id`. */
  add(url: string): void {
    const pattern = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')
    this.#patterns.push(new RegExp(`^${pattern}$`))
  }

  has(url: string): boolean {
    const [path = ''] = url.split('?', 1)
    return this.#patterns.some((pattern) => pattern.test(path))
  }
}

/** What is checked before anything of a request is read but its head. @param access - Who may ask. */
export function makeGate(access: Check, paths: Paths): Check {
  return (request) => {
    const { method, url = '', headers, httpVersionMinor } = request
    if (headers.host === undefined && httpVersionMinor === 1) {
      throw new Problem('ERR_REQUEST_INVALID', 'the request has no Host; HTTP/1.1 requires it')
    }
    if (url.length > maxUrlLength) {
      throw new Problem('ERR_URI_TOO_LONG', `the URL has ${url.length} characters; at most ${maxUrlLength} are read`)
    }
    access(request)
    if (dots.test(url)) throw unknownRoute()
    if (method !== 'GET' && method !== 'HEAD') {
      if (!paths.has(url)) throw unknownRoute()
      throw new Problem('ERR_METHOD_NOT_ALLOWED', `the method is ${method}; use GET or HEAD`, { allow: 'GET, HEAD' })
    }
    if (hasBody(request)) throw new Problem('ERR_BODY_UNEXPECTED', `a ${method} request has no body here; send none`)
  }
}

export function unknownRoute(): Problem {
  return new Problem('ERR_ROUTE_UNKNOWN', 'there is no such path; /openapi.json lists those that there are')
}

/** Whether bytes follow the head, which are not read. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}
