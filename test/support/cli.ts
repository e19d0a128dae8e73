import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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

/** Runs `graupel` to its end. */
export function graupel(words: readonly string[], variables: Variables = {}, input = ''): Run {
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

/** Runs `graupel`, and returns the lines that it printed. @throws Error if it fails or writes to stderr */
export function lines(words: readonly string[], variables: Variables = {}, input = ''): string[] {
  const { status, stdout, stderr } = graupel(words, variables, input)
  if (status !== 0 || stderr !== '') throw new Error(`graupel ${words.join(' ')}: ${status}, ${stderr}`)
  return stdout.split('\n').slice(0, -1)
}

/** Returns the pages of a namespace, as `graupel state --json` shows them. */
export function shownPages(namespace: string): { path: string; [property: string]: unknown }[] {
  return lines(['state', '--json'])
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
