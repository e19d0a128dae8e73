import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Received {
  readonly bytes: Buffer
  /** Whether the service closed the connection in order, so no part of its answers is missing. */
  readonly isWhole: boolean
}

/**
 * Sends bytes on a connection of its own, and reads until the service closes it.
 *
 * @param quietMs - Leaves earlier if no byte comes for this time.
 */
export function exchange(port: number, bytes: Buffer, quietMs: number): Promise<Received> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let isWhole = false
    const socket = connectTo(port)
    socket.setTimeout(quietMs, () => socket.destroy())
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('end', () => {
      isWhole = true
    })
    socket.on('close', (hadError) => resolve({ bytes: Buffer.concat(parts), isWhole: isWhole && !hadError }))
    socket.write(bytes)
  })
}

let connections = 0

/**
 * Opens a connection whose errors are ignored. It uses several local addresses, because each has a limited
 * number of ports.
 */
export function connectTo(port: number): Socket {
  connections++
  const localAddress = `127.0.0.${1 + (connections % 8)}`
  return connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
}

const head = /^HTTP\/1\.1 (\d{3}) [A-Z][A-Za-z -]+\r\n((?:[A-Za-z-]+: [^\r\n]*\r\n)+)\r\n/

/** Parses the answers to requests of these methods. @throws if they are no HTTP with a length */
export function answersIn({ bytes, isWhole }: Received, methods: readonly string[] = []): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes.toString('latin1')
  while (rest !== '') {
    const found = head.exec(rest)
    if (found === null) {
      if (!isWhole && !rest.includes('\r\n\r\n')) break
      throw new Error(`this is no answer: ${rest.slice(0, 500)}`)
    }
    const [all, status, lines = ''] = found
    const headers = new Map(
      lines
        .trimEnd()
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    )
    // A refusal of bytes that are no HTTP answers no known method.
    const isRefusedHead = headers.get('connection') === 'close' && headers.get('date') === undefined
    const isHead = methods[answers.length] === 'HEAD' && !isRefusedHead
    const length = isHead ? 0 : Number(headers.get('content-length'))
    if (!Number.isInteger(length)) throw new Error(`this answer has no length: ${all}`)
    const end = all.length + length
    if (rest.length < end) {
      if (!isWhole) break
      throw new Error(`this answer ends ${end - rest.length} bytes early: ${rest.slice(0, 500)}`)
    }
    answers.push({ status: Number(status), headers, body: rest.slice(all.length, end) })
    rest = rest.slice(end)
  }
  return answers
}
