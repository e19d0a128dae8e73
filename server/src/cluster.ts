import cluster, { type Worker } from 'node:cluster'
import { joinWorkers } from './colleagues.js'
import { type Ending, type EndSignal, endBySignals, exitBy } from './ending.js'
import { exitCodeOf, lineOf } from './failure.js'
import { makeLogger } from './http/log.js'
import type { Command } from './options/read.js'
import type { Options } from './options/table.js'
import { closeUntakenConnection } from './private.js'
import { announcement, longestEndMs, run, type Started } from './run.js'

// The primary has the port and serves nothing. Each worker is a whole service with a node of its own.

/** A message from a worker to the primary. Messages about metrics pass between them as well. */
type Message =
  | { readonly type: 'graupel:ready'; readonly started: Started }
  | { readonly type: 'graupel:failed'; readonly line: string; readonly exitCode: 1 | 2 }

/** The environment variable with the number of a worker. */
const numberVariable = 'GRAUPEL_WORKER_NUMBER'

const firstPauseMs = 500
const longestPauseMs = 30_000
/** A worker that ran for this time is restarted after the first pause again. */
const longLifeMs = 60_000
/** Time for a worker to end, beyond the time that its options allow. */
const slackMs = 2000

/**
 * Runs a worker and resolves to its exit code. @param read - Reads the options, whose file may have changed
 * since the primary started.
 */
export async function runWorker(read: () => Command): Promise<number> {
  const ending = endOfWorker()
  try {
    const command = read()
    if (command.kind !== 'run') return 0
    const onReady = (started: Started) => process.send?.({ type: 'graupel:ready', started } satisfies Message)
    await run(command.options, ending, onReady, Number(process.env[numberVariable]))
    return 0
  } catch (error) {
    const exitCode = exitCodeOf(error)
    const message: Message = { type: 'graupel:failed', line: lineOf(error), exitCode }
    // A primary that is gone would never acknowledge the message.
    await new Promise((resolve) => (process.connected ? process.send?.(message, resolve) : resolve(undefined)))
    return exitCode
  }
}

/**
 * Ends a worker at the first signal. It ignores a second one, because both the primary and a terminal send
 * signals to workers.
 */
function endOfWorker(): Ending {
  const bySignal = endBySignals(() => {})
  const alone = new AbortController()
  const { worker } = cluster
  worker?.once('disconnect', () => {
    // Otherwise Node would end the process at once, before its node is released.
    worker.exitedAfterDisconnect = true
    alone.abort('SIGINT' satisfies EndSignal)
  })
  return AbortSignal.any([bySignal, alone.signal])
}

/** A worker, and the workers that replace it one after the other. */
interface Seat {
  worker: Worker | undefined
  started: Started | undefined
  startedMs: number
  /** Number of consecutive workers that ended soon after their start. */
  failures: number
  restarts: number
  timer: NodeJS.Timeout | undefined
}

/** Starts workers, keeps them running until a signal comes, and resolves to the exit code. */
export function runPrimary(options: Options): Promise<number> {
  return new Promise((resolve) => new Primary(options, resolve).start())
}

class Primary {
  readonly #options: Options
  readonly #log
  readonly #resolve: (exitCode: number) => void
  readonly #seats: readonly Seat[]
  #isAnnounced = false
  #exitCode: number | undefined

