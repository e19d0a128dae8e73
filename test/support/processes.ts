import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Stats } from 'graupel'
import { afterAll } from 'vitest'
import { folder, inMountsOf, libfaketime, shim, withMounts } from './needs.ts'
import { removeRemains } from './pages.ts'

/** The options that programs/order.js makes a generator of. */
export interface Plan {
  node?: number
  namespace?: string
  state?: string
  openTimeoutMs?: number
  reserveMs?: number
  layout?: string
  epochMs?: number
  engine?: string
  clockOffsetMs?: number
  maxAheadMs?: number
  maxWaitMs?: number
  onRollback?: string
  onOverflow?: string
}

/** An error, as it comes from another process. */
export interface Failure {
  code: string
  message: string
  causeCode?: string
  rollbackMs?: number
  retryAfterMs?: number
}

/**
 * The end of a process's work: a number of ids, a number of times that its ceiling has risen, or an error,
 * which ends it in any case. It is no time, in which a busy machine does little.
 */
export interface Bound {
  count?: number
  rises?: number
  /** The pause after each id. @default 1 */
  pauseMs?: number
}

export interface Issued {
  ids: BigUint64Array
  /** The ceiling at the end. */
  ceilingMs: number | null
  error?: Failure
  /** The time at which the error was thrown. */
  errorMs?: number
}

export interface Surroundings {
  env?: Record<string, string>
  /** Puts the command into another one. */
  within?: (command: readonly string[]) => string[]
}

export const js: Surroundings = { env: { GRAUPEL_ENGINE: 'js' } }
export const native: Surroundings = { env: { GRAUPEL_ENGINE: 'native' } }

/** A /dev/shm of its own for a process, prepared by a script. Its pages are in the default folder there. */
export function ownMemory(script = ''): Surroundings {
  const mounted = `mount -t tmpfs none /dev/shm\n${script}`
  return { env: defaultFolder, within: (command) => withMounts(mounted, command) }
}

/** The /dev/shm of a process that was started with its own. */
export function memoryOf({ started }: Obedient): Surroundings {
  return { env: defaultFolder, within: (command) => inMountsOf(started.child.pid ?? 0, command) }
}

/** An empty GRAUPEL_STATE_FOLDER counts as none. */
export const defaultFolder = { GRAUPEL_STATE_FOLDER: '' }

const living = new Map<ChildProcess, Promise<unknown>>()
// Removes the remains of the last test. Most files do this after each test.
afterAll(cleanUp)

/** After tests: ends the processes that they have started, and deletes their pages. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...living].map(([child, ended]) => endNow(child, ended)))
  removeRemains(`test ${process.pid} `)
}

/** Starts one of the programs. */
export function start(program: string, order: object, { env, within }: Surroundings = {}, more: SpawnOptions = {}) {
  const own = [
    process.execPath,
    fileURLToPath(new URL(`../host/programs/${program}`, import.meta.url)),
    JSON.stringify(order),
  ]
  const [command = '', ...rest] = within?.(own) ?? own
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], ...more, env: { ...environment(), ...env } })
  let errors = ''
  child.stderr?.on('data', (text) => {
    errors += text
  })
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>(
    (resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => {
        living.delete(child)
        // libfaketime leaves these if its process is killed.
        for (const name of ['faketime_shm_', 'sem.faketime_sem_'])
          rmSync(`/dev/shm/${name}${child.pid}`, { force: true })
        resolve({ code, signal, errors })
      })
    },
  )
  ended.catch(() => {})
  living.set(child, ended)
  return { child, ended, kill: () => endNow(child, ended) }
}
export type Started = ReturnType<typeof start>

