import { type ErrorCode, GraupelError, rangeError } from '../errors.js'
import { closedError } from '../policy/refusal.js'
import type { Timing } from '../stores/deadline.js'
import type { Fetcher } from './fetcher.js'
import type { SegmentHandle } from './handle.js'
import type { SegmentMemory } from './memory.js'
import { type Supply, Waiting } from './supply.js'

/** What threads tell each other. The numbers themselves are in the memory that they share. */
type Message =
  | { readonly type: 'ask' }
  /** An attempt to fetch has ended. */
  | { readonly type: 'news'; readonly failure?: { readonly code: ErrorCode; readonly message: string } }
  | { readonly type: 'closed' }

/** Milliseconds for the thread that fetches to answer, beside the calls of the store. */
const answerMs = 1000
/** Calls of the store in one attempt, at most: see StoreSource. */
const callsOfAttempt = 5

/** Whether threads can tell each other something. */
export function hasChannels(): boolean {
  return typeof BroadcastChannel === 'function' && typeof SharedArrayBuffer === 'function'
}

type Channel = InstanceType<typeof BroadcastChannel>

function open(name: string, hear: (message: Message) => void): Channel {
  const channel = new BroadcastChannel(name)
  channel.onmessage = (event: unknown) => hear((event as { data: Message }).data)
  // Node keeps a process alive for a channel that somebody listens to; browsers have no such method.
  ;(channel as { unref?(): void }).unref?.()
  return channel
}

/** Fetches for other threads. */
export class ServingThread {
  readonly #channel: Channel

  constructor(name: string, fetcher: Fetcher) {
    this.#channel = open(name, ({ type }) => {
      if (type !== 'ask') return
      fetcher.ask()
      if (!fetcher.isFetching) this.tell(fetcher.failure)
    })
  }

  tell(failure: Error | undefined): void {
    const { code = 'ERR_STORE_UNAVAILABLE', message } = Object(failure) as GraupelError
    this.#post(failure === undefined ? { type: 'news' } : { type: 'news', failure: { code, message } })
  }

  close(): void {
    this.#post({ type: 'closed' })
    this.#channel.close()
  }

  #post(message: Message): void {
    this.#channel.postMessage(message)
  }
}

/** Has another thread fetch. */
export class RemoteSupply implements Supply {
  readonly #handle: SegmentHandle
  readonly #memory: SegmentMemory
  readonly #timing: Timing
  readonly #channel: Channel
  readonly #waiting = new Waiting()
  #failure: Error | undefined
  /** For which segment the other thread was asked; once is enough. */
  #askedFor = -1
  #isClosed = false

  constructor(handle: SegmentHandle, memory: SegmentMemory, timing: Timing) {
    this.#handle = handle
    this.#memory = memory
    this.#timing = timing
    this.#channel = open(handle.channel, (message) => this.#hear(message))
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  ask(): void {
    const { segments } = this.#memory
    if (this.#askedFor === segments || this.#isClosed) return
    this.#askedFor = segments
    this.#post()
  }

  arrival(): Promise<void> {
    if (this.#isClosed || this.#memory.isClosed) return Promise.reject(closedError())
    const { callTimeoutMs, name } = this.#handle
    // A timer that keeps the thread alive for as long as a call waits.
    const cancel = this.#timing.later(
      () =>
        this.#waiting.settle(
          new GraupelError(
            'ERR_STATE_UNREACHABLE',
            `the thread that fetches the numbers of '${name}' does not answer; it has ended, or its event loop is blocked`,
          ),
        ),
      callsOfAttempt * callTimeoutMs + answerMs,
    )
    const news = this.#waiting.wait().finally(cancel)
    this.#post()
    return news
  }

  close(): void {
    this.#isClosed = true
    this.#channel.close()
    this.#waiting.settle(closedError())
  }

  #post(): void {
    this.#channel.postMessage({ type: 'ask' } satisfies Message)
  }

  #hear(message: Message): void {
    if (message.type === 'ask') return
    if (message.type === 'closed') {
      this.#waiting.settle(closedError())
      return
    }
    const { failure } = message
    this.#failure = failure && errorOf(failure)
    // Another attempt will be made, and has to be asked for.
    if (failure !== undefined) this.#askedFor = -1
    this.#waiting.settle(this.#failure)
  }
}

function errorOf({ code, message }: { code: ErrorCode; message: string }): Error {
  return code === 'ERR_SEGMENT_OVERFLOW' ? rangeError(code, message) : new GraupelError(code, message)
}
