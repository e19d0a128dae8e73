import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LeaseEvent } from '../index.js'
import type { Store } from '../stores/store.js'

/**
 * The least totals for which progress is shown. Fewer ids are made, and fewer nodes listed, in an instant.
 */
const leastTotal = { ids: 1_000_000, nodes: 10_000 } as const
const intervalMs = 100
/** Milliseconds after which a wait for a lease is explained. */
const silentMs = 1000
const eraseLine = '\r\x1b[K'

/** The part of stderr that the lines use. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A line on a terminal that shows the progress of a long run, and is erased at its end. */
export class Progress {
  readonly #terminal: Terminal | undefined
  readonly #total: number
  readonly #things: keyof typeof leastTotal
  readonly #now: () => number
  readonly #startMs: number
  #shownMs: number
  #isShown = false

  /** @param now - Milliseconds of a monotonic clock. */
  constructor(
    terminal: Terminal | undefined,
    total: number,
    now = () => performance.now(),
    things: keyof typeof leastTotal = 'ids',
  ) {
    this.#terminal = terminal?.isTTY && total >= leastTotal[things] ? terminal : undefined
    this.#total = total
    this.#things = things
    this.#now = now
    this.#startMs = now()
    this.#shownMs = this.#startMs
  }

  update(done: number): void {
    if (this.#terminal === undefined) return
    const nowMs = this.#now()
    if (nowMs - this.#shownMs < intervalMs) return
    this.#shownMs = nowMs
    if (!this.#isShown) process.once('SIGINT', this.#interrupt)
    this.#isShown = true
    const rate = (done / (nowMs - this.#startMs)) * 1000
    const percent = Math.floor((done / this.#total) * 100)
    this.#terminal.write(
      `${eraseLine}${count(done)} of ${count(this.#total)} ${this.#things}, ${percent} %, ${count(rate)} a second`,
    )
  }

  erase(): void {
    if (!this.#isShown) return
    this.#terminal?.write(eraseLine)
    this.#isShown = false
    process.removeListener('SIGINT', this.#interrupt)
  }

  // A signal without a listener ends the process at once, even while a write blocks, with the status 130.
  // This listener erases the line, removes itself, and sends the signal again, which then ends the process.
  // If there is another listener, that listener has got the signal too, and ends the process when it has
  // given back what it holds.
  readonly #interrupt = (): void => {
    this.erase()
    if (process.listenerCount('SIGINT') === 0) process.kill(process.pid, 'SIGINT')
  }
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}

/** A line on a terminal that says why a lease is not there yet, and is erased at the end. */
export class WaitLine {
  readonly #terminal: Terminal | undefined
  readonly #store: Store
  readonly #timer: NodeJS.Timeout
  #untilMs: number | undefined
  #isShown = false

  constructor(terminal: Terminal | undefined, store: Store) {
    this.#terminal = terminal?.isTTY ? terminal : undefined
    this.#store = store
    // Without a terminal no one listens, so the lease warns of a wait on stderr.
    if (this.#terminal !== undefined) subscribe('graupel:lease', this.#listen)
    this.#timer = setInterval(() => this.#show(), silentMs)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    unsubscribe('graupel:lease', this.#listen)
    if (this.#isShown) this.#terminal?.write(eraseLine)
  }

  readonly #listen = (event: unknown): void => {
    const { type, untilMs } = event as LeaseEvent
    if (type === 'waiting') this.#untilMs = untilMs
  }

  #show(): void {
    this.#isShown = true
    this.#terminal?.write(`${eraseLine}${this.#reason()}`)
  }

  #reason(): string {
    if (this.#untilMs === undefined || this.#untilMs < Date.now()) return 'waiting for a free node'
    const until = `waiting until ${new Date(this.#untilMs).toISOString().slice(11, 19)} UTC`
    return this.#store.durable
      ? `${until}: the node may have ids up to then`
      : `${until}: ${this.#store.name} may forget leases when it restarts, so it has to run for 11 s first`
  }
}
