import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { install, pack, tarballIn } from '../../test/package/consumer.ts'
import { ownTarget, targets } from '../targets.js'
import { type Outcome, repository, run } from './run.ts'

/** A project that has installed the package with the binaries that there are, and smoke.mjs. */
export class Project {
  readonly folder: string
  readonly package: string

  /**
   * @param binaries the folder with `prebuilds`, if they have been made already.
   * @param tarball a folder with the tarball that is to be installed as it is, instead of one of this repository.
   */
  constructor(folder: string, binaries: string | undefined, tarball: string | undefined) {
    this.folder = join(folder, 'project')
    this.package = join(this.folder, 'node_modules/graupel')
    install(this.folder, tarball === undefined ? pack(folder) : tarballIn(resolve(tarball)), ['--ignore-scripts'])
    if (binaries !== undefined)
      cpSync(join(binaries, 'prebuilds'), join(this.package, 'prebuilds'), { recursive: true })
    else if (tarball === undefined) run(process.execPath, ['scripts/prebuild.js', '--out', this.package])
    for (const name of ['smoke', 'smoke-worker']) {
      const text = readFileSync(join(repository, `scripts/runtimes/${name}.ts`), 'utf8')
      writeProgram(this.folder, `${name}.mjs`, transformSync(text, { loader: 'ts' }).code)
    }
  }

  /** This platform's binary. */
  get binary(): string {
    const target = ownTarget()
    if (target === undefined) throw new Error(`no binary is published for ${process.platform} ${process.arch}`)
    return join(this.package, 'prebuilds', target.folder, target.file)
  }

  /** Makes sure that there is a binary for another target. */
  need(name: string): void {
    const target = targets.find((target) => target.name === name)
    if (target === undefined) throw new Error(`no target ${name}`)
    if (existsSync(join(this.package, 'prebuilds', target.folder, target.file))) return
    run(process.execPath, ['scripts/cross/build.js', '--only', name, '--out', this.package])
  }

  /**
   * Runs smoke.mjs by a command, of which `pathOf` says how paths are written there.
   *
   * @throws Error with all it said where the package has failed, or did not run natively.
   */
  smoke(
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    pathOf = (path: string) => path,
  ): Outcome {
    const result = join(this.folder, 'result.json')
    const output = join(this.folder, 'output.txt')
    rmSync(result, { force: true })
    // To a file, because Node under Wine cannot write to a pipe.
    const fd = openSync(output, 'w')
    const all = [...args, 'smoke.mjs', pathOf(result)]
    const stdio = ['ignore', fd, fd] as const
    const done = spawnSync(command, all, {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: [...stdio],
      timeout: 300_000,
    })
    closeSync(fd)
    if (done.status !== 0 || !existsSync(result)) {
      const why = done.error?.message ?? done.signal ?? `code ${done.status}`
      throw new Error(`${command} ${all.join(' ')}: ${why}\n${readFileSync(output, 'utf8')}`)
    }
    const { runtime, kind, file, ids } = JSON.parse(readFileSync(result, 'utf8'))
    if (kind !== 'native') throw new Error(`${runtime} ran on the ${kind} engine, although there is a binary for it`)
    const name = file.split(/[\\/]/).slice(-2).join('/')
    return { runtime, engine: `native, ${name}`, proof: `smoke test, ${ids.toLocaleString('en')} ids` }
  }
}

export function writeProgram(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
