import { constants } from 'node:os'

export type EndSignal = 'SIGTERM' | 'SIGHUP' | 'SIGINT'

/**
 * Aborts when the process is told to end. Its reason is the signal: `SIGINT` does not drain, the others do.
 */
export type Ending = AbortSignal

const signals: readonly EndSignal[] = ['SIGTERM', 'SIGHUP', 'SIGINT']

/**
 * A repeated signal within this time counts once, because `timeout` sends it to the process and then to the
 * process's group.
 */
const sameMs = 500

/**
 * Returns an ending that aborts at the first signal.
 *
 * @param onSecond - Called at the second signal. By default the process then ends at once.
 */
export function endBySignals(onSecond: (signal: EndSignal) => void = exitBy): Ending {
  const controller = new AbortController()
  let first: { readonly name: EndSignal; readonly ms: number } | undefined
  for (const name of signals) {
    process.on(name, () => {
      const nowMs = performance.now()
      if (first === undefined) {
        first = { name, ms: nowMs }
        controller.abort(name)
      } else if (name !== first.name || nowMs - first.ms >= sameMs) {
        onSecond(name)
      }
    })
  }
  return controller.signal
}

/** Ends the process with the exit code that shells give to a signal. */
export function exitBy(signal: EndSignal): never {
  process.exit(128 + constants.signals[signal])
}

/** Resolves to the signal when the ending aborts. */
export async function ended(ending: Ending): Promise<EndSignal> {
  if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }))
  return ending.reason
}
