const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * Milliseconds within which a second signal counts as the first signal: npx and `timeout` pass on a signal
 * that the process group has already got. People press keys more slowly.
 */
const echoMs = 200

/**
 * Runs work that gives back what it holds if a signal interrupts it. The process then ends by that signal, as
 * it would without this function. A second signal ends the process at once.
 *
 * @param work - Ends soon after its signal is aborted.
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const stop = () => {
    for (const name of signals) process.removeListener(name, listen)
  }
  let abortedMs = 0
  const listen = (name: NodeJS.Signals) => {
    if (!controller.signal.aborted) {
      abortedMs = performance.now()
      controller.abort(name)
    } else if (performance.now() - abortedMs > echoMs) {
      end(name)
    }
  }
  const end = (name: NodeJS.Signals) => {
    stop()
    process.kill(process.pid, name)
  }
  for (const name of signals) process.on(name, listen)
  try {
    await work(controller.signal)
  } catch (error) {
    // An interrupted call may throw. The user knows that the command was interrupted.
    if (!controller.signal.aborted) throw error
  } finally {
    stop()
    if (controller.signal.aborted) end(controller.signal.reason)
  }
}

/** Resolves as the promise does, or to `undefined` as soon as the signal is aborted. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (signal === undefined) return promise
  let listen = () => {}
  const aborted = new Promise<undefined>((resolve) => {
    listen = () => resolve(undefined)
    signal.addEventListener('abort', listen)
    if (signal.aborted) listen()
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', listen)
  }
}
