import { GraupelError } from '../core/errors.js'
import { endWithin, onAbort } from '../core/timing.js'
import { clientError } from './options.js'
import { type Answer, type Client, codes, disconnected, isClient } from './zookeeper-client.js'
import { closedError, connectMs, Session, timers } from './zookeeper-session.js'

/**
 * How long a call without a signal waits for a connection. A call with a signal has a deadline, and waits for
 * `connectMs`.
 */
const patientConnectMs = 10_000

/**
 * The calls of a store, by one client after another: a client whose session has expired never answers again.
 */
export class Sessions {
  readonly #create: () => unknown
  readonly #given = new WeakSet<object>()
  /** Calls that wait for a connection. */
  readonly #waiting = new Set<(failure?: Error) => void>()
  #current: Session | undefined
  #isClosed = false
  /** If set, the function is not called again, because every client that it returns stays connected. */
  #refusal: GraupelError | undefined

  constructor(create: () => unknown) {
    this.#create = create
  }

  /**
   * Makes a call, which ends with the answer, the signal or an error of the connection, even if the client
   * never answers.
   */
  async call<T>(signal: AbortSignal | undefined, ask: (client: Client, answer: Answer<T>) => void): Promise<T> {
    const session = await this.#connected(signal)
    try {
      return await session.call(signal, ask)
    } catch (error) {
      // The session has just expired, and the server has not executed the call.
      if (Object(error).code !== codes.sessionExpired) throw error
      session.retire()
    }
    return (await this.#connected(signal)).call(signal, ask)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const last = this.#current
    this.#current = undefined
    this.#wake()
    await last?.close()
  }

  #connected(signal: AbortSignal | undefined): Promise<Session> {
    const waitMs = signal === undefined ? patientConnectMs : connectMs
    const late = () => unreachable(this.#current?.reason, waitMs)
    return endWithin(timers, waitMs, signal, (own) => this.#connection(own), late)
  }

  /** Waits for a session with a connection, until the signal is aborted. */
  #connection(signal: AbortSignal): Promise<Session> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        cancel()
        this.#waiting.delete(check)
      }
      const check = (failure?: Error) => {
        try {
          if (failure !== undefined) throw failure
          const session = this.#open()
          if (!session.isConnected) return
          resolve(session)
        } catch (error) {
          reject(error)
        }
        stop()
      }
      const cancel = onAbort(signal, () => stop())
      this.#waiting.add(check)
      check()
    })
  }

  #open(): Session {
    if (this.#isClosed) throw closedError()
    if (this.#current !== undefined) return this.#current
    const session = new Session(this.#newClient(), {
      connected: () => this.#wake(),
      over: (failure) => {
        if (this.#current !== session) return
        this.#current = undefined
        this.#wake(failure)
      },
    })
    this.#current = session
    return session
  }

  #newClient(): Client {
    if (this.#refusal !== undefined) throw this.#refusal
    const client = this.#create()
    if (!isClient(client)) {
      throw clientError('ZooKeeper', client, 'a function that returns createClient(…) of node-zookeeper-client 1.1')
    }
    if (this.#given.has(client)) {
      throw new GraupelError(
        'ERR_STORE_UNAVAILABLE',
        "the function of the store 'zookeeper' returned a client whose session is over; call createClient(…) in it",
      )
    }
    // With two connections the client loses count of its servers, and ends the process when they break.
    if (client.connectionManager.state !== disconnected) {
      this.#refusal = new GraupelError(
        'ERR_STORE_UNAVAILABLE',
        "the function of the store 'zookeeper' returned a client that was told to connect; call createClient(…) in it, and not connect()",
      )
      throw this.#refusal
    }
    this.#given.add(client)
    return client
  }

  #wake(failure?: Error): void {
    for (const check of [...this.#waiting]) check(failure)
  }
}

function unreachable(reason: Error | undefined, waitedMs: number): GraupelError {
  const { message, code } = Object(reason) as { message?: string; code?: string }
  const why = reason === undefined ? 'nothing there answers like ZooKeeper' : message || code
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the store 'zookeeper' has no connection after ${waitedMs} ms: ${why}; check the connection string of its client`,
    { cause: reason },
  )
}
