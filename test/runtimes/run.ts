import { execFile, spawnSync } from 'node:child_process'
import { repository } from '../support/documents.ts'

/** The result of a run on a runtime. */
export interface Outcome {
  /** The name and version that the runtime reports. */
  runtime: string
  engine: string
  /** The tests and their coverage. */
  proof: string
}

/** A tool that is not installed, and how to install it. */
export class Missing extends Error {}

/** The environment without the variables of the running vitest, because a test may start another vitest. */
export function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$)/.test(name)))
}

/**
 * Runs a command and returns its standard output. @throws Error with all output unless the command exits with
 * 0.
 */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<string> {
  const { cwd = repository, timeout = 600_000 } = options
  const env = { ...environment(), ...options.env }
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env, timeout, maxBuffer: 1 << 27 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command} ${args.join(' ')}: ${error.code ?? error.signal}\n${stdout}${stderr}`))
    })
  })
}

/** Returns the first installed command of a list. @throws Missing */
export function findCommand(commands: readonly string[], debianPackage: string): string {
  const found = commands.find(
    (command) => spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 60_000 }).status === 0,
  )
  if (found === undefined) throw new Missing(`no ${commands[0]} (Debian package ${debianPackage})`)
  return found
}
