import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { contentTypes, sharedHeadersOf } from '../http/media.js'
import { preferredType, readQuery, representationOf } from '../http/parameters.js'

const text = `graupel-server hands out ids and numbers.

/v1/ids              ids: ?count=3, ?format=hex, ?layout=, ?after=
/v1/ids/{id}         the parts of an id
/v1/segments/{name}  ascending numbers, which a store hands out in segments
/v1/counters/{name}  counts without gaps
/openapi.json        all routes in detail
/metrics             for Prometheus
/livez /readyz       for the platform
`

/** The folder of the built page of web/, beside this program. */
const folder = new URL('../page/', import.meta.url)

/** The files of the page. They need no token, because they have no data of the service. */
export const pageFiles = {
  '/page.js': 'text/javascript; charset=utf-8',
  '/page.css': 'text/css; charset=utf-8',
} as const

/** Adds the page, which browsers get at `/`, and a text, which programs get there. */
export function addFrontRoutes(app: FastifyInstance): void {
  const sendPage = addPageRoutes(app)
  app.get('/', (request, reply) => {
    readQuery({}, request.query)
    if (sendPage !== undefined && prefersPage(request.headers.accept)) return sendPage(request, reply)
    representationOf(request.headers.accept, ['text'])
    return reply.headers(sharedHeadersOf(contentTypes.text)).send(text)
  })
}

/** Tells a browser, which asks for HTML by its name, from a program, which takes any type. */
function prefersPage(accept = '*/*'): boolean {
  return preferredType(accept, ['text/plain', 'text/html']) === 'text/html'
}

const packers = { br: promisify(brotliCompress), gzip: promisify(gzip) }
const codings = Object.keys(packers) as (keyof typeof packers)[]

/** Sends one file of the page, or 304 if the client has it. The file is packed once for each coding. */
type SendFile = (request: FastifyRequest, reply: FastifyReply) => Promise<Buffer>

/**
 * Adds the files of the page and returns the function that sends the page, or `undefined` if the page was not
 * built.
 */
function addPageRoutes(app: FastifyInstance): SendFile | undefined {
  const index = new URL('index.html', folder)
  if (!existsSync(index)) return undefined
  const html = readFileSync(index)
  const [, policy = ''] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(`${html}`) ?? []
  // Browsers ask each time whether a file has changed, because its name is the same in every version.
  const shared = { 'cache-control': 'no-cache', vary: 'accept-encoding' }
  for (const [path, type] of Object.entries(pageFiles)) {
    const send = senderOf(readFileSync(new URL(`.${path}`, folder)), { ...sharedHeadersOf(type), ...shared })
    app.get(path, (request, reply) => {
      readQuery({}, request.query)
      return send(request, reply)
    })
  }
  return senderOf(html, {
    ...sharedHeadersOf('text/html; charset=utf-8'),
    ...shared,
    vary: 'accept, accept-encoding',
    // frame-ancestors has no effect in the page's own policy.
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  })
}

function senderOf(content: Buffer, headers: Readonly<Record<string, string>>): SendFile {
  const packed = new Map<string, Promise<Buffer>>()
  // Weak, because it is the same for each coding.
  const etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  return async ({ headers: { 'accept-encoding': accepted = '', 'if-none-match': known = '' } }, reply) => {
    reply.headers(headers).header('etag', etag)
    if (known.trim() === '*' || known.includes(etag.slice('W/'.length))) return reply.code(304).send()
    const client = new Negotiator({ headers: { 'accept-encoding': accepted } })
    const coding = codings.find((name) => client.encodings([name]).length > 0)
    if (coding === undefined) return content
    reply.header('content-encoding', coding)
    const found = packed.get(coding) ?? packers[coding](content)
    packed.set(coding, found)
    return found
  }
}
