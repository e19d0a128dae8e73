import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * A reply of Redis's protocol. A map of version 3 is a list of names and values in turn, and an error is an
 * Error.
 */
export type Reply = string | number | null | Error | Reply[]

/**
 * Reads one reply. Returns the reply and the index behind it, or `undefined` if not all of it is
 * there. @throws if it is no reply
 */
function replyAt(text: string, at: number): readonly [Reply, number] | undefined {
  const end = text.indexOf('\r\n', at)
  if (end < 0) return undefined
  const [kind, line] = [text[at], text.slice(at + 1, end)]
  const after = end + 2
  if (kind === '+') return [line, after]
  if (kind === '-') return [new Error(line), after]
  if (kind === '_') return [null, after]
  if (!/^-?\d+$/.test(line)) throw new Error(`this is no reply: ${text.slice(at, at + 200)}`)
  const number = Number(line)
  if (kind === ':') return [number, after]
  if (kind === '$') {
    if (number < 0) return [null, after]
    return text.length < after + number + 2 ? undefined : [text.slice(after, after + number), after + number + 2]
  }
  if (kind !== '*' && kind !== '%') throw new Error(`this is no reply: ${text.slice(at, at + 200)}`)
  const items: Reply[] = []
  let next = after
  while (items.length < number * (kind === '%' ? 2 : 1)) {
    const found = replyAt(text, next)
    if (found === undefined) return undefined
    items.push(found[0])
    next = found[1]
  }
  return [items, next]
}

/** Returns all replies that have arrived as a whole. @throws if there are other bytes */
export function repliesIn(text: string): Reply[] {
  const replies: Reply[] = []
  for (let at = 0; ; ) {
    const found = replyAt(text, at)
    if (found === undefined) return replies
    replies.push(found[0])
    at = found[1]
  }
}

export function command(...words: readonly (string | number)[]): string {
  const all = words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`)
  return `*${all.length}\r\n${all.join('')}`
}

/** A connection that sends bytes and reads replies. */
export class RespClient {
  readonly socket: Socket
  /** Number of parts in which replies have come. */
  reads = 0
  #text = ''
  #wake = () => {}

  static async open(url: string): Promise<RespClient> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RespClient(socket)
  }

  private constructor(socket: Socket) {
    this.socket = socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (part: string) => {
      this.reads++
      this.#text += part
      this.#wake()
    })
    socket.on('close', () => this.#wake())
  }

  /** Sends bytes and resolves to the next replies; fewer if the service closes the connection. */
  async send(text: string, count = 1): Promise<Reply[]> {
    this.socket.write(text)
    return this.read(count)
  }

  async read(count: number): Promise<Reply[]> {
    const replies: Reply[] = []
    while (replies.length < count) {
      const found = replyAt(this.#text, 0)
      if (found !== undefined) {
        replies.push(found[0])
        this.#text = this.#text.slice(found[1])
      } else if (this.socket.closed) return replies
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
    return replies
  }

  /** Sends one command and resolves to its reply. @throws the reply if it is an error */
  async ask(...words: readonly (string | number)[]): Promise<Reply> {
    const [reply] = await this.send(command(...words))
    if (reply instanceof Error) throw reply
    if (reply === undefined) throw new Error('the connection was closed')
    return reply
  }

  /** Resolves when the connection has been closed. */
  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close')
  }
}
