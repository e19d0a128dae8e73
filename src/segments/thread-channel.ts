import { closedError, type ErrorCode, errorCodes, GraupelError, rangeError } from '../core/errors.js'
import type { Clock } from '../core/timing.js'
import type { Supply } from '../numbers/fetched.js'
import { checkComparable } from '../numbers/generation.js'
import { News, type Prefetcher } from '../numbers/prefetcher.js'
import { objectOf, type SegmentHandle } from './handle.js'
import { SegmentMemory } from './memory.js'

/** Messages between the thread that fetches and the others. The numbers themselves are in shared memory. */
type Message =
  | { readonly type: 'ask' }
  /** Asks whether the thread that fetches still runs; `answer` says that it does. */
  | { readonly type: 'look' }
  | { readonly type: 'answer' }
  /** An attempt to fetch has ended. */
  | { readonly type: 'news'; readonly failure?: { readonly code: ErrorCode; readonly message: string } }
  | { readonly type: 'closed' }

/** Milliseconds without news after which a thread asks whether the thread that fetches still runs. */
const lookMs = 1000

/**
 * Checks that this thread may share segments with others. @throws GraupelError `ERR_STATE_UNREACHABLE`
 */
export function checkShareable(): void {
  if (typeof BroadcastChannel !== 'function' || typeof SharedArrayBuffer !== 'function') {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      'this platform has no memory that threads share, or no BroadcastChannel; create a generator in each thread',
    )
  }
  checkComparable()
}

/** The source of the numbers of a segment generator. */
export interface SegmentSupply extends Supply {
  readonly memory: SegmentMemory
  /** Whether other threads take from the memory, too. */
  readonly isShared: boolean
  /** Opens the memory to other threads. @throws GraupelError `ERR_STATE_UNREACHABLE` */
  handle(): SegmentHandle
}

type Channel = InstanceType<typeof BroadcastChannel>

function open(name: string, hear: (message: Message) => void): Channel {
  const channel = new BroadcastChannel(name)
  channel.onmessage = (event: unknown) => {
    const { data } = event as { data: unknown }
    if (isMessage(data)) hear(data)
  }
  // A channel with a listener keeps a process of Node alive; browsers have no such method.
  ;(channel as { unref?(): void }).unref?.()
  return channel
}

/** Checks a message, because other code may post to the channel, too. An error here would end the process. */
function isMessage(data: unknown): data is Message {
  const { type, failure } = Object(data) as { type?: unknown; failure?: unknown }
  if (type !== 'news' || failure === undefined) return typeof type === 'string'
  const { code, message } = Object(failure) as { code?: unknown; message?: unknown }
  return typeof code === 'string' && Object.hasOwn(errorCodes, code) && typeof message === 'string'
}

/** Fetches for other threads. */
export class ServingThread {
  readonly #channel: Channel
  #isClosed = false

  constructor(name: string, supply: Pick<Prefetcher<unknown>, 'ask' | 'isFetching' | 'failure'>) {
    this.#channel = open(name, ({ type }) => {
      if (type === 'look') this.#post({ type: 'answer' })
      if (type !== 'ask') return
      supply.ask()
      if (!supply.isFetching) this.tell(supply.failure)
    })
  }

  tell(failure: Error | undefined): void {
    const { code = 'ERR_STORE_UNAVAILABLE', message } = Object(failure) as GraupelError
    this.#post(failure === undefined ? { type: 'news' } : { type: 'news', failure: { code, message } })
  }

  close(): void {
    this.#post({ type: 'closed' })
    this.#isClosed = true
    this.#channel.close()
  }

  #post(message: Message): void {
    // A subscriber of the event may have closed the channel, or a message arrived after it was closed.
    if (!this.#isClosed) this.#channel.postMessage(message)
  }
}

/** Asks another thread to fetch. */
export class RemoteSupply implements SegmentSupply {
  readonly isShared = true
  readonly memory: SegmentMemory
  readonly #handle: SegmentHandle
  readonly #later: Clock['later']
  readonly #channel: Channel
  readonly #news = new News()
  #failure: Error | undefined
  /** The last segment that was requested of the other thread, so that each is requested once. */
  #askedFor = -1
  #isClosed = false
  /** Set while a call waits: cancels the timer that checks the other thread. */
  #cancelLook: (() => void) | undefined

  constructor(handle: SegmentHandle, later: Clock['later']) {
    this.memory = new SegmentMemory(handle.memory, handle.stride)
    this.#handle = handle
    this.#later = later
    this.#channel = open(handle.channel, (message) => this.#hear(message))
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  ask(): void {
    const { segments, hasRoom } = this.memory
    if (!hasRoom || this.#askedFor === segments || this.#isClosed) return
    this.#askedFor = segments
    this.#post({ type: 'ask' })
  }

  async arrival(): Promise<void> {
    this.throwIfClosed()
    this.ask()
    if (this.#cancelLook === undefined) this.#lookLater()
    await this.#news.wait()
  }

  /** Calls wait for as long as the other thread answers. */
  throwIfLate(): void {}

  /** The thread that fetches may have closed the memory, and its message may be on its way. */
  throwIfClosed(): void {
    if (this.#isClosed || this.memory.isClosed) throw this.#closedError()
  }

  handle(): SegmentHandle {
    return this.#handle
  }

  close(): void {
    this.#end()
  }

  /**
   * Checks from time to time that the thread that fetches runs, while a call waits. The timers keep this
   * thread alive.
   */
  #lookLater(): void {
    const { callTimeoutMs, name } = this.#handle
    const text = `the thread that fetches the numbers of '${name}' does not answer; it has ended, or its event loop is blocked`
    this.#cancelLook = this.#later(() => {
      this.#post({ type: 'look' })
      const giveUp = () => this.#settle(new GraupelError('ERR_STATE_UNREACHABLE', text))
      this.#cancelLook = this.#later(giveUp, Math.max(lookMs, callTimeoutMs))
    }, lookMs)
  }

  #post(message: Message): void {
    this.#channel.postMessage(message)
  }

  #hear(message: Message): void {
    // Questions of other threads are for the thread that fetches.
    if (message.type === 'closed') this.#end()
    if (message.type === 'answer' && this.#cancelLook !== undefined) {
      this.#cancelLook()
      this.#lookLater()
    }
    if (message.type !== 'news') return
    const { failure } = message
    this.#failure = failure && errorOf(failure)
    // The next segment has to be asked for.
    this.#askedFor = -1
    this.#settle(this.#failure)
  }

  #end(): void {
    this.#isClosed = true
    this.#channel.close()
    this.#settle(this.#closedError())
  }

  #closedError(): Error {
    return closedError(objectOf(this.#handle.name))
  }

  #settle(failure: Error | undefined): void {
    this.#cancelLook?.()
    this.#cancelLook = undefined
    this.#news.settle(failure)
  }
}

function errorOf({ code, message }: { code: ErrorCode; message: string }): Error {
  return code === 'ERR_SEGMENT_OVERFLOW' ? rangeError(code, message) : new GraupelError(code, message)
}
