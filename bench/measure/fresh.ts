import { type ChildProcess, fork, spawn } from 'node:child_process'

/** Runs bench's TypeScript without a build. The loops are plain JavaScript when they run: esbuild only takes the types away. */
export const withTypes = ['--import', import.meta.resolve('tsx')]

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill()
})

interface Fresh {
  nodeFlags?: readonly string[]
  /** Another version of Node. */
  execPath?: string
}

/** Runs a module in a fresh process, with one parameter as JSON, and resolves to the one message that it sends. */
export function inFreshProcess<T>(module: string, parameter: unknown, { nodeFlags = [], execPath }: Fresh = {}) {
  const file = new URL(`../${module}`, import.meta.url)
  const execArgv = [...withTypes, ...nodeFlags]
  const child = fork(file, [JSON.stringify(parameter)], { execArgv, ...(execPath !== undefined && { execPath }) })
  return messageOf<T>(child, module)
}

/** Runs JavaScript with nothing else in the process: a loader of TypeScript would be timed with each import. */
export async function evaluate(code: string): Promise<number> {
  const parameters = ['--input-type=module', '--eval', code]
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return messageOf<number>(child, 'the probe of start-up')
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
