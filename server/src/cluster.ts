import cluster, { type Worker } from 'node:cluster'
import { announcement, type Started } from './announcement.js'
import { type Ending, type EndSignal, endBySignals, exitBy } from './ending.js'
import { exitCodeOf, lineOf } from './failure.js'
import { closeWhatIsNotTaken } from './handed-over.js'
import { makeLogger } from './http/log.js'
import { joinWorkers } from './metrics/workers.js'
import type { Command } from './options/read.js'
import type { Options } from './options/table.js'
import { longestEndMs, run } from './run.js'

// One primary, which has the port and serves nothing, and workers, each of which is the whole service with a node of its own.

/** What a worker tells the primary. Other messages, by other types, pass between them as well. */
type Message =
  | { readonly type: 'graupel:ready'; readonly started: Started }
  | { readonly type: 'graupel:failed'; readonly line: string; readonly exitCode: 1 | 2 }

/** Which worker it is, in its environment. */
const placeVariable = 'GRAUPEL_WORKER_PLACE'

const firstPauseMs = 500
const longestPauseMs = 30_000
/** A worker that has lived for so long is started again as if it were the first time. */
const longLifeMs = 60_000
/** For a worker to end, beyond what its options allow. */
const slackMs = 2000

/** Runs a worker. Its exit code. @param read - Reads the options, of which the file may have changed since the primary started. */
export async function runWorker(read: () => Command): Promise<number> {
  const ending = endOfWorker()
  try {
    const command = read()
    if (command.kind !== 'run') return 0
    const onReady = (started: Started) => process.send?.({ type: 'graupel:ready', started } satisfies Message)
    await run(command.options, ending, onReady, Number(process.env[placeVariable]))
    return 0
  } catch (error) {
    const exitCode = exitCodeOf(error)
    const message: Message = { type: 'graupel:failed', line: lineOf(error), exitCode }
    // Without an answer where the primary is gone.
    await new Promise((resolve) => (process.connected ? process.send?.(message, resolve) : resolve(undefined)))
    return exitCode
  }
}

/** Signals come from the primary, and from a terminal or a supervisor to both, so that a second one means nothing. */
function endOfWorker(): Ending {
  const bySignal = endBySignals(() => {})
  const alone = new AbortController()
  const { worker } = cluster
  worker?.once('disconnect', () => {
    // Node would end the process at once, and its node would not be given back.
    worker.exitedAfterDisconnect = true
    alone.abort('SIGINT' satisfies EndSignal)
  })
  return AbortSignal.any([bySignal, alone.signal])
}

/** One of the workers, and those that come after it in its place. */
interface Place {
  worker: Worker | undefined
  started: Started | undefined
  startedMs: number
  /** How many have ended soon, one after the other. */
  failures: number
  timer: NodeJS.Timeout | undefined
}

/** Starts workers and keeps them running until a signal comes. Its exit code. */
export function runPrimary(options: Options): Promise<number> {
  return new Promise((resolve) => new Primary(options, resolve).start())
}

class Primary {
  readonly #options: Options
  readonly #log
  readonly #resolve: (exitCode: number) => void
  readonly #places: readonly Place[]
  #isAnnounced = false
  #exitCode: number | undefined

  constructor(options: Options, resolve: (exitCode: number) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#log = makeLogger(options)
    this.#places = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      started: undefined,
      startedMs: 0,
      failures: 0,
      timer: undefined,
    }))
  }

  start(): void {
    const ending = endBySignals((signal) => {
      this.#kill()
      exitBy(signal)
    })
    ending.addEventListener('abort', () => this.#end(ending.reason, 0))
    joinWorkers((worker) => this.#places.findIndex((place) => place.worker === worker))
    for (const index of this.#places.keys()) this.#fork(index)
  }

  #fork(index: number): void {
    const place = this.#places[index] as Place
    const worker = cluster.fork({ [placeVariable]: `${index}` })
    closeWhatIsNotTaken(worker)
    place.worker = worker
    place.startedMs = performance.now()
    worker.on('message', (message: Message) => {
      if (message?.type === 'graupel:ready') this.#onReady(place, message.started)
      else if (message?.type === 'graupel:failed') this.#onFailed(message.line, message.exitCode)
    })
    worker.on('error', (error) => {
      // Without a process, for lack of memory or of process ids, there is no exit. Another error is of a message to a worker that has
      // just been killed, such as Node's answer to its question for the port.
      if (worker.process.pid === undefined) this.#onExit(index, error.message)
    })
    worker.once('exit', (code, signal) => {
      const how = signal ?? code
      // What it has said at last is read before it is disconnected.
      if (worker.isConnected()) worker.once('disconnect', () => this.#onExit(index, how))
      else this.#onExit(index, how)
    })
  }

  #onReady(place: Place, started: Started): void {
    place.started = started
    const all = this.#places.map((one) => one.started)
    if (this.#isAnnounced || this.#exitCode !== undefined || !all.every((one) => one !== undefined)) return
    this.#isAnnounced = true
    process.stdout.write(announcement(all as unknown as [Started, ...Started[]]))
  }

  /** What is wrong at the first start is not mended by another try, and so are options. A store that is away may come back. */
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
    const place = this.#places[index] as Place
    place.worker = undefined
    place.started = undefined
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
    const place = this.#places[index] as Place
    if (performance.now() - place.startedMs > longLifeMs) place.failures = 0
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** place.failures++)
    this.#log.error({ event: 'worker ended', place: index, how, pauseMs }, 'a worker ended, and is started again')
    place.timer = setTimeout(() => this.#fork(index), pauseMs)
  }

  /** Tells the workers to end, and waits for them. */
  #end(signal: EndSignal, exitCode: number): void {
    if (this.#exitCode !== undefined) return
    this.#exitCode = exitCode
    for (const { worker, timer } of this.#places) {
      clearTimeout(timer)
      worker?.process.kill(signal)
    }
    setTimeout(() => this.#kill(), longestEndMs(this.#options) + slackMs).unref()
    this.#resolveIfNoneIsLeft()
  }

  #resolveIfNoneIsLeft(): void {
    if (this.#places.every(({ worker }) => worker === undefined)) this.#resolve(this.#exitCode as number)
  }

  #kill(): void {
    for (const { worker } of this.#places) worker?.process.kill('SIGKILL')
  }
}
