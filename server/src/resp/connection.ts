import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { linger, stalledMs } from '../http/connections.js'
import { untilGone } from '../http/load.js'
import { newRequestId, type RefusalLog } from '../http/log.js'
import { refusalOf } from '../http/problems.js'
import type { Requests } from '../metrics/requests.js'
import { Batch } from './batch.js'
import { commandNames } from './commands.js'
import type { Sources } from './demands.js'
import { CommandParser, ProtocolError } from './parser.js'
import { Refused, refusal } from './replies.js'
import { fresh, type Session } from './session.js'

/** The objects that all connections share. */
export interface Surroundings {
  readonly sources: Sources
  readonly requests: Requests
  readonly refusals: RefusalLog
}

/**
 * How long a connection stays open after the answer to `MULTI`, if no command follows. A client that reads
 * the answer first sends no EXEC, and its pool would keep a connection on which everything is refused.
 */
const refusedMs = 1000

let connections = 0

/**
 * Settles when the commands that have arrived on all connections were read; `undefined` from then on until a
 * batch begins.
 */
let reading: Promise<void> | undefined

function beginReading(): void {
  reading ??= setImmediate().then(() => {
    reading = undefined
  })
}

/** Statuses of refusals with a word of Redis, for the metrics. */
const statuses = { ERR: 400, NOAUTH: 401, WRONGPASS: 401, NOPROTO: 400 } as const

/**
 * A connection of a client of Redis. It reads no further byte while answers wait to be made or to be read, so
 * a client that sends commands and reads nothing holds the answers of one batch.
 */
export class Connection {
  readonly #socket: Socket
  readonly #surroundings: Surroundings
  readonly #parser = new CommandParser()
  readonly #session: Session
  #isBusy = false
  /** Whether the connection ends when it has nothing to answer. */
  #isClosing = false
  #startMs = 0
  #partial: NodeJS.Timeout | undefined

  constructor(socket: Socket, surroundings: Surroundings) {
    this.#socket = socket
    this.#surroundings = surroundings
    this.#session = { ...fresh, id: ++connections, remote: socket.remoteAddress, isEnding: false }
    const { requestTimeoutMs } = surroundings.sources.options
    // As over HTTP, the first command has to come in time.
    socket.setTimeout(requestTimeoutMs)
    // Not as the callback of `setTimeout`, which is called once.
    socket.on('timeout', () => this.#onQuiet())
    socket.on('error', () => socket.destroy())
    socket.once('close', () => clearTimeout(this.#partial))
    socket.once('end', () => this.end())
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
  }

  /** Ends the connection as soon as the commands that have arrived are answered. */
  end(): void {
    this.#isClosing = true
    if (!this.#isBusy) this.#finish()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #onData(chunk: Buffer): void {
    if (this.#isClosing || this.#session.isEnding) return
    this.#parser.add(chunk)
    if (this.#isBusy) this.#socket.pause()
    else void this.#work()
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    try {
      await this.#answerAll()
    } catch (error) {
      this.#onAnswer('', 1, error)
      this.#socket.destroy()
    }
    this.#isBusy = false
    if (this.#socket.destroyed) return
    if (this.#isClosing || this.#session.isEnding) {
      this.#finish()
      return
    }
    this.#parser.trim()
    const { requestTimeoutMs } = this.#surroundings.sources.options
    // Bytes that complete no command do not begin the time anew.
    if (!this.#parser.isEmpty) this.#partial ??= setTimeout(() => this.#onLate(), requestTimeoutMs)
    else if (this.#session.isInTransaction) this.#partial ??= setTimeout(() => this.end(), refusedMs)
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  async #answerAll(): Promise<void> {
    const { sources } = this.#surroundings
    const socket = this.#socket
    for (;;) {
      this.#startMs = performance.now()
      beginReading()
      const batch = Batch.read(this.#parser, this.#session, sources, this.#onAnswer)
      if (batch === undefined) return
      clearTimeout(this.#partial)
      this.#partial = undefined
      let bytes: Buffer
      try {
        bytes = await batch.answer(() => untilGone(socket))
      } catch (error) {
        batch.release()
        throw error
      }
      // Replies are written one right after the other. A reply between two reads wakes the client each time,
      // which takes longer than to make it.
      await reading
      if (socket.destroyed) {
        batch.release()
        return
      }
      const isFlushed = socket.write(bytes, () => batch.release())
      if (!isFlushed) await this.#drained()
      else if (socket.timeout !== sources.options.keepAliveMs) socket.setTimeout(sources.options.keepAliveMs)
      if (socket.destroyed) return
    }
  }

  /** Waits until the client has read its answers, or has left. */
  async #drained(): Promise<void> {
    const socket = this.#socket
    socket.setTimeout(stalledMs)
    await new Promise<void>((resolve) => {
      const done = () => {
        socket.off('drain', done)
        socket.off('close', done)
        resolve()
      }
      socket.on('drain', done).on('close', done)
    })
    socket.setTimeout(this.#surroundings.sources.options.keepAliveMs)
  }

  /** Counts and logs answers as those over HTTP, and returns the text of a refusal. */
  readonly #onAnswer = (name: string, times: number, error?: unknown): string => {
    const { requests, refusals } = this.#surroundings
    const known = commandNames.has(name) ? name : undefined
    const route = `redis:${known ?? 'none'}`
    const ms = performance.now() - this.#startMs
    if (error === undefined) {
      requests.add(route, 200, ms, times)
      return ''
    }
    const { status, code, text } = told(error)
    requests.add(route, status, ms, times)
    const request = { id: newRequestId(), raw: { method: known }, socket: this.#socket }
    refusals.add(request, status, code, error)
    return text
  }

  /**
   * Closes a connection on which nothing has moved: an idle one, or one whose client does not read. A command
   * that is answered goes on.
   */
  #onQuiet(): void {
    if (this.#isBusy) {
      if (this.#socket.writableNeedDrain) this.#socket.destroy()
    } else if (this.#parser.isEmpty) this.end()
    else this.#onLate()
  }

  #onLate(): void {
    const text = refusal('ERR_REQUEST_TIMEOUT', 'the command did not arrive in time; send all of it at once')
    this.#surroundings.requests.add('redis:none', 408, 0)
    this.#socket.write(text)
    this.end()
  }

  #finish(): void {
    const socket = this.#socket
    clearTimeout(this.#partial)
    linger(socket)
  }
}

function told(error: unknown): { readonly status: number; readonly code: string; readonly text: string } {
  if (error instanceof Refused) {
    return { status: statuses[error.word], code: error.word, text: refusal(error.word, error.message) }
  }
  if (error instanceof ProtocolError) {
    return { status: 400, code: 'ERR', text: refusal('ERR', `Protocol error: ${error.message}`) }
  }
  const { status, code, detail } = refusalOf(error)
  return { status, code, text: refusal(code, detail) }
}
