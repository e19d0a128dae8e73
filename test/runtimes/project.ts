import { spawn } from 'node:child_process'
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { type Target, targets } from '../../scripts/targets.ts'
import { install, packageFolder } from '../package/consumer.ts'
import { bareTarball, binaryPath, publishedBinary, tarballIn } from '../package/tarball.ts'
import { repository } from '../support/documents.ts'
import { hangMs } from '../support/until.ts'
import { environment, type Outcome, run } from './run.ts'
import { digestOfScript } from './script.mts'

const foreignTargets = ['linux-arm64-glibc', 'linux-x64-musl', 'linux-arm64-musl', 'win32-x64'] as const
type ForeignTarget = (typeof foreignTargets)[number]

/** A project that has installed the package with this platform's binary, and has smoke.mjs. */
export class Project {
  readonly folder: string
  readonly package: string
  /** The URL of an id service. */
  readonly service: string
  #foreign: Promise<unknown> | undefined
  #smokes = 0
  /** The digest of the js engine in this process. */
  #digest: string | undefined

  private constructor(folder: string, service: string) {
    this.service = service
    this.folder = join(folder, 'project')
    this.package = packageFolder(this.folder)
  }

  /**
   * @param given - A folder with a tarball to install. Without it, the tarball of this repository is
   * installed.
   */
  static async make(folder: string, given: string | undefined, service: string): Promise<Project> {
    const project = new Project(folder, service)
    install(project.folder, given === undefined ? bareTarball() : tarballIn(resolve(given)), ['--ignore-scripts'])
    if (given === undefined) {
      mkdirSync(dirname(project.binary), { recursive: true })
      copyFileSync(publishedBinary(), project.binary)
    }
    for (const [name, source] of [
      ['smoke', 'smoke.ts'],
      ['smoke-worker', 'smoke-worker.ts'],
      ['script', 'script.mts'],
      ['use-client', 'use-client.mts'],
    ]) {
      const text = readFileSync(join(repository, `test/runtimes/${source}`), 'utf8')
      writeProgram(project.folder, `${name}.mjs`, transformSync(text, { loader: 'ts' }).code)
    }
    return project
  }

  /** This platform's binary. */
  get binary(): string {
    return join(this.package, binaryPath)
  }

  /**
   * Prepares another target with its binary. One compilation makes all binaries, because several would wait
   * for each other.
   */
  async foreign(name: ForeignTarget): Promise<Target> {
    const args = ['scripts/cross/build.ts', '--only', foreignTargets.join(), '--out', this.package]
    this.#foreign ??= run(process.execPath, ['--import', 'tsx', ...args], { timeout: 1_800_000 })
    await this.#foreign
    return targets.find((target) => target.name === name) as Target
  }

  /**
   * Runs smoke.mjs by a command on a target. `pathOf` converts paths for the target.
   *
   * @throws Error with the output if the package has failed, or did not load the target's own binary.
   */
  async smoke(
    target: Target | undefined,
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    pathOf = (path: string) => path,
  ): Promise<Outcome> {
    this.#smokes += 1
    const result = join(this.folder, `result-${this.#smokes}.json`)
    const output = join(this.folder, `output-${this.#smokes}.txt`)
    const all = [...args, 'smoke.mjs', pathOf(result), this.service]
    // The output goes to a file, because Node under Wine cannot write to a pipe.
    const fd = openSync(output, 'w')
    const options = { cwd: this.folder, env: { ...environment(), ...env }, timeout: hangMs }
    const child = spawn(command, all, { ...options, stdio: ['ignore', fd, fd] })
    const why = await new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message))
      child.on('close', (code, signal) => resolve(signal ?? (code === 0 ? undefined : `code ${code}`)))
    })
    closeSync(fd)
    if (why !== undefined || !existsSync(result)) {
      throw new Error(`${command} ${all.join(' ')}: ${why ?? 'no result'}\n${readFileSync(output, 'utf8')}`)
    }
    const { runtime, kind, file, ids, digest } = JSON.parse(readFileSync(result, 'utf8'))
    const name = file?.split(/[\\/]/).slice(-2).join('/')
    const own = `${target?.folder}/${target?.file}`
    if (kind !== 'native' || name !== own) throw new Error(`${runtime} ran on ${kind} ${name ?? ''}, not on ${own}`)
    this.#digest ??= digestOfScript('js')
    if (digest !== this.#digest) throw new Error(`${runtime}: the native engine and the js engine make different ids`)
    return { runtime, engine: `native, ${name}`, proof: `smoke test, ${ids.toLocaleString('en')} ids` }
  }
}

export function writeProgram(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
