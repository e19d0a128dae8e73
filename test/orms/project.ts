import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { repository } from '../support/documents.ts'
import { program } from '../support/examples.ts'
import { hangMs } from '../support/until.ts'

// Compiles and runs programs of examples/orms and docs/orms.md as users do.

export const examples = join(repository, 'examples/orms')

/** The options that TypeORM needs, beside the usual options of projects. */
export const compilerOptions = {
  module: 'nodenext',
  target: 'es2023',
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  experimentalDecorators: true,
  useDefineForClassFields: false,
  types: ['node'],
}

export interface Project {
  readonly folder: string
  /**
   * Compiles all files of the folder, and returns the output of the compiler: nothing if the files are right.
   */
  types(): string
  /**
   * Runs a file of TypeScript, checks the values in its comments, and returns its last line of output, which
   * is JSON.
   */
  run(file: string, variables: Record<string, string>): Promise<unknown>
  remove(): void
}

/**
 * Makes a folder inside the package, so that its programs find graupel.
 *
 * @param installed - The `node_modules` of the folder.
 * @param from - The files and folders that are copied into it.
 */
export function makeProject(installed: string, from: string): Project {
  const folder = mkdtempSync(join(repository, 'dist', 'orms-'))
  symlinkSync(installed, join(folder, 'node_modules'))
  cpSync(from, folder, { recursive: true })
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return {
    folder,
    types() {
      const compiler = join(repository, 'node_modules/typescript/bin/tsc')
      const { status, stdout, stderr } = spawnSync(process.execPath, [compiler], { cwd: folder, encoding: 'utf8' })
      return status === 0 ? '' : `${stdout}${stderr}`
    },
    async run(file, variables) {
      // Rounding does not change the first id of a millisecond.
      const code = readFileSync(join(folder, file), 'utf8').replace(
        '{ node: 7 }',
        "{ node: 7, sequenceStart: 'random' }",
      )
      const contents = program(code)
      const outfile = join(folder, `${file}.mjs`)
      await build({
        stdin: { contents, loader: 'ts', resolveDir: folder },
        outfile,
        bundle: true,
        packages: 'external',
        format: 'esm',
        platform: 'node',
        target: 'node20',
        tsconfig: join(folder, 'tsconfig.json'),
        logLevel: 'silent',
      })
      const { stdout } = await promisify(execFile)(process.execPath, [outfile], {
        cwd: folder,
        env: { ...process.env, ...variables },
        timeout: hangMs,
      })
      return JSON.parse(stdout.trim().split('\n').at(-1) as string)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Generates the client of Prisma for the `schema.prisma` of a folder, which has Prisma among its packages.
 * The client needs no engine. The command line downloads the engine of migrations, unless a variable names
 * its path.
 */
export function generateClient(folder: string): void {
  const command = [join(folder, 'node_modules/prisma/build/index.js'), 'generate', '--schema', 'schema.prisma']
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
  execFileSync(process.execPath, command, { cwd: folder, env, stdio: 'pipe' })
}
