import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Plan, Report } from './maker.js'

export type { Plan, Report }

const program = fileURLToPath(new URL('maker.js', import.meta.url))
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

interface Message {
  readonly ready?: true
  readonly firstMs?: number
  readonly report?: Report
  readonly ended?: true
  readonly wrong?: string
}

/** A process that makes ids. */
export class Maker {
  readonly #child: ChildProcess
  #failure: Error | undefined
  readonly #waiting = new Set<{ take(message: Message): boolean; fail(error: Error): void }>()

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message: Message) => {
      if (message.wrong !== undefined) this.#fail(new Error(message.wrong))
      for (const one of this.#waiting) if (one.take(message)) this.#waiting.delete(one)
    })
    child.on('exit', (code, signal) => {
      living.delete(child)
      this.#fail(new Error(`a process that makes ids has ended with ${signal ?? code}`))
    })
  }

  /** Starts a process, and waits until it can begin. */
  static async start(plan: Plan, variables: Readonly<Record<string, string>> = {}): Promise<Maker> {
    // Warnings, such as that of the wait for a store that has just started, are no failures.
    const env = { ...process.env, NODE_NO_WARNINGS: '1', ...variables }
    const child = fork(program, [JSON.stringify(plan)], {
      env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    living.add(child)
    const maker = new Maker(child)
    await maker.#next(({ ready }) => ready)
    return maker
  }

  /** Lets the process acquire a lease. Resolves to the time of its first id. */
  begin(): Promise<number> {
    const first = this.#next(({ firstMs }) => firstMs)
    this.#child.send('go')
    return first
  }

  report(sinceMs: number): Promise<Report> {
    const reported = this.#next(({ report }) => report)
    this.#child.send({ sinceMs })
    return reported
  }

  /** Releases the lease. The process can begin again. */
  async end(): Promise<void> {
    const ended = this.#next(({ ended }) => ended)
    this.#child.send('end')
    await ended
  }

  stop(): void {
    this.#waiting.clear()
    this.#child.kill('SIGKILL')
  }

  #next<T>(find: (message: Message) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#waiting.add({
        take(message) {
          const found = find(message)
          if (found !== undefined) resolve(found)
          return found !== undefined
        },
        fail: reject,
      })
    })
  }

  #fail(error: Error): void {
    this.#failure = error
    for (const { fail } of this.#waiting) fail(error)
    this.#waiting.clear()
  }
}
