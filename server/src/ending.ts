import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { endOfReading, isReading } from './http/watched-files.js'

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
  exitNow(128 + constants.signals[signal])
}

/** Ends the process with an exit code, and by `SIGKILL` if a file system does not answer. */
export function exitNow(exitCode: number): never {
  // process.exit() waits for the threads of Node's pool, so the process would never end.
  if (isReading()) process.kill(process.pid, 'SIGKILL')
  process.exit(exitCode)
}

/** Time for the last look at a file to end, and for a slow reader of stderr to take the last lines. */
const lastMs = 1000

/** Ends the process as {@link exitNow} does, once the last lines of the log are written. */
export async function exitAfterLog(exitCode: number): Promise<never> {
  const written = new Promise((resolve) => process.stderr.write('', resolve))
  await Promise.race([Promise.all([endOfReading(), written]), sleep(lastMs)])
  return exitNow(exitCode)
}

/** Resolves to the signal when the ending aborts. */
export async function ended(ending: Ending): Promise<EndSignal> {
  if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }))
  return ending.reason
}
