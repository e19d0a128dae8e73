import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { afterAll } from 'vitest'
import { makeApp } from '../../../server/src/http/app.ts'
import { makeLogger } from '../../../server/src/http/log.ts'
import { Metrics } from '../../../server/src/metrics/metrics.ts'
import { complete } from '../../../server/src/options/complete.ts'
import { Service } from '../../../server/src/service.ts'
import { openedMemory } from './in-process.ts'

/** The service on a port of this process, for all tests of a file. */
export interface Listening {
  readonly url: string
  readonly port: number
  readonly app: Awaited<ReturnType<typeof makeApp>>
  readonly service: Service
  /** The lines of its log. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** One problem, as an answer has it. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
}

const closings: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closings.splice(0)) await close()
})

/** Starts it over a store in memory; it ends after the tests of the file. */
export async function listen(given: Parameters<typeof complete>[0] = {}, { isOpen = true } = {}): Promise<Listening> {
  const options = complete({ logLevel: 'debug', ...given })
  const opened = openedMemory()
  const log: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      log.push(JSON.parse(`${chunk}`))
      done()
    },
  })
  const service = new Service(options, opened)
  const app = await makeApp(options, service, new Metrics(), makeLogger(options, sink))
  closings.push(async () => {
    app.server.closeAllConnections()
    await app.close()
    await service.close()
  })
  if (isOpen) await service.open()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, port: (app.server.address() as AddressInfo).port, app, service, log }
}

/** Sends bytes as they are, and reads until the service closes the connection. */
export async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk
  })
  // A service that resets the connection has closed it, too.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return answer
}

/** The last answer of such an exchange. */
export function parsed(answer: string): { status: number; headers: Headers; body: string } {
  const start = answer.search(/HTTP\/1\.1 \d{3} (?!.*HTTP\/1\.1 \d{3} )/s)
  const [head = '', ...rest] = answer.slice(start).split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}
