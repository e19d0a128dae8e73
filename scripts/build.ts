// Builds what is stale (`npm run build`): all parts, or the parts that are named, such as `npx tsx
// scripts/build.ts library`. The tests call `build` for the parts that their processes load.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { copyManual, manual } from './manual.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Part {
  /** The files and folders that it is made of. A change of any of them makes the part stale. */
  readonly sources: readonly string[]
  /**
   * The file that says of which sources the part was made. It is beside the results, and is deleted with
   * them. A part without a stamp finds out by itself whether it is stale.
   */
  readonly stamp?: string
  readonly isFresh?: () => Promise<boolean>
  make(): Promise<void> | void
  /** The consequence if the part cannot be made, for people. Without this text, the build fails. */
  readonly otherwise?: string
}

/** The parts in the order in which they are built. */
export const parts = {
  // The JavaScript of the package, which processes and worker threads of tests load.
  library: {
    sources: ['src', 'package.json', 'scripts/bundle.ts'],
    stamp: 'dist/.library',
    make: async () => (await import('./bundle.ts')).bundleLibrary(),
  },
  types: {
    sources: ['src', 'package.json', 'tsconfig.json', 'scripts/tsconfig.sources.json', 'scripts/declarations.ts'],
    stamp: 'dist/.types',
    make: async () => (await import('./declarations.ts')).writeDeclarations(),
  },
  server: {
    sources: ['server/src', 'server/tsconfig.json', 'src', 'scripts/bundle.ts', 'scripts/manual.ts', ...manual],
    stamp: 'server/dist/.server',
    make: async () => {
      copyManual()
      await (await import('./bundle.ts')).bundleServer()
    },
  },
  page: {
    sources: ['web/src', 'web/index.html', 'web/vite.config.ts', 'src', 'package.json'],
    stamp: 'server/dist/page/.page',
    make: () => run('node_modules/vite/bin/vite.js', 'build', 'web', '--emptyOutDir', '--logLevel', 'warn'),
  },
  native: {
    sources: [],
    isFresh: async () => (await import('../src/cli/build.ts')).engineThatLoads() !== undefined,
    make: compileEngine,
    otherwise: 'the TypeScript engine will run',
  },
} satisfies Record<string, Part>

export type PartName = keyof typeof parts
export const partNames = Object.keys(parts) as PartName[]

/**
 * Builds those of the named parts that are stale. If all are fresh, it writes nothing, so a clone that cannot
 * be written starts, too.
 */
export async function build(...names: readonly PartName[]): Promise<void> {
  for (const name of partNames) {
    if (!names.includes(name) || (await isFresh(parts[name]))) continue
    const part: Part = parts[name]
    try {
      await alone(async () => {
        // Another process may have built the part meanwhile.
        if (await isFresh(part)) return
        // Taken before the part is made, so a change meanwhile makes the part stale again.
        const print = fingerprintOf(part.sources)
        // If this build is killed, the part may be mixed, whatever its sources are then.
        if (part.stamp !== undefined) rmSync(join(root, part.stamp), { force: true })
        await part.make()
        if (part.stamp !== undefined) writeFileSync(join(root, part.stamp), print)
      })
    } catch (error) {
      if (part.otherwise === undefined) throw error
      console.error(`graupel: ${(error as Error).message}; ${part.otherwise}`)
    }
  }
}

async function isFresh({ sources, stamp, isFresh }: Part): Promise<boolean> {
  if (stamp === undefined) return (await isFresh?.()) === true
  const file = join(root, stamp)
  return existsSync(file) && readFileSync(file, 'utf8') === fingerprintOf(sources)
}

/**
 * Runs `work` while no other process builds in this clone: builds would remove each other's files. A process
 * that was killed leaves its lock, which the next build removes.
 */
async function alone(work: () => Promise<void>): Promise<void> {
  const lock = join(root, 'dist/.lock')
  for (let waits = 0; !takes(lock); waits++) {
    // The first wait may have removed a lock without an owner.
    if (waits === 1) {
      console.error('graupel: waits until another process has built this clone; if there is none, remove dist/.lock')
    }
    await sleep(100)
  }
  try {
    await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** A fault of the surroundings, whose message says all. */
class Refusal extends Error {}

/** Makes the lock; returns `false` if a process has it. */
function takes(lock: string): boolean {
  try {
    mkdirSync(dirname(lock), { recursive: true })
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') {
      throw new Refusal(
        `a part of the build is stale, and this clone cannot be written (${code}); run npm run build where it can`,
      )
    }
    removeAbandoned(lock)
    return false
  }
}

/** How long a process may take to write its number into its lock. */
const emptyMs = 10_000

function removeAbandoned(lock: string): void {
  try {
    const owner = Number(readFileSync(lock, 'utf8'))
    // A process of a container that was killed often had the number of this process.
    const isOwn = owner === process.pid
    const isEmpty = owner === 0 && Date.now() - statSync(lock).mtimeMs > emptyMs
    if (isOwn || isEmpty) rmSync(lock, { force: true })
    else if (owner !== 0) process.kill(owner, 0)
  } catch (error) {
    // The owner has ended. Otherwise the lock is gone, or the owner belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(lock, { force: true })
  }
}

/** Returns a hash of the paths and the contents of all files of a part, and of the Node that builds it. */
function fingerprintOf(sources: readonly string[]): string {
  const hash = createHash('sha256').update(process.version)
  const add = (path: string) => {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  for (const source of sources) {
    if (!statSync(join(root, source)).isDirectory()) add(source)
    else {
      const files = readdirSync(join(root, source), { recursive: true, withFileTypes: true })
      const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
      for (const path of paths.sort()) add(path.slice(root.length))
    }
  }
  return hash.digest('hex')
}

function run(program: string, ...words: string[]): void {
  // vitest sets NODE_ENV to 'test', and the page would be one for development.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { status } = spawnSync(process.execPath, [join(root, program), ...words], { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}`)
}

async function compileEngine(): Promise<void> {
  const { buildEngine } = await import('../src/cli/build.ts')
  const { outcome, isNew } = buildEngine(false)
  if (isNew) console.error(`graupel: ${outcome}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = process.argv.slice(2)
  const unknown = names.find((name) => !(name in parts))
  if (unknown !== undefined) {
    console.error(`there is no part '${unknown}'; the parts are ${partNames.join(', ')}`)
    process.exit(2)
  }
  try {
    await build(...(names.length > 0 ? (names as PartName[]) : partNames))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error(`graupel: ${error.message}`)
    process.exitCode = 1
  }
}
