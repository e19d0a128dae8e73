import { constants } from 'node:os'

export type EndSignal = 'SIGTERM' | 'SIGINT'

/** Aborted when the process is to end; its reason is the signal: `SIGTERM` lets it drain, `SIGINT` does not. */
export type Ending = AbortSignal

const signals: readonly EndSignal[] = ['SIGTERM', 'SIGINT']

/** A signal that comes again within it is the same one: `timeout` sends it to the process, and then to the group of the process. */
const sameMs = 500

/**
 * Ends with the first signal.
 *
 * @param onSecond - With the second one; by default the process ends at once, as it would have with the first.
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

/** With the exit code that shells give to a signal. */
export function exitBy(signal: EndSignal): never {
  process.exit(128 + constants.signals[signal])
}

/** Resolves when it ends. */
export async function ended(ending: Ending): Promise<EndSignal> {
  if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }))
  return ending.reason
}
