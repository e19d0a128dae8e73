import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { serve } from '../server/support/process.ts'
import { repository, storeModule } from '../support/documents.ts'
import { program } from '../support/examples.ts'
import { hangMs } from '../support/until.ts'

const runInTurn = fileURLToPath(new URL('./programs/run-in-turn.js', import.meta.url))

/** The default URL of the service. The examples share one service, whose URL replaces it. */
const serviceUrl = 'http://127.0.0.1:4728'

/** Code that uses its process, or keeps state on the host. It gets a process of its own. */
const needsProcess = /\bprocess\.|\bstate: |\bglobalThis\b|node:(worker_threads|cluster|child_process)/

interface Example {
  readonly file: string
  readonly text: string
}

/** Examples of documents. The examples that need no process of their own run in one process, in turn. */
export class ExamplesRun {
  /** Inside the package, so that an example can import it by its name. */
  readonly #folder = mkdtempSync(join(repository, 'dist', 'examples-'))
  readonly #shared: Example[] = []
  #outcomes: Promise<Map<string, string>> | undefined
  #service: Promise<string> | undefined
  #count = 0

  constructor() {
    afterAll(() => rmSync(this.#folder, { recursive: true }))
  }

  /**
   * Adds an example, before the first test runs. Returns a function that runs it and resolves to its errors,
   * which are '' if it succeeds.
   */
  add(name: string, code: string): () => Promise<string> {
    // In a folder of its own, the example has a store of its own.
    const own = join(this.#folder, String(this.#count++))
    mkdirSync(own)
    writeFileSync(join(own, 'store.js'), storeModule)
    const example = { file: join(own, `${name.replaceAll(/\W+/g, '-')}.mjs`), text: program(code) }
    const isAlone = needsProcess.test(code)
    if (!isAlone) this.#shared.push(example)
    return async () => {
      if (!isAlone) this.#outcomes ??= this.#run(this.#shared)
      const outcomes = await (isAlone ? this.#run([example]) : this.#outcomes)
      const errors = outcomes?.get(example.file) ?? `did not end: ${outcomes?.get('process')}`
      return errors === '' ? '' : `${errors}\n${example.text}`
    }
  }

  /**
   * Runs examples in one process. Returns the errors of each file that has ended, and how the process has
   * ended.
   */
  async #run(examples: readonly Example[]): Promise<Map<string, string>> {
    for (const { file, text } of examples) {
      if (text.includes(serviceUrl)) this.#service ??= serve().then(({ url }) => url)
      writeFileSync(file, this.#service ? text.replaceAll(serviceUrl, await this.#service) : text)
    }
    const words = [runInTurn, ...examples.map(({ file }) => file)]
    // In the temporary folder, because some examples make a file.
    const child = spawn(process.execPath, words, {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      timeout: hangMs,
      killSignal: 'SIGKILL',
    })
    const texts = { errors: '', outcomes: '' }
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      texts.errors += text
    })
    const told = child.stdio[3] as Readable
    told.setEncoding('utf8').on('data', (text: string) => {
      texts.outcomes += text
    })
    const [code, signal] = await once(child, 'close')
    const lines = texts.outcomes.split('\n').slice(0, -1)
    const outcomes = new Map<string, string>(lines.map((line) => JSON.parse(line)))
    const running = examples.find(({ file }) => !outcomes.has(file))?.file
    return outcomes.set('process', `the process ended with ${signal ?? code} in ${running}\n${texts.errors}`)
  }
}
