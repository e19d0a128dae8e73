import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { libfaketime } from '../support/needs.ts'
import type { Site } from './chaos-sites.ts'

const program = fileURLToPath(new URL('./programs/chaos-process.js', import.meta.url))
/** How long a process may take to give its lease back and end. */
const leaveMs = 60_000

/** One of the processes of a run, and after its end the next one in its place. */
export class Slot {
  readonly #number: number
  readonly #site: Site
  readonly #folder: string
  readonly #random: () => number
  readonly #pauseMs: number
  /** Says by how much its clock is off; only where libfaketime stands between. */
  readonly #clockFile: string | undefined
  #child!: ChildProcess
  #ended!: Promise<void>
  #name = ''
  #order = ''
  #isEndExpected = false
  /** Ends that nothing here has caused. */
  readonly deaths: string[] = []

  constructor(number: number, site: Site, folder: string, random: () => number, pauseMs: number) {
    this.#number = number
    this.#site = site
    this.#folder = folder
    this.#random = random
    this.#pauseMs = pauseMs
    // The client valkey-glide has threads of its own, whose timers take a false clock badly.
    if (number % 3 === 1) this.#clockFile = join(folder, `${number}.clock`)
    this.start()
  }

  start(): void {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      NODE_OPTIONS: '',
      GRAUPEL_NODE: undefined,
      NODE_APP_INSTANCE: undefined,
    }
    // One half chooses the engine by the environment, the other one by the option.
    const engine = this.#number % 4 < 2 ? 'native' : 'js'
    const isByOption = this.#number % 2 === 0
    env['GRAUPEL_ENGINE'] = isByOption ? 'auto' : engine
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
    const threads = 1 + Math.max(0, (this.#number % 4) - 1)
    const order = {
      store: this.#site.plan(this.#number),
      file: join(this.#folder, this.#name),
      lease: {
        windowMs: this.#pick([600, 800, 1000, 2000]),
        maxClockSkewMs: 500,
        callTimeoutMs: this.#pick([200, 500, 1000]),
        acquireTimeoutMs: this.#pick([1000, 10_000]),
        ...(this.#random() < 0.5 && { owner: `slot ${this.#number}` }),
      },
      policies: Array.from({ length: threads }, () => ({
        engine: isByOption ? engine : 'auto',
        onRollback: this.#pick(['throw', 'wait', 'advance', 'advance', 'reuse', 'function']),
        onOverflow: this.#pick(['throw', 'wait', 'advance', 'advance']),
        maxAheadMs: this.#pick([0, 100, 1000, 5000]),
        maxWaitMs: this.#pick([0, 20, 50, 300]),
        sequenceStart: this.#pick(['zero', 'random', 'rotate']),
        // A steady clock that has followed a step forward stays ahead for sixteen times as long, and makes no ids meanwhile.
        clock: this.#clockFile === undefined ? this.#pick(['wall', 'steady']) : 'wall',
      })),
      seed: Math.floor(this.#random() * 2 ** 32),
      pauseMs: this.#pauseMs,
    }
    this.#order = JSON.stringify(order)
    const child = spawn(process.execPath, [program, this.#order], {
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

  /** By how many seconds its clock is ahead; it looks once a second. */
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

  /** Lets it give its lease back, and end. */
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

  /** The ids that each thread of the process that lives now has written. */
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
