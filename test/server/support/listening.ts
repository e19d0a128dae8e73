import { once } from 'node:events'
import { connect } from 'node:net'
import { type Started, startService } from './in-process.ts'

/** The service on a port of this process, for all tests of a file. */
export type Listening = Started
export const listen = startService

/** The body of a refusal. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
}

/** Sends bytes as they are, and reads until the service closes the connection. */
export async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk
  })
  // A reset also closes the connection.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return answer
}

/** Parses the last answer of such an exchange. */
export function parsed(answer: string): { status: number; headers: Headers; body: string } {
  const start = answer.search(/HTTP\/1\.1 \d{3} (?!.*HTTP\/1\.1 \d{3} )/s)
  const [head = '', ...rest] = answer.slice(start).split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}
