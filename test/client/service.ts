import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGenerator, type Layout, layouts } from 'graupel'
import { afterEach } from 'vitest'
import { writeSingles } from '../support/runs.ts'

const running = new Set<Server>()
afterEach(async () => {
  for (const server of running) {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    running.delete(server)
  }
})

/** A request, as the service reads it. */
interface Asked {
  readonly count: number
  readonly path: string
  readonly layout: string | null
  readonly after: string | null
  readonly headers: IncomingMessage['headers']
}

/** Answers a request instead of the service. If it returns `false`, the service gives the right ids. */
export type Script = (asked: Asked, response: ServerResponse, give: (change?: Change) => void) => unknown

/** The deviations of an answer from the right answer. */
export interface Change {
  readonly headers?: Record<string, string>
  /** The body in place of the ids' bytes, of which each id has 16: it is a run. */
  readonly body?: (bytes: Buffer) => Buffer
  /** The number of bytes of the body after which the connection ends. */
  readonly cutAt?: number
  /** The answer has no Content-Length. */
  readonly isChunked?: boolean
}

/** The id service as far as clients use it, in this process, with scripted faults. */
export interface FakeService {
  readonly url: string
  readonly asked: Asked[]
  /** All issued ids. */
  readonly given: Set<bigint>
  script: Script
  close(): void
}

const right: Script = (_, __, give) => give()

export async function fakeService(
  options: { node?: number; layout?: Layout; script?: Script; clock?: () => number } = {},
): Promise<FakeService> {
  const { node = 1, layout = layouts.twitter, clock = 'wall' } = options
  const ids = createGenerator({ node, layout, clock, namespace: `client ${Math.random()}` })
  const asked: Asked[] = []
  const given = new Set<bigint>()
  let number = 0n
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://localhost')
    const count = Number(searchParams.get('count'))
    const [layoutName, after] = ['layout', 'after'].map((name) => searchParams.get(name)) as [string, string | null]
    const one = { count, path: pathname, layout: layoutName, after, headers: request.headers }
    asked.push(one)
    const give = ({ headers = {}, body = (bytes) => bytes, cutAt, isChunked = false }: Change = {}) => {
      const array = new BigUint64Array(count)
      if (after !== null) ids.observe(after)
      if (pathname.startsWith('/v1/segments/')) for (let i = 0; i < count; i++) array[i] = ++number
      else ids.fill(array)
      for (const id of array) given.add(id)
      const bytes = body(Buffer.from(writeSingles(array)))
      const isOfIds = pathname === '/v1/ids'
      response.writeHead(200, {
        'content-type': 'application/vnd.graupel.runs',
        ...(!isChunked && { 'content-length': bytes.length }),
        'graupel-byte-order': 'little-endian',
        ...(isOfIds && { 'graupel-layout': layout.name }),
        ...headers,
      })
      if (cutAt === undefined) response.end(bytes)
      else response.write(bytes.subarray(0, cutAt), () => response.destroy())
    }
    fake.script(one, response, give)
  })
  running.add(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const fake: FakeService = { url: `http://127.0.0.1:${port}`, asked, given, script: options.script ?? right, close }
  return fake
}

/** Sends a refusal of the service. */
export function refuse(
  response: ServerResponse,
  status: number,
  detail: string,
  headers: Record<string, string> = {},
  members: object = {},
) {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
  response.end(JSON.stringify({ type: 'urn:graupel:ERR_X', title: 'x', status, detail, code: 'ERR_X', ...members }))
}
