// Runs all tests (`npm run test:all`), or the tests of the suites that are named after `--`, or with
// `--changed [COMMIT]` those that CONTRIBUTING.md names for the files that differ from a commit.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A row of the table in CONTRIBUTING.md: paths, and the suites to run if a file below one of the paths has
 * changed.
 */
export interface Row {
  readonly paths: readonly string[]
  readonly suites: readonly string[]
}

/** Reads the table, whose cells have their words between backquotes. */
export function readTable(text: string): Row[] {
  const [, table = ''] = text.split('| if you change | run these suites |\n|---|---|\n')
  const rows = table.split('\n\n')[0]?.split('\n') ?? []
  return rows.map((row) => {
    const [paths = [], suites = []] = row
      .split('|')
      .slice(1, 3)
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word))
    return { paths, suites }
  })
}

/**
 * Returns the suites for changed files, in order. A file of a test is a suite itself. `undefined` if a file
 * is in no row: everything runs then.
 */
export function suitesFor(files: readonly string[], table: readonly Row[]): string[] | undefined {
  const suites = new Set<string>()
  for (const file of files) {
    const rows = table.filter(({ paths }) => paths.some((path) => file === path || file.startsWith(`${path}/`)))
    // The suites of `src/cli/state` are those of the longest path, and not those of `src/cli` as well.
    const lengthOf = ({ paths }: Row) => Math.max(...paths.filter((path) => file.startsWith(path)).map((p) => p.length))
    const [row] = rows.sort((one, other) => lengthOf(other) - lengthOf(one))
    if (row !== undefined) for (const suite of row.suites) suites.add(suite)
    else if (/^test\/.*\.test\.ts$/.test(file)) suites.add(file.slice('test/'.length, -'.test.ts'.length))
    else if (/^test\/[^/]+\//.test(file)) suites.add(file.split('/')[1] as string)
    else return undefined
  }
  return [...suites].sort()
}

function changedSince(commit: string): string[] {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\n')
  const changed = [...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')]
  return changed.filter((file) => file !== '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2)
  const at = words.indexOf('--changed')
  let filters = words
  if (at >= 0) {
    const commit = words[at + 1]?.startsWith('-') === false ? words[at + 1] : undefined
    const files = changedSince(commit ?? 'HEAD')
    const suites = suitesFor(files, readTable(readFileSync(`${root}/CONTRIBUTING.md`, 'utf8')))
    const others = words.toSpliced(at, commit === undefined ? 1 : 2)
    console.log(
      `${files.length} files have changed; suites: ${suites === undefined ? 'all' : suites.join(', ') || 'none'}`,
    )
    if (suites?.length === 0) process.exit(0)
    filters = [...(suites ?? []).map((suite) => `test/${suite}`), ...others]
  }
  const program = `${root}/node_modules/vitest/vitest.mjs`
  const done = spawnSync(process.execPath, [program, 'run', '--mode', 'all', ...filters], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exitCode = done.status ?? 1
}
