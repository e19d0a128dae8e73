import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyBaseLogger } from 'fastify'
import { exitNow } from './ending.js'

type Level = 'debug' | 'info' | 'warn' | 'error'
type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/** The log level of each event of the library. */
const levels: Readonly<Record<string, Level>> = {
  acquired: 'info',
  // A start that waits for a node takes seconds, so a terminal shows it as well.
  waiting: 'warn',
  standby: 'info',
  late: 'warn',
  unreachable: 'warn',
  expired: 'error',
  lost: 'error',
  moved: 'warn',
  released: 'info',
  ended: 'error',
  failed: 'warn',
  skipped: 'warn',
  rollback: 'warn',
  overflow: 'warn',
}

const channels = ['graupel:lease', 'graupel:segments', 'graupel:rollback', 'graupel:overflow'] as const
/** Events that a clock turned back, or too high a load, publishes for every call. */
const frequent: readonly string[] = ['rollback', 'overflow']
const quietMs = 10_000

/**
 * Logs the library's events and Node's warnings until the returned function is called. An uncaught error is
 * logged and ends the process.
 *
 * @param hide - Removes the credentials of the store from a message.
 */
export function logEvents(log: FastifyBaseLogger, hide: (message: string) => string): () => void {
  const loggedMs = new Map<string, number>()
  const left = new Map<string, number>()
  const onEvent = (message: unknown, channel: string | symbol) => {
    const { type, error, ...rest } = message as Event
    const nowMs = performance.now()
    // Each generator has its own first line.
    const key = `${type} ${rest['layout']} ${rest['node']}`
    if (frequent.includes(type) && nowMs - (loggedMs.get(key) ?? -quietMs) < quietMs) {
      left.set(key, (left.get(key) ?? 0) + 1)
      return
    }
    const notLogged = left.get(key)
    if (frequent.includes(type)) loggedMs.set(key, nowMs)
    left.delete(key)
    // A node that the store could not take back stays taken for the rest of its window.
    const level = type === 'released' && error !== undefined ? 'warn' : levels[type]
    log[level ?? 'info'](
      {
        event: type,
        ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)])),
        ...(notLogged !== undefined && { notLogged }),
        ...(error !== undefined && { reason: hide((error as Error).message) }),
      },
      `${String(channel).slice('graupel:'.length)}: ${type}`,
    )
  }
  const onWarning = ({ name, message, code }: Error & { code?: string }) =>
    log.warn({ event: 'warning', name, code }, hide(message))
  const onUncaught = (error: Error) => {
    log.fatal({ event: 'uncaught', reason: hide(`${error?.stack ?? error}`) }, 'the service failed')
    exitNow(1)
  }
  for (const channel of channels) subscribe(channel, onEvent)
  // Node's own listener writes warnings to stderr as text.
  process.removeAllListeners('warning')
  process.on('warning', onWarning)
  process.on('uncaughtException', onUncaught)
  return () => {
    for (const channel of channels) unsubscribe(channel, onEvent)
    process.off('warning', onWarning)
    process.off('uncaughtException', onUncaught)
  }
}

/** Turns a bigint into text, because JSON has no such numbers. */
function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
