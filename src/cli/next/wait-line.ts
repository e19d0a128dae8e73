import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LeaseEvent } from '../../index.js'
import type { Store } from '../../stores/store.js'
import type { Terminal } from '../progress.js'

/** A wait that ends sooner needs no words. */
const silentMs = 1000

/** A line on a terminal that says why a lease is waited for. It is erased at the end. */
export class WaitLine {
  readonly #terminal: Terminal | undefined
  readonly #store: Store
  readonly #timer: NodeJS.Timeout
  #untilMs: number | undefined
  #isShown = false

  constructor(terminal: Terminal | undefined, store: Store) {
    this.#terminal = terminal?.isTTY ? terminal : undefined
    this.#store = store
    subscribe('graupel:lease', this.#listen)
    this.#timer = setInterval(() => this.#show(), silentMs)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    unsubscribe('graupel:lease', this.#listen)
    if (this.#isShown) this.#terminal?.write('\r\x1b[K')
  }

  readonly #listen = (event: unknown): void => {
    const { type, untilMs } = event as LeaseEvent
    if (type === 'waiting') this.#untilMs = untilMs
  }

  #show(): void {
    this.#isShown = true
    this.#terminal?.write(`\r\x1b[K${this.#reason()}`)
  }

  #reason(): string {
    if (this.#untilMs === undefined || this.#untilMs < Date.now()) return 'waiting for a free node'
    const until = `waiting until ${new Date(this.#untilMs).toISOString().slice(11, 19)} UTC`
    return this.#store.durable
      ? `${until}: the node may have ids up to then`
      : `${until}: ${this.#store.name} may forget leases when it restarts, so it has to run for 11 s first`
  }
}
