// Builds what is stale (`npm run build`): all parts, or the parts that are named, such as `npx tsx
// scripts/build.ts library`. The tests call `build` for the parts that their processes load.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Part {
  /** The files and folders that it is made of. A change of any of them makes the part stale. */
  readonly sources: readonly string[]
  /**
   * The file that says of which sources the part was made. It is beside the results, and is deleted with
   * them. A part without a stamp finds out by itself whether it is stale.
   */
  readonly stamp?: string
  make(): Promise<void> | void
}

/** The parts in the order in which they are built. */
const parts = {
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
    sources: ['server/src', 'server/tsconfig.json', 'src', 'scripts/bundle.ts'],
    stamp: 'server/dist/.server',
    make: async () => (await import('./bundle.ts')).bundleServer(),
  },
  page: {
    sources: ['web/src', 'web/index.html', 'web/vite.config.ts', 'src', 'package.json'],
    stamp: 'web/dist/.page',
    make: () => run('node_modules/vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn'),
  },
  native: {
    sources: [],
    make: compileEngine,
  },
} satisfies Record<string, Part>

export type PartName = keyof typeof parts
export const partNames = Object.keys(parts) as PartName[]

/** Builds those of the named parts that are stale. */
export async function build(...names: readonly PartName[]): Promise<void> {
  for (const name of partNames) {
    if (!names.includes(name)) continue
    const { sources, stamp, make }: Part = parts[name]
    if (stamp === undefined) {
      await make()
      continue
    }
    const file = join(root, stamp)
    // Taken before the part is made, so a change meanwhile makes the part stale again.
    const print = fingerprintOf(sources)
    if (existsSync(file) && readFileSync(file, 'utf8') === print) continue
    await make()
    writeFileSync(file, print)
  }
}

/** Returns a hash of the paths, sizes and times of all files of a part, and of the Node that builds it. */
function fingerprintOf(sources: readonly string[]): string {
  const hash = createHash('sha256').update(process.version)
  const add = (path: string) => {
    const { mtimeMs, size } = statSync(join(root, path))
    hash.update(`${path}\0${mtimeMs}\0${size}\n`)
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

/**
 * Compiles the native engine. A clone without a compiler has the TypeScript engine, so a failure is no error.
 */
async function compileEngine(): Promise<void> {
  const { buildEngine } = await import('../src/cli/build.ts')
  try {
    const { outcome, isNew } = buildEngine(false)
    if (isNew) console.error(`graupel: ${outcome}`)
  } catch (error) {
    console.error(`graupel: ${(error as Error).message}; the TypeScript engine will run`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = process.argv.slice(2)
  const unknown = names.find((name) => !(name in parts))
  if (unknown !== undefined) {
    console.error(`there is no part '${unknown}'; the parts are ${partNames.join(', ')}`)
    process.exit(2)
  }
  await build(...(names.length > 0 ? (names as PartName[]) : partNames))
}
