/** Ids from which on it is worth while. */
const manyIds = 1_000_000
const intervalMs = 100

/** What it needs of stderr. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A line on a terminal that says how far a long run has got, and is gone when the run is over. */
export class Progress {
  readonly #terminal: Terminal | undefined
  readonly #total: number
  readonly #now: () => number
  readonly #startMs: number
  #shownMs: number
  #isShown = false

  /** @param now - Milliseconds of a monotonic clock. */
  constructor(terminal: Terminal | undefined, total: number, now = () => performance.now()) {
    this.#terminal = terminal?.isTTY && total >= manyIds ? terminal : undefined
    this.#total = total
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
    this.#terminal.write(`\r\x1b[K${count(done)} of ${count(this.#total)} ids, ${percent} %, ${count(rate)} a second`)
  }

  erase(): void {
    if (!this.#isShown) return
    this.#terminal?.write('\r\x1b[K')
    this.#isShown = false
    process.removeListener('SIGINT', this.#interrupt)
  }

  // Without a listener the signal ends the process at once, even while a write blocks, and the shell says 130. With
  // this one it does so after the line is gone; the listener is off by then, so the signal has its usual effect.
  readonly #interrupt = (): void => {
    this.erase()
    process.kill(process.pid, 'SIGINT')
  }
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}
