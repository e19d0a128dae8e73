import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Latencies, type Plan } from './open-load.ts'

/** A request of a protocol, and how its answer is recognized. */
export interface Exchange {
  request: string
  /**
   * Returns the length of the first answer in the text, or `undefined` if more of it is missing.
   * @throws Error
   */
  lengthOf(text: string): number | undefined
  /** Called with each answer. */
  onAnswer?(text: string): void
}

/** Makes the request of a URL. Its answers have a status of 200 and a Content-Length. */
export function httpExchange(url: string, path: string, accept: string): Exchange {
  return {
    request: `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAccept: ${accept}\r\n\r\n`,
    lengthOf(text) {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return undefined
      const head = text.slice(0, end)
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
      if (!head.startsWith('HTTP/1.1 200 ') || length === undefined) throw new Error(`an answer is ${head}`)
      return end + 4 + Number(length)
    },
  }
}

/** Makes some equal commands of the Redis protocol, which are sent at once. Their replies are numbers. */
export function respExchange(command: readonly string[], depth: number): Exchange {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  const replies = new RegExp(`^(?::\\d+\\r\\n|\\$\\d+\\r\\n\\d+\\r\\n){${depth}}`)
  return {
    request: `*${words.length}\r\n${words.join('')}`.repeat(depth),
    lengthOf(text) {
      if (text.startsWith('-')) throw new Error(`${command.join(' ')} was refused: ${text}`)
      return replies.exec(text)?.[0].length
    },
  }
}

/** Opens the connections of an open load to a server, which stay open between its turns. */
export async function openConnections(port: number, count: number): Promise<Connections> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return new Connections(sockets)
}

/** Sends each request at its planned time, over the connection that has waited longest. */
export class Connections {
  readonly #sockets: readonly Socket[]

  constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
  }

  /** @throws Error if an answer is a refusal, or a connection ends */
  async load({ perSecond, seconds }: Plan, { request, lengthOf, onAnswer }: Exchange): Promise<Latencies> {
    const us = new Float64Array(Math.floor(perSecond * seconds))
    const idle = [...this.#sockets]
    let answered = 0
    let failure: unknown
    const startUs = performance.now() * 1000
    const dueUs = (index: number) => startUs + (index * 1e6) / perSecond
    const fail = (error: unknown) => {
      failure ??= error
    }
    const onClose = () => fail(new Error('the server has closed a connection'))
    const send = (socket: Socket, index: number) => {
      let text = ''
      const onData = (part: string) => {
        text += part
        try {
          const length = lengthOf(text)
          if (length === undefined || text.length < length) return
        } catch (error) {
          fail(error)
          return
        }
        us[index] = performance.now() * 1000 - dueUs(index)
        socket.off('data', onData)
        onAnswer?.(text)
        answered++
        idle.push(socket)
      }
      socket.on('data', onData)
      socket.write(request)
    }
    for (const socket of this.#sockets) socket.on('error', fail).on('close', onClose)
    // Turns of the event loop without a pause: a timer would be late by up to a millisecond.
    for (let next = 0; answered < us.length; await nextTurn()) {
      if (failure !== undefined) throw failure
      while (next < us.length && performance.now() * 1000 >= dueUs(next)) {
        // Without an idle connection, the request waits, and that counts.
        const socket = idle.shift()
        if (socket === undefined) break
        send(socket, next++)
      }
    }
    for (const socket of this.#sockets) socket.off('error', fail).off('close', onClose)
    return new Latencies(us)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
