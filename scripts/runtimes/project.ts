import { spawn } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { install, pack, tarballIn } from '../../test/package/consumer.ts'
import { ownTarget, type Target, targets } from '../targets.js'
import { type Outcome, repository, run } from './run.ts'

/** A project that has installed the package with the binaries that there are, and smoke.mjs. */
export class Project {
  readonly folder: string
  readonly package: string
  /** Of the package, without a binary. */
  readonly tarball: string
  #smokes = 0

  private constructor(folder: string, tarball: string) {
    this.folder = join(folder, 'project')
    this.package = join(this.folder, 'node_modules/graupel')
    this.tarball = tarball
  }

  /**
   * @param binaries the folder with `prebuilds`, if they have been made already.
   * @param given a folder with the tarball that is to be installed as it is, instead of one of this repository.
   */
  static async make(folder: string, binaries: string | undefined, given: string | undefined): Promise<Project> {
    const project = new Project(folder, given === undefined ? pack(folder) : tarballIn(resolve(given)))
    install(project.folder, project.tarball, ['--ignore-scripts'])
    if (binaries !== undefined) {
      cpSync(join(binaries, 'prebuilds'), join(project.package, 'prebuilds'), { recursive: true })
    } else if (given === undefined) {
      await run(process.execPath, ['scripts/prebuild.js', '--out', project.package])
    }
    for (const name of ['smoke', 'smoke-worker']) {
      const text = readFileSync(join(repository, `scripts/runtimes/${name}.ts`), 'utf8')
      writeProgram(project.folder, `${name}.mjs`, transformSync(text, { loader: 'ts' }).code)
    }
    return project
  }

  /** This platform's binary. */
  get binary(): string {
    const target = ownTarget()
    if (target === undefined) throw new Error(`no binary is published for ${process.platform} ${process.arch}`)
    return join(this.package, 'prebuilds', target.folder, target.file)
  }

  /** Makes sure that there is a binary for another target, or for some at once. */
  async need(...names: readonly string[]): Promise<Target | undefined> {
    const wanted = targets.filter(({ name }) => names.includes(name))
    const missing = wanted.filter(({ folder, file }) => !existsSync(join(this.package, 'prebuilds', folder, file)))
    if (missing.length > 0) {
      const only = missing.map(({ name }) => name).join()
      const args = ['scripts/cross/build.js', '--only', only, '--out', this.package]
      await run(process.execPath, args, { timeout: 1_800_000 })
    }
    return wanted[0]
  }

  /**
   * Runs smoke.mjs by a command on a target, of which `pathOf` says how paths are written there.
   *
   * @throws Error with all it said where the package has failed, or did not load the target's own binary.
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
    const all = [...args, 'smoke.mjs', pathOf(result)]
    // To a file, because Node under Wine cannot write to a pipe.
    const fd = openSync(output, 'w')
    const options = { cwd: this.folder, env: { ...process.env, ...env }, timeout: 300_000 }
    const child = spawn(command, all, { ...options, stdio: ['ignore', fd, fd] })
    const why = await new Promise((resolve) => {
      child.on('error', (error) => resolve(error.message))
      child.on('close', (code, signal) => resolve(signal ?? (code === 0 ? undefined : `code ${code}`)))
    })
    closeSync(fd)
    if (why !== undefined || !existsSync(result)) {
      throw new Error(`${command} ${all.join(' ')}: ${why ?? 'no result'}\n${readFileSync(output, 'utf8')}`)
    }
    const { runtime, kind, file, ids } = JSON.parse(readFileSync(result, 'utf8'))
    const name = file?.split(/[\\/]/).slice(-2).join('/')
    const own = `${target?.folder}/${target?.file}`
    if (kind !== 'native' || name !== own) throw new Error(`${runtime} ran on ${kind} ${name ?? ''}, not on ${own}`)
    return { runtime, engine: `native, ${name}`, proof: `smoke test, ${ids.toLocaleString('en')} ids` }
  }
}

export function writeProgram(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
