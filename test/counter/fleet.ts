import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { CounterStats } from 'graupel/segments'
import type { StorePlan } from '../stores/programs/open-store.js'

const program = fileURLToPath(new URL('./programs/count.js', import.meta.url))

// A test may fail before it has ended its processes.
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export interface Work {
  readonly together: number
  readonly count: number | null
  readonly alone: number
  readonly callTimeoutMs?: number
}

/** Processes that count under one name, and their logs. */
export class Fleet {
  readonly #folder = mkdtempSync(join(tmpdir(), 'graupel-counter-'))
  readonly #name = crypto.randomUUID()
  #started = 0

  /** Starts a process that waits for the order to count. */
  async start(store: StorePlan, { callTimeoutMs, ...work }: Work) {
    const file = join(this.#folder, `${this.#started++}`)
    const options = { name: this.#name, ...(callTimeoutMs !== undefined && { callTimeoutMs }) }
    const order = JSON.stringify({ store, options, file, ...work })
    const child = spawn(process.execPath, [program, order], { stdio: ['pipe', 'pipe', 'inherit'] })
    living.add(child)
    const ended = once(child, 'exit').finally(() => living.delete(child))
    child.stdin.on('error', () => {})
    const ready = once(child.stdout, 'readable')
    const said = text(child.stdout)
    return {
      ready,
      tell: (word: 'go' | 'stop') => child.stdin.write(`${word}\n`),
      async kill(): Promise<void> {
        child.kill('SIGKILL')
        await ended
      },
      /** Waits until the process has ended without a fault. Returns the statistics of its counter. */
      async end(): Promise<CounterStats> {
        const [code, signal] = await ended
        if (code !== 0) throw new Error(`a process that counts ended with ${signal ?? code}`)
        return JSON.parse((await said).split('\n')[1] ?? '')
      },
    }
  }

  /** The numbers that all processes have logged. */
  numbers(): number[] {
    return readdirSync(this.#folder).flatMap((file) =>
      readFileSync(join(this.#folder, file), 'utf8').split('\n').slice(0, -1).map(Number),
    )
  }

  /** The numbers that were logged more than once, and how many numbers below the last were never logged. */
  faults(): { last: number; repeated: number[]; missing: number } {
    const numbers = this.numbers()
    const counts = new Map<number, number>()
    for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
    const repeated = [...counts].filter(([, count]) => count > 1).map(([number]) => number)
    const last = numbers.reduce((most, number) => Math.max(most, number), 0)
    return { last, repeated, missing: last - counts.size }
  }

  /** Removes the logs. */
  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
