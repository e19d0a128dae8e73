import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { libfaketime } from '../support/needs.ts'
import type { Site } from './sites.ts'
import type { Work } from './work.ts'

/** Time limit for a process that gives its resources back and ends. */
const leaveMs = 60_000

/** Whether processes run under libfaketime. The timers of valkey-glide's own threads do not work under it. */
export function hasFalseClock(slot: number): boolean {
  return slot % 3 === 1
}

/** A process of a run. After its end, the next process takes its place. */
export class Slot {
  readonly #number: number
  readonly #site: Pick<Site, 'plan'>
  readonly #work: Work
  readonly #folder: string
  readonly #random: () => number
  readonly #pauseMs: number
  /** The file that sets the offset of the clock; only under libfaketime. */
  readonly #clockFile: string | undefined
  #child!: ChildProcess
  #ended!: Promise<void>
  #name = ''
  #order = ''
  #isEndExpected = false
  /** Ends that this test has not caused. */
  readonly deaths: string[] = []

  constructor(
    number: number,
    site: Pick<Site, 'plan'>,
    work: Work,
    folder: string,
    random: () => number,
    pauseMs: number,
  ) {
    this.#number = number
    this.#site = site
    this.#work = work
    this.#folder = folder
    this.#random = random
    this.#pauseMs = pauseMs
    if (hasFalseClock(number)) this.#clockFile = join(folder, `${number}.clock`)
    this.start()
  }

  start(): void {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      NODE_OPTIONS: '',
      GRAUPEL_NODE: undefined,
      NODE_APP_INSTANCE: undefined,
      ...this.#work.environment?.(this.#number),
    }
    if (this.#clockFile !== undefined) {
      this.clock = 0
      Object.assign(env, {
        LD_PRELOAD: libfaketime() ?? '',
        FAKETIME_TIMESTAMP_FILE: this.#clockFile,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      })
    }
    this.#name = `${this.#number}.${Math.floor(performance.now())}`
    const order = {
      store: this.#site.plan(this.#number),
      file: join(this.#folder, this.#name),
      ...this.#work.order(this.#number, this.threads, (some) => this.#pick(some)),
      seed: Math.floor(this.#random() * 2 ** 32),
      pauseMs: this.#pauseMs,
    }
    this.#order = JSON.stringify(order)
    const child = spawn(process.execPath, [this.#work.program, this.#order], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#isEndExpected = false
    let said = ''
    child.stderr?.on('data', (text) => {
      said = `${said}${text}`.slice(-4000)
    })
    this.#ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        const isEarly = signal === 'SIGTERM' && !existsSync(`${order.file}.events`)
        if (!this.#isEndExpected || (code !== 0 && signal !== 'SIGKILL' && !isEarly)) {
          this.deaths.push(`process ${this.#name} ended with ${signal ?? code}: ${said}\nits order: ${this.#order}`)
        }
        resolve()
      })
    })
  }

  get hasClock(): boolean {
    return this.#clockFile !== undefined
  }

  /** Sets by how many seconds the clock is ahead. The process reads that once a second. */
  set clock(seconds: number) {
    if (this.#clockFile !== undefined) writeFileSync(this.#clockFile, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  }

  stop = () => this.#child.kill('SIGSTOP')
  go = () => this.#child.kill('SIGCONT')

  async kill(): Promise<void> {
    this.#isEndExpected = true
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Lets the process give its resources back and end. */
  async leave(): Promise<void> {
    this.#isEndExpected = true
    this.#child.kill('SIGTERM')
    const late = new AbortController()
    const wait = sleep(leaveMs, 'late', { signal: late.signal }).catch(() => {})
    if ((await Promise.race([this.#ended, wait])) === 'late') {
      this.deaths.push(`process ${this.#name} has not ended within ${leaveMs} ms after SIGTERM`)
      await this.kill()
    }
    late.abort()
  }

  /** The number of ids that each thread of the present process has written. */
  written(): Map<string, number> {
    const threads = new Map<string, number>()
    for (const file of idFilesIn(this.#folder)) {
      if (!file.startsWith(`${this.#name}.`)) continue
      const thread = file.split('.')[2] as string
      threads.set(thread, (threads.get(thread) ?? 0) + Math.floor(statSync(join(this.#folder, file)).size / 8))
    }
    return threads
  }

  /** Its last events. */
  story(): string {
    const lines = readFileSync(join(this.#folder, `${this.#name}.events`), 'utf8').split('\n')
    return `${this.#order}\n${lines.slice(-16).join('\n')}`
  }

  get threads(): number {
    return 1 + Math.max(0, (this.#number % 4) - 1)
  }

  #pick<T>(some: readonly T[]): T {
    return some[Math.floor(this.#random() * some.length)] as T
  }
}

export function idFilesIn(folder: string): string[] {
  return readdirSync(folder).filter((file) => file.endsWith('.ids'))
}
