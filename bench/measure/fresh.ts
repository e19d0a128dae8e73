import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/**
 * Runs bench's TypeScript without a build. The loops are plain JavaScript when they run: esbuild only takes
 * the types away.
 */
export const withTypes = ['--import', import.meta.resolve('tsx')]

/**
 * Gives V8 a young generation that stays at one mebibyte. Otherwise V8 enlarges it during a run by more than
 * a measurement of memory looks for: on Node 24 by 100 MiB.
 */
export const smallYoung = ['--min-semi-space-size=1', '--max-semi-space-size=1']

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill()
})

interface Fresh {
  nodeFlags?: readonly string[]
  /** The program of another version of Node. */
  execPath?: string
}

/**
 * Runs a module in a fresh process, with one parameter as JSON, and resolves to the one message that it
 * sends.
 */
export function inFreshProcess<T>(module: string, parameter: unknown, { nodeFlags = [], execPath }: Fresh = {}) {
  const file = new URL(`../${module}`, import.meta.url)
  const execArgv = [...withTypes, ...nodeFlags]
  const child = fork(file, [JSON.stringify(parameter)], { execArgv, ...(execPath !== undefined && { execPath }) })
  return messageOf<T>(child, module)
}

/**
 * Runs a program of the bench on another version of Node in place of this process, which only passes
 * interruptions on. Resolves to its exit code.
 */
export async function inPlaceOfThis(execPath: string, parameters: readonly string[]): Promise<number> {
  const child = spawn(execPath, [...withTypes, ...parameters], { stdio: 'inherit' })
  process.on('SIGINT', () => child.kill('SIGINT'))
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return exitCode ?? 1
}

/**
 * Runs JavaScript in a bare process, and resolves to the number that the code prints. A loader of TypeScript
 * would be timed with each import, and a message channel would make Node load more modules.
 */
export async function evaluate(code: string): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const [printed, [exitCode, signal]] = await Promise.all([text(child.stdout), once(child, 'close')])
  running.delete(child)
  if (exitCode !== 0 || printed === '')
    throw new Error(`the probe of start-up ended with ${signal ?? `exit code ${exitCode}`}`)
  return Number(printed)
}

function messageOf<T>(child: ChildProcess, name: string) {
  running.add(child)
  return new Promise<T>((resolve, reject) => {
    let message: T | undefined
    child.on('message', (value) => {
      message = value as T
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      running.delete(child)
      if (message !== undefined && code === 0) resolve(message)
      else reject(new Error(`${name} ended with ${signal ?? `exit code ${code}`}`))
    })
  })
}
