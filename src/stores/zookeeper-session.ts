import { GraupelError } from '../core/errors.js'
import { type Clock, endWithin, onAbort } from '../core/timing.js'
import { type Answer, type Client, mend, states } from './zookeeper-client.js'

/** How long a call waits for a connection. */
export const connectMs = 1500
/** The longest time for one attempt of a client to connect. */
const maxPatienceMs = 12_000
/** A connection is closed if a call is given up and no waiting call was answered for this time. */
const silentMs = 1000
const closeMs = 1000

/**
 * Timers with one more turn of the event loop, in which an answer is read that came while this thread was
 * busy.
 */
export const timers: Pick<Clock, 'later'> = {
  later(callback, ms) {
    let turn: NodeJS.Immediate | undefined
    const timer = setTimeout(() => {
      turn = setImmediate(callback)
    }, ms)
    return () => {
      clearTimeout(timer)
      clearImmediate(turn)
    }
  },
}

interface Owner {
  connected(): void
  /**
   * Hears that the session takes no more calls. @param failure - Set if another client would fail in the same
   * way.
   */
  over(failure?: Error): void
}

/** One client, which connects again by itself until its session expires. */
export class Session {
  readonly #client: Client
  readonly #owner: Owner
  /** Ends the calls that were sent. The client forgets some of them when a connection ends. */
  readonly #sent = new Set<(reason: unknown) => void>()
  #isOver = false
  #isRetired = false
  #wasConnected = false
  #onEnd = () => {}
  /** The time since which calls wait and none was answered. */
  #silentSinceMs: number | undefined
  #connecting: NodeJS.Timeout | undefined
  #patienceMs = connectMs
  /** The last error of the socket. */
  reason: Error | undefined
  isConnected = false

  constructor(client: Client, owner: Owner) {
    this.#client = client
    this.#owner = owner
    mend(client, {
      failed: (reason) => {
        this.reason = reason
      },
      closed: () => {
        this.#onEnd()
        if (this.#isRetired) this.#end(expired())
        if (!this.#isOver) this.#awaitConnection()
        return !this.#isOver
      },
      isOver: () => this.#isOver,
    })
    client.on('state', ({ code }) => this.#change(code))
    this.#awaitConnection()
    client.connect()
  }

  /**
   * Limits an attempt to connect: a server that is starting or stopped may accept a connection and never
   * answer.
   */
  #awaitConnection(): void {
    clearTimeout(this.#connecting)
    this.#connecting = setTimeout(() => this.cut(), this.#patienceMs)
    // Longer each time, because each attempt may leave a session behind on a server that is only slow.
    this.#patienceMs = Math.min(this.#patienceMs * 2, maxPatienceMs)
  }

  /**
   * Makes a call. Without a signal it ends after two thirds of the session's timeout, as in ZooKeeper's own
   * client.
   */
  call<T>(signal: AbortSignal | undefined, ask: (client: Client, answer: Answer<T>) => void): Promise<T> {
    const limitMs = Math.max(silentMs, (this.#client.getSessionTimeout() * 2) / 3)
    const late = () => new Error(`no answer within ${limitMs} ms`)
    return endWithin(timers, limitMs, signal, (own) => this.#send(own, ask), late)
  }

  #send<T>(signal: AbortSignal, ask: (client: Client, answer: Answer<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        cancel()
        this.#sent.delete(fail)
      }
      const fail = (reason: unknown) => {
        stop()
        reject(reason)
      }
      const cancel = onAbort(signal, () => {
        stop()
        const silent = performance.now() - (this.#silentSinceMs ?? Number.POSITIVE_INFINITY)
        if (silent >= silentMs) this.cut()
      })
      this.#sent.add(fail)
      this.#silentSinceMs ??= performance.now()
      try {
        ask(this.#client, (error, result) => {
          stop()
          if (error) reject(error)
          else resolve(result)
          this.#silentSinceMs = this.#sent.size > 0 ? performance.now() : undefined
        })
      } catch (error) {
        fail(error)
      }
    })
  }

  /** Takes no more calls. Calls that were sent get their answers before the server ends the connection. */
  retire(): void {
    this.#isRetired = true
    this.#owner.over()
  }

  /** Ends the connection only: the client connects to the next server. */
  cut(): void {
    this.#client.connectionManager.socket?.destroy()
  }

  /** Ends the client, and its session if there is one. */
  async close(): Promise<void> {
    const wasConnected = this.isConnected
    this.#end(closedError())
    if (wasConnected) {
      const ended = new Promise<void>((resolve) => {
        this.#onEnd = resolve
        setTimeout(resolve, closeMs).unref()
      })
      this.#client.close()
      await ended
    }
    this.cut()
  }

  #change(code: number): void {
    this.isConnected = code === states.connected || code === states.readOnly
    if (this.#isOver) {
      // The client was connecting when it was closed. Until now its close() would have thrown, or ended the
      // process later.
      if (this.isConnected) this.#client.close()
    } else if (this.isConnected) {
      clearTimeout(this.#connecting)
      this.#patienceMs = connectMs
      this.#wasConnected = true
      this.reason = undefined
      this.#owner.connected()
    } else if (code === states.expired || code === states.authFailed) {
      const failure = code === states.expired ? expired() : authFailed()
      this.#end(failure)
      this.cut()
      // If a session expires before it was connected, the options of `createClient` name an old session, and
      // another client would expire too.
      this.#owner.over(this.#wasConnected && code === states.expired ? undefined : failure)
    } else {
      this.#fail(new Error('the connection was lost', { cause: this.reason }))
    }
  }

  #end(reason: Error): void {
    clearTimeout(this.#connecting)
    this.#isOver = true
    this.isConnected = false
    this.#fail(reason)
  }

  #fail(reason: Error): void {
    this.#silentSinceMs = undefined
    for (const fail of [...this.#sent]) fail(reason)
  }
}

export function closedError(): GraupelError {
  return new GraupelError('ERR_STORE_UNAVAILABLE', "the store 'zookeeper' was closed; make another store")
}

function expired(): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    "the session of the store 'zookeeper' has expired, and the next call begins a new session; try again",
  )
}

function authFailed(): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    "the server of the store 'zookeeper' answered AUTH_FAILED; pass client.addAuthInfo() a scheme that the server supports, such as 'digest'",
  )
}
