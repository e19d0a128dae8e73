import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyBaseLogger } from 'fastify'

type Level = 'debug' | 'info' | 'warn' | 'error'
type Event = Readonly<Record<string, unknown>> & { readonly type: string }

/** How much each event of a lease or of segments matters. */
const levels: Readonly<Record<string, Level>> = {
  acquired: 'info',
  // A start that waits for a node takes seconds, which a terminal shows as well.
  waiting: 'warn',
  'renewed late': 'warn',
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
/** A clock that was turned back, and a load that is too high, publish an event for each call. */
const frequent: readonly string[] = ['rollback', 'overflow']
const quietMs = 10_000

/**
 * Logs what the library and Node tell of, until the function that it returns is called. What nothing has caught is logged, too, and ends
 * the process.
 *
 * @param hide - Takes the credentials of the store out of a message.
 */
export function logEvents(log: FastifyBaseLogger, hide: (message: string) => string): () => void {
  const loggedMs = new Map<string, number>()
  const left = new Map<string, number>()
  const onEvent = (message: unknown, channel: string | symbol) => {
    const { type, error, ...rest } = message as Event
    const nowMs = performance.now()
    // Another generator has its own first line.
    const key = `${type} ${rest['layout']} ${rest['node']}`
    if (frequent.includes(type) && nowMs - (loggedMs.get(key) ?? -quietMs) < quietMs) {
      left.set(key, (left.get(key) ?? 0) + 1)
      return
    }
    const notLogged = left.get(key)
    if (frequent.includes(type)) loggedMs.set(key, nowMs)
    left.delete(key)
    log[levels[type] ?? 'info'](
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
    log.fatal({ event: 'uncaught', reason: hide(`${error?.stack ?? error}`) }, 'the service has failed')
    process.exit(1)
  }
  for (const channel of channels) subscribe(channel, onEvent)
  // The one that writes warnings to stderr as text.
  process.removeAllListeners('warning')
  process.on('warning', onWarning)
  process.on('uncaughtException', onUncaught)
  return () => {
    for (const channel of channels) unsubscribe(channel, onEvent)
    process.off('warning', onWarning)
    process.off('uncaughtException', onUncaught)
  }
}

/** Numbers of 64 bits have no place in JSON. */
function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
