/** Fewer are made, or listed, too fast to show progress. */
const many = { ids: 1_000_000, nodes: 10_000 } as const
const intervalMs = 100

/** The part of stderr that it uses. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** A line on a terminal that shows the progress of a long run, and is erased at its end. */
export class Progress {
  readonly #terminal: Terminal | undefined
  readonly #total: number
  readonly #things: keyof typeof many
  readonly #now: () => number
  readonly #startMs: number
  #shownMs: number
  #isShown = false

  /** @param now - Milliseconds of a monotonic clock. */
  constructor(
    terminal: Terminal | undefined,
    total: number,
    now = () => performance.now(),
    things: keyof typeof many = 'ids',
  ) {
    this.#terminal = terminal?.isTTY && total >= many[things] ? terminal : undefined
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
      `\r\x1b[K${count(done)} of ${count(this.#total)} ${this.#things}, ${percent} %, ${count(rate)} a second`,
    )
  }

  erase(): void {
    if (!this.#isShown) return
    this.#terminal?.write('\r\x1b[K')
    this.#isShown = false
    process.removeListener('SIGINT', this.#interrupt)
  }

  // Without a listener the signal ends the process at once, even while a write blocks, with the status 130. This listener
  // erases the line, and with it itself, and sends the signal again, which then has that effect. Another listener is told of
  // the signal anyhow, and ends the process when it has given back what it holds.
  readonly #interrupt = (): void => {
    this.erase()
    if (process.listenerCount('SIGINT') === 0) process.kill(process.pid, 'SIGINT')
  }
}

function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}