  constructor(options: Options, resolve: (exitCode: number) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#log = makeLogger(options)
    this.#seats = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      started: undefined,
      startedMs: 0,
      failures: 0,
      restarts: 0,
      timer: undefined,
    }))
  }

  start(): void {
    const ending = endBySignals((signal) => {
      this.#kill()
      exitBy(signal)
    })
    ending.addEventListener('abort', () => this.#end(ending.reason, 0))
    joinWorkers(
      (worker) => this.#seats.findIndex((seat) => seat.worker === worker),
      () => this.#seats.map(({ restarts }) => restarts),
    )
    for (const index of this.#seats.keys()) this.#fork(index)
  }

  #fork(index: number): void {
    if (this.#exitCode !== undefined) return
    const seat = this.#seats[index] as Seat
    seat.startedMs = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork({ [numberVariable]: `${index}` })
    } catch (error) {
      // Node throws for lack of memory, and emits the event below for lack of process ids or files.
      this.#onExit(index, (error as Error).message)
      return
    }
    closeUntakenConnection(worker)
    seat.worker = worker
    worker.on('message', (message: Message) => {
      if (message?.type === 'graupel:ready') this.#onReady(seat, message.started)
      else if (message?.type === 'graupel:failed') this.#onFailed(message.line, message.exitCode)
    })
    worker.on('error', (error) => {
      // If no process was started, no exit follows. Other errors concern messages to a worker that was just
      // killed, such as Node's answer to its request for the port.
      if (worker.process.pid === undefined) this.#onExit(index, error.message)
    })
    worker.once('exit', (code, signal) => {
      const how = signal ?? code
      if (!worker.isConnected()) {
        this.#onExit(index, how)
        return
      }
      // Its last messages are read before it is disconnected. On a busy machine, a primary once ended before
      // that with code 13, as Node does if nothing is left to wait for: the timer is something.
      const timer = setTimeout(() => worker.emit('disconnect'), slackMs)
      worker.once('disconnect', () => {
        clearTimeout(timer)
        this.#onExit(index, how)
      })
    })
  }

  #onReady(seat: Seat, started: Started): void {
    seat.started = started
    const all = this.#seats.map((one) => one.started)
    if (this.#isAnnounced || this.#exitCode !== undefined || !all.every((one) => one !== undefined)) return
    this.#isAnnounced = true
    process.stdout.write(announcement(all as unknown as [Started, ...Started[]]))
  }

  /**
   * Ends all workers if one fails at the first start, or because of its options. Later failures may pass,
   * such as a store that is away.
   */
  #onFailed(line: string, exitCode: 1 | 2): void {
    if (this.#exitCode !== undefined) return
    if (this.#isAnnounced && exitCode === 1) {
      this.#log.error({ event: 'worker failed', reason: line }, 'a worker could not start')
      return
    }
    process.stderr.write(`graupel-server: ${line}\n`)
    this.#end('SIGINT', this.#isAnnounced ? 1 : exitCode)
  }

  #onExit(index: number, how: string | number): void {
    const seat = this.#seats[index] as Seat
    seat.worker = undefined
    seat.started = undefined
    if (this.#exitCode !== undefined) {
      this.#resolveIfNoneIsLeft()
    } else if (this.#isAnnounced) {
      this.#startAgain(index, how)
    } else {
      process.stderr.write(`graupel-server: a worker ended with ${how} before all were ready\n`)
      this.#end('SIGINT', 1)
    }
  }

  #startAgain(index: number, how: string | number): void {
    const seat = this.#seats[index] as Seat
    if (performance.now() - seat.startedMs > longLifeMs) seat.failures = 0
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** seat.failures++)
    this.#log.error({ event: 'worker ended', worker: index, how, pauseMs }, 'a worker ended, and is started again')
    seat.restarts++
    seat.timer = setTimeout(() => this.#fork(index), pauseMs)
  }

  /** Tells the workers to end and waits for them. */
  #end(signal: EndSignal, exitCode: number): void {
    if (this.#exitCode !== undefined) return
    this.#exitCode = exitCode
    for (const { worker, timer } of this.#seats) {
      clearTimeout(timer)
      worker?.process.kill(signal)
    }
    setTimeout(() => this.#kill(), longestEndMs(this.#options) + slackMs).unref()
    this.#resolveIfNoneIsLeft()
  }

  #resolveIfNoneIsLeft(): void {
    if (this.#seats.every(({ worker }) => worker === undefined)) this.#resolve(this.#exitCode as number)
  }

  #kill(): void {
    for (const { worker } of this.#seats) worker?.process.kill('SIGKILL')
  }
}
