import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { warningText } from '../../src/cli/output.js'
import { run } from '../../src/cli/run.js'
import { engines } from './engines.ts'
import { hangMs } from './until.ts'

/** The shipped command. */
export const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Run {
  status: number | null
  stdout: string
  stderr: string
}

type Variables = Record<string, string>

/** Without a native engine, asks for the js engine, so that the command prints no warning. */
const engine = engines.includes('native') ? undefined : 'js'

/** Variables that are not taken from the environment of the tests. */
const neutral = { GRAUPEL_NODE: undefined, GRAUPEL_ENGINE: engine, NODE_APP_INSTANCE: undefined, TZ: 'UTC' }

/** Returns the environment in which the tests run `graupel`. */
export function environment(variables: Variables = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...neutral, ...variables }
}

/** The bytes of a chunk of the standard input; a pipe has more. */
const chunkBytes = 4096

let isRunning = false

/**
 * Runs `graupel` to its end in this process, and changes the environment meanwhile. Use it to test what a
 * command reads, prints and refuses. `spawnGraupel` is for what its process takes part in: ids and leases
 * that it holds, files that are open by this process, the engine, signals, pipes that close, the zone of its
 * clock, clients in its folder. test/cli/processes.test.ts compares both.
 */
export async function graupel(words: readonly string[], variables: Variables = {}, input = ''): Promise<Run> {
  if (isRunning) throw new Error('graupel runs already, and runs share the environment; await the other run first')
  isRunning = true
  const said = { stdout: '', stderr: '' }
  const writable = (name: keyof typeof said) =>
    new Writable({
      write(chunk, _encoding, done) {
        said[name] += chunk
        done()
      },
    })
  const streams = { stdin: Readable.from(chunksOf(input)), stdout: writable('stdout'), stderr: writable('stderr') }
  const warn = (warning: Error) => streams.stderr.write(warningText(warning))
  const restore = setVariables({ ...neutral, ...variables })
  const others = process.listeners('warning')
  process.removeAllListeners('warning').on('warning', warn)
  try {
    const status = await run(words, streams)
    // A warning comes after the call that emits it.
    await turn()
    return { status, ...said }
  } finally {
    process.removeAllListeners('warning')
    for (const listener of others) process.on('warning', listener)
    restore()
    isRunning = false
  }
}

function* chunksOf(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

/** Sets or deletes variables of this process, and returns the function that restores the former values. */
function setVariables(variables: Record<string, string | undefined>): () => void {
  const former = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  return () => void setVariables(former)
}

/** Runs `graupel` to its end as a process, from `dist`. */
export function spawnGraupel(words: readonly string[], variables: Variables = {}, input = ''): Run {
  const { error, status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    env: environment(variables),
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: hangMs,
    killSignal: 'SIGKILL',
  })
  if (error !== undefined) throw error
  return { status, stdout, stderr }
}

/** Starts `graupel` with pipes. */
export function start(words: readonly string[], variables: Variables = {}) {
  return spawn(process.execPath, [program, ...words], {
    env: environment(variables),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs `graupel` in this process, and returns the lines that it printed. @throws as `linesOf` */
export async function lines(words: readonly string[], variables: Variables = {}, input = ''): Promise<string[]> {
  return linesOf(words, await graupel(words, variables, input))
}

/** Runs `graupel` as a process, and returns the lines that it printed. @throws as `linesOf` */
export function spawnLines(words: readonly string[], variables: Variables = {}): string[] {
  return linesOf(words, spawnGraupel(words, variables))
}

/** @throws Error if the run failed, or wrote to stderr */
function linesOf(words: readonly string[], { status, stdout, stderr }: Run): string[] {
  if (status !== 0 || stderr !== '') throw new Error(`graupel ${words.join(' ')}: ${status}, ${stderr}`)
  return stdout.split('\n').slice(0, -1)
}

/** Returns the pages of a namespace, as `graupel state --json` shows them. */
export function shownPages(namespace: string): { path: string; [property: string]: unknown }[] {
  return spawnLines(['state', '--json'])
    .map((line) => JSON.parse(line))
    .filter((page) => page.namespace === namespace)
}

export function removePages(namespace: string): void {
  for (const { path } of shownPages(namespace)) rmSync(path)
}

/** Starts a process that has a state open, and has made an id. */
export async function holder(options: object, ...words: string[]) {
  // Global, because the collection of an unreachable generator closes its state.
  const code = `
    import { createGenerator } from 'graupel'
    globalThis.ids = createGenerator(${JSON.stringify(options)})
    process.stdout.write(ids.nextString())
    process.stdin.on('end', () => process.exit()).resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [id] = await once(child.stdout, 'data')
  return {
    pid: child.pid as number,
    id: String(id),
    async end(signal?: NodeJS.Signals) {
      if (signal === undefined) child.stdin.end()
      else child.kill(signal)
      await once(child, 'exit')
    },
  }
}
