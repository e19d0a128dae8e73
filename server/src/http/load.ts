import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Options } from '../options/table.js'
import { Problem } from './problems.js'

/**
 * Seconds that the last of the waiting requests may wait. Together they may ask for the ids that the layout
 * makes in this time.
 */
const longestWaitS = 10
/**
 * Ids that answers may hold in memory, even if a layout makes more in that time. As JSON they take 100 MB.
 */
const mostIds = 2 ** 22

/**
 * The most numbers of an answer that has each of them. An answer with runs of a segment has 16 bytes for all.
 */
const mostHeld = 2 ** 20

/** Returns how many numbers a request may ask for whose answer has each of them. */
export function heldCountOf({ maxCount }: Options): number {
  return Math.min(maxCount, mostHeld)
}

/**
 * Returns how many ids of a layout a request may ask for: as many as a node makes in {@link longestWaitS}.
 * With more, the connection would be closed before its answer began. A layout of 1024 ids a second allows
 * 10 240.
 */
export function idCountOf(idsPerSecond: number, options: Options): number {
  return Math.max(1, Math.min(heldCountOf(options), Math.floor(idsPerSecond * longestWaitS)))
}

/** The bounds of {@link Load}. */
export interface LoadLimits {
  readonly maxIds: number
  readonly maxRequests: number
}

/**
 * Returns the bounds of a layout. @param maxCount - The most ids of one request; two such requests always
 * have room.
 */
export function limitsFor(idsPerSecond: number, maxCount: number, maxRequests: number): LoadLimits {
  return { maxIds: Math.max(2 * maxCount, Math.min(mostIds, idsPerSecond * longestWaitS)), maxRequests }
}

/**
 * Counts the ids and requests under way, and refuses more than the bounds. Otherwise ten thousand connections
 * that ask for 65 536 ids each, and read their answers slowly, would take 5 GB as bytes and 15 GB as JSON.
 */
export class Load {
  readonly #limits: LoadLimits
  #ids = 0
  #requests = 0

  constructor(limits: LoadLimits) {
    this.#limits = limits
  }

  /** The most numbers of an answer if two such answers have to have room. */
  get share(): number {
    return Math.floor(this.#limits.maxIds / 2)
  }

  /**
   * Counts a request for one id, or a call of the store, until `leave` is called.
   *
   * @throws Problem `ERR_OVERLOADED`
   */
  enter(): void {
    if (this.#requests >= this.#limits.maxRequests)
      throw overloaded(`${this.#requests} such requests are under way, which is the limit`)
    this.#requests++
  }

  leave(): void {
    this.#requests--
  }

  /**
   * Counts numbers until their answer is sent or its connection has ended. Only for work that a client ends
   * by leaving.
   *
   * @throws Problem `ERR_OVERLOADED`
   */
  hold(numbers: number, request: IncomingMessage): void {
    const leave = this.take(numbers, 1)
    void closeOf(request).then(leave)
  }

  /**
   * Counts numbers until they are made, too: those of a client that has left are made nevertheless, before
   * those of others.
   *
   * @throws Problem `ERR_OVERLOADED`; what `make` throws
   */
  async holdUntilMade<T>(numbers: number, request: IncomingMessage, make: () => Promise<T>): Promise<T> {
    const leave = this.take(numbers, 1)
    const made = make()
    void Promise.allSettled([made, closeOf(request)]).then(leave)
    return made
  }

  /**
   * Counts ids, and a request for them, until the returned function is called.
   *
   * @throws Problem `ERR_OVERLOADED`
   */
  take(ids: number, requests: 0 | 1 = 0): () => void {
    if (this.#ids + ids > this.#limits.maxIds) {
      throw overloaded(`other requests wait for ${this.#ids} numbers, and the limit is ${this.#limits.maxIds}`)
    }
    if (requests === 1) this.enter()
    this.#ids += ids
    return () => {
      this.#ids -= ids
      this.#requests -= requests
    }
  }
}

/** The functions to call when a connection closes: one for each of its requests that has not closed. */
const closings = new WeakMap<Socket, Set<() => void>>()

/**
 * Resolves with the request's `close` event, which fires after the response's, or with the connection's. A
 * response that waits behind another one of its connection gets no `close` event if that connection ends, and
 * a request gets none if `CONNECT` came behind it.
 */
function closeOf(request: IncomingMessage): Promise<void> {
  const { socket } = request
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve()
    const ofSocket = closingsOf(socket)
    ofSocket.add(resolve)
    request.once('close', () => {
      ofSocket.delete(resolve)
      resolve()
    })
  })
}

function closingsOf(socket: Socket): Set<() => void> {
  const found = closings.get(socket)
  if (found !== undefined) return found
  const made = new Set<() => void>()
  closings.set(socket, made)
  socket.once('close', () => {
    for (const closed of made) closed()
  })
  return made
}

/** The loads of the numbers that are not ids. */
export interface NumberLoads {
  readonly segments: Load
  readonly counters: Load
}

/** The signals of connections, so that many requests of a connection add no listeners to it. */
const signals = new WeakMap<Socket, AbortSignal>()

/**
 * Returns a signal that aborts when the client closes its connection, or ends its side of it. Nothing tells
 * the two apart before an answer is sent.
 */
export function untilGone(socket: Socket): AbortSignal {
  const found = signals.get(socket)
  if (found !== undefined) return found
  const gone = new AbortController()
  const abort = () => gone.abort(clientHasLeft())
  signals.set(socket, gone.signal)
  if (socket.destroyed || socket.readableEnded) abort()
  else socket.once('end', abort).once('close', abort)
  return gone.signal
}

function clientHasLeft(): Problem {
  return new Problem(
    'ERR_REQUEST_INVALID',
    'the client has ended its side of the connection, as a client that has left does; keep it open until the answer',
  )
}

function overloaded(reason: string): Problem {
  return new Problem('ERR_OVERLOADED', `${reason}; try again later`)
}
