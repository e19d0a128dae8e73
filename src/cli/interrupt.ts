const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * A signal that comes again so soon is the same one: npx and `timeout` pass on what the process group has got already. Milliseconds;
 * people press keys more slowly.
 */
const echoMs = 200

/**
 * Does work that gives back what it holds when it is interrupted. The process then ends by the signal, as it would have at once
 * without this; a second signal does not wait for that.
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
    // What an interrupted call throws is no news.
    if (!controller.signal.aborted) throw error
  } finally {
    stop()
    if (controller.signal.aborted) end(controller.signal.reason)
  }
}

/** Resolves to `undefined` when the signal is aborted, whatever becomes of the promise. */
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