async function endNow(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

/** The end of a program that has to end well. */
export async function wellEnded({ ended }: Started): Promise<void> {
  const { code, signal, errors } = await ended
  if (code !== 0) throw new Error(`the program ended with ${signal ?? code}: ${errors}`)
}

/**
 * Until the program has said that it is there: 'o' before it opens its generator, 'i' after its first ids.
 */
export async function said({ child, ended }: Started, letter: string): Promise<void> {
  const stdout = child.stdout
  if (stdout === null) throw new Error('its standard output is not read')
  const heard = new Promise<void>((resolve) => {
    const listen = (text: Buffer) => {
      if (!text.includes(letter)) return
      stdout.off('data', listen)
      resolve()
    }
    stdout.on('data', listen)
  })
  const early = ended.then(({ code, signal, errors }) => {
    throw new Error(`the program ended with ${signal ?? code} before it said '${letter}': ${errors}`)
  })
  await Promise.race([heard, early])
}

/**
 * A process that takes one order after the other (programs/obey.js). Its errors are thrown here, as a
 * Failure.
 */
export class Obedient {
  readonly started: Started

  constructor(surroundings: Surroundings = {}) {
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
    this.started = start('obey.js', {}, surroundings, { stdio: [...stdio], serialization: 'advanced' })
  }

  async #tell<T>(call: string, argument?: unknown): Promise<T> {
    const { child, ended } = this.started
    child.send({ call, argument })
    const early = ended.then(({ code, signal, errors }) => {
      throw new Error(`it ended with ${signal ?? code} when told to ${call}: ${errors}`)
    })
    const [reply] = (await Promise.race([once(child, 'message'), early])) as [{ result: T; error?: Failure }]
    if (reply.error !== undefined) throw Object.assign(new Error(reply.error.message), reply.error)
    return reply.result
  }

  open = (plan: Plan) => this.#tell<void>('open', plan)
  issue = (bound: Bound) => this.#tell<Issued>('issue', bound)
  issueUntilRefused = () => this.#tell<Issued>('issue', {})
  take = (count: number) => this.#tell<bigint[]>('take', count)
  stats = () => this.#tell<Stats>('stats')
  /** The time by the clock of the process. */
  nowMs = () => this.#tell<number>('nowMs')
  becomeUser = (user: number) => this.#tell<void>('becomeUser', user)
  actAs = (user: number) => this.#tell<void>('actAs', user)
  close = () => this.#tell<void>('close')
  exit = () => this.#tell<void>('exit')
  shell = (script: string) => this.#tell<string>('shell', script)
  kill = () => this.started.kill()

  /** A second generator of the process, in its main thread or in a worker. */
  second(where: 'inSameThread' | 'inOtherThread'): Opener {
    const tell = <T>(call: string, argument?: unknown) => this.#tell<T>(where, { call, argument })
    return { open: (plan) => tell('open', plan), take: (count) => tell('take', count) }
  }
  endThread = () => this.#tell<void>('endThread')
}

/** The calls that open one generator and take ids of it. */
export type Opener = Pick<Obedient, 'open' | 'take'>

/** Starts a process, and opens a generator in it. */
export async function opened(plan: Plan, surroundings: Surroundings = {}): Promise<Obedient> {
  const process = new Obedient(surroundings)
  await process.open(plan)
  return process
}

/** Resolves to the error of a call that has to fail. */
export async function failure(call: Promise<unknown>): Promise<Failure> {
  const result = await call.catch((error: Failure) => error)
  if (!(result instanceof Error)) throw new Error('it did not fail')
  return result as unknown as Failure
}

let count = 0

/** Makes a folder for a state file, and a folder for the shim that watches the file. */
export function stateFolder() {
  count += 1
  const own = join(folder, String(count))
  const watch = join(own, 'watch')
  mkdirSync(watch, { recursive: true })
  const state = join(own, 'ids.state')
  return {
    folder: own,
    state,
    watch,
    env: { LD_PRELOAD: shim() ?? '', SHIM_FILE: state, SHIM_FOLDER: watch },
    /** Gives the shim an order, or takes the order back. */
    order(text?: string): void {
      if (text === undefined) rmSync(join(watch, 'order'), { force: true })
      else writeFileSync(join(watch, 'order'), text)
    },
    isOrderDone: () => !existsSync(join(watch, 'order')),
  }
}

/** Returns the environment of this process without the variables that graupel reads. */
function environment(): Record<string, string | undefined> {
  const { NODE_APP_INSTANCE, GRAUPEL_ENGINE, GRAUPEL_NODE, NODE_OPTIONS, ...rest } = process.env
  return rest
}

/**
 * Makes a clock for processes, which a test sets: `+0` is the true time, `-2` is two seconds earlier, and a
 * date stands still (faketime(1)).
 */
export function testClock() {
  const { folder: own } = stateFolder()
  // A process that acts for another user reads the clock, too.
  chmodSync(folder, 0o755)
  const file = join(own, 'clock')
  const set = (text: string) => writeFileSync(file, text)
  set('+0')
  const env = {
    LD_PRELOAD: libfaketime() ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    TZ: 'UTC',
  }
  /** Sets the clock back. Throws if the process does not read the earlier time. */
  const setBack = async (seconds: number, process: Obedient) => {
    set(`-${seconds}`)
    if ((await process.nowMs()) > Date.now() - seconds * 500) throw new Error('the process has another clock')
  }
  return { env, set, setBack }
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
