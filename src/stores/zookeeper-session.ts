import { GraupelError } from '../core/errors.js'
import { clientError } from './options.js'
import { type Answer, type Client, codes, disconnected, isClient, mend, states } from './zookeeper-client.js'

/** How long a call waits for a connection. One that has a signal has a deadline, before which this says what is wrong. */
const connectMs = 1500
const patientConnectMs = 10_000
/** The longest time for one attempt of a client to connect. */
const maxPatienceMs = 12_000
/** A connection that has answered nothing for so long while calls waited is taken for dead when one of them is given up. */
const silentMs = 1000
const closeMs = 1000

/** The calls of a store by one client after another: one whose session has expired never answers again. */
export class Sessions {
  readonly #create: () => unknown
  readonly #given = new WeakSet<object>()
  /** Calls that wait for a connection. */
  readonly #waiting = new Set<(failure?: Error) => void>()
  #current: Session | undefined
  #isClosed = false
  /** The function is not called again then, because each client that it returns stays connected. */
  #refusal: GraupelError | undefined

  constructor(create: () => unknown) {
    this.#create = create
  }

  /** Ends with the answer, the signal, or an error of the connection, whatever the client does. */
  async call<T>(signal: AbortSignal | undefined, ask: (client: Client, answer: Answer<T>) => void): Promise<T> {
    const session = await this.#connected(signal)
    try {
      return await session.call(signal, ask)
    } catch (error) {
      // What a server answers where a session has ended a moment ago. It has done nothing then.
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
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(late)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(check)
        how()
      }
      const abort = () => settle(() => reject(signal?.reason))
      const waitMs = signal === undefined ? patientConnectMs : connectMs
      const check = (failure?: Error) => {
        if (failure !== undefined) return settle(() => reject(failure))
        try {
          const session = this.#open()
          if (session.isConnected) settle(() => resolve(session))
        } catch (error) {
          settle(() => reject(error))
        }
      }
      const late = setTimeout(() => {
        // After a turn in which the answer is read that came while this thread was busy.
        setImmediate(() => {
          if (!this.#waiting.has(check)) return
          settle(() => reject(unreachable(this.#current?.reason, waitMs)))
        })
      }, waitMs)
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort)
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
    // With two connections it loses count of its servers, and ends the process when they break.
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

interface Owner {
  connected(): void
  /** No call can be made by it any more. @param failure - Another client would end in the same way. */
  over(failure?: Error): void
}

/** One client, which connects again by itself for as long as its session lives. */
class Session {
  readonly #client: Client
  readonly #owner: Owner
  /** Calls that were sent; each ends by its function, for the client forgets some when a connection ends. */
  readonly #sent = new Set<(reason: unknown) => void>()
  #isOver = false
  #isRetired = false
  #wasConnected = false
  #onEnd = () => {}
  /** Since when calls have waited, and none was answered. */
  #silentSinceMs: number | undefined
  #connecting: NodeJS.Timeout | undefined
  #patienceMs = connectMs
  /** What the socket has last said. */
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
    })
    client.on('state', ({ code }) => this.#change(code))
    this.#awaitConnection()
    client.connect()
  }

  /** A server that starts, or stands still, takes a connection and may never answer, and the client would wait for ever. */
  #awaitConnection(): void {
    clearTimeout(this.#connecting)
    this.#connecting = setTimeout(() => this.cut(), this.#patienceMs)
    // Longer each time, because each may leave a session behind on a server that is only slow.
    this.#patienceMs = Math.min(this.#patienceMs * 2, maxPatienceMs)
  }

  call<T>(signal: AbortSignal | undefined, ask: (client: Client, answer: Answer<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(limit)
        signal?.removeEventListener('abort', abort)
        this.#sent.delete(fail)
        how()
      }
      const fail = (reason: unknown) => settle(() => reject(reason))
      const giveUp = (reason: unknown) => {
        fail(reason)
        const silent = performance.now() - (this.#silentSinceMs ?? Number.POSITIVE_INFINITY)
        if (silent >= silentMs) this.cut()
      }
      const abort = () => giveUp(signal?.reason)
      // For calls without a signal. So long does ZooKeeper's own client wait.
      const limitMs = Math.max(silentMs, (this.#client.getSessionTimeout() * 2) / 3)
      const limit = setTimeout(() => giveUp(new Error(`no answer within ${limitMs} ms`)), limitMs)
      if (signal?.aborted) return fail(signal.reason)
      signal?.addEventListener('abort', abort)
      this.#sent.add(fail)
      this.#silentSinceMs ??= performance.now()
      try {
        ask(this.#client, (error, result) => {
          settle(error ? () => reject(error) : () => resolve(result))
          this.#silentSinceMs = this.#sent.size > 0 ? performance.now() : undefined
        })
      } catch (error) {
        fail(error)
      }
    })
  }

  /** Takes no more calls; those that were sent have their answers before the server ends the connection. */
  retire(): void {
    this.#isRetired = true
    this.#owner.over()
  }

  /** Ends the connection, and no more: the client makes another, to the next server. */
  cut(): void {
    this.#client.connectionManager.socket?.destroy()
  }

  /** Ends the session, too, where there is one. */
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
      // It was connecting when it was closed. Before now its close() would have thrown, or ended the process later.
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
      // A session that is over before it was used is one that the user has named.
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

function closedError(): GraupelError {
  return new GraupelError('ERR_STORE_UNAVAILABLE', "the store 'zookeeper' was closed; make another one")
}

function expired(): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    "the session of the store 'zookeeper' has expired, and the next call begins another; try again",
  )
}

function authFailed(): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    "the server of the store 'zookeeper' answered AUTH_FAILED; give client.addAuthInfo() what it knows, such as 'digest'",
  )
}

function unreachable(reason: Error | undefined, waitedMs: number): GraupelError {
  const { message, code } = Object(reason) as { message?: string; code?: string }
  const why = reason === undefined ? 'nothing there answers as ZooKeeper does' : message || code
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the store 'zookeeper' has no connection after ${waitedMs} ms: ${why}; look whether ZooKeeper listens where the connection string of its client says`,
    { cause: reason },
  )
}
