/** Short enough for the page to stay responsive: a frame of a display with 60 Hz takes 16 ms. */
const sliceMs = 10

/** Lets the page draw and handle events, without the delay of timers. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

/**
 * Runs long work in slices, between which the page can draw. The first slice runs at once.
 *
 * @param work - Yields often, each time with the part that is done, from 0 to 1.
 * @param onSlice - Called after each slice but the last.
 * @throws the reason of the signal
 */
export async function inSlices<Result>(
  work: Generator<number, Result>,
  onSlice: (done: number) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    const endMs = performance.now() + sliceMs
    let step = work.next()
    while (!step.done && performance.now() < endMs) step = work.next()
    if (step.done) return step.value
    onSlice(step.value)
    await turn()
    signal.throwIfAborted()
  }
}

/** Work of which only the latest counts: new work ends the former work. */
export class Job<Result> {
  /** The part that is done, from 0 to 1; `undefined` while no work runs. */
  progress: number | undefined
  result: Result | undefined
  /** Whether the user cancelled it. */
  isCancelled = false
  #key: readonly unknown[] = []
  #abort = new AbortController()
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /**
   * Starts the work, unless the last work had the same key. @param key - All values that the result depends
   * on.
   */
  begin(key: readonly unknown[], work: () => Generator<number, Result>): void {
    if (key.length === this.#key.length && key.every((part, i) => part === this.#key[i])) return
    this.#key = key
    this.#abort.abort()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.isCancelled = false
    this.progress = 0
    this.result = undefined
    const end = (result: Result | undefined) => {
      this.progress = undefined
      this.result = result
      this.#onChange()
    }
    inSlices(
      work(),
      (done) => {
        this.progress = done
        this.#onChange()
      },
      signal,
    ).then(
      (result) => {
        if (!signal.aborted) end(result)
      },
      (error) => {
        if (!signal.aborted) throw error
      },
    )
  }

  cancel(): void {
    this.#abort.abort()
    this.progress = undefined
    this.isCancelled = true
    this.#onChange()
  }
}
