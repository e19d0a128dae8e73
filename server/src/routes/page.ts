import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { sharedHeadersOf } from '../http/answer-headers.js'
import { readQuery } from '../http/parameters.js'

/** Where the build puts the page of web/, beside this program. */
const folder = new URL('../page/', import.meta.url)

/** The files of the page, which need no token: nothing of the service is in them. */
export const pageFiles = {
  '/page.js': 'text/javascript; charset=utf-8',
  '/page.css': 'text/css; charset=utf-8',
} as const

const packers = { br: promisify(brotliCompress), gzip: promisify(gzip) }
const codings = Object.keys(packers) as (keyof typeof packers)[]

/** Sends one file of the page, packed once for each coding that is asked for. */
type SendFile = (request: FastifyRequest, reply: FastifyReply) => Promise<Buffer>

/** @returns what sends the page itself; `undefined` where it was not built. */
export function addPageRoutes(app: FastifyInstance): SendFile | undefined {
  const index = new URL('index.html', folder)
  if (!existsSync(index)) return undefined
  const html = readFileSync(index)
  const [, policy = ''] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(`${html}`) ?? []
  // The names of the files stay the same from version to version.
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
    // A page cannot say the last part itself.
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  })
}

function senderOf(content: Buffer, headers: Readonly<Record<string, string>>): SendFile {
  const packed = new Map<string, Promise<Buffer>>()
  return async ({ headers: { 'accept-encoding': accepted = '' } }, reply) => {
    reply.headers(headers)
    const client = new Negotiator({ headers: { 'accept-encoding': accepted } })
    const coding = codings.find((name) => client.encodings([name]).length > 0)
    if (coding === undefined) return content
    reply.header('content-encoding', coding)
    const found = packed.get(coding) ?? packers[coding](content)
    packed.set(coding, found)
    return found
  }
}
