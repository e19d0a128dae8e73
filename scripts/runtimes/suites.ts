import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmBinary, npmNode } from '../npm-binary.js'
import { ownTarget } from '../targets.js'
import type { Project } from './project.ts'
import { type Outcome, repository, run } from './run.ts'

// Runtimes on which the tests of this repository run: the parity suite, on the binary as it is published.

const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
const parity = 'test/parity/parity.test.ts'

/** A release of Node: the parity suite, the cases of installing, and the smoke test. */
export async function onNode(version: string, project: Project, hasInstallCases: boolean): Promise<Outcome> {
  const node = npmNode(version)
  const smoke = await project.smoke(ownTarget(), node, [])
  const files = hasInstallCases ? [parity, 'test/package/install.test.ts'] : [parity]
  const tests = await suite(node, [], project, files)
  return {
    ...smoke,
    proof: `parity suite${hasInstallCases ? ' and install cases' : ''}, ${tests} tests; ${smoke.proof}`,
  }
}

/** The Node that runs this: the parity suite and the smoke test. */
export async function onThisNode(project: Project): Promise<Outcome> {
  const smoke = await project.smoke(ownTarget(), process.execPath, [])
  const tests = await suite(process.execPath, [], project, [parity])
  return { ...smoke, proof: `parity suite, ${tests} tests; ${smoke.proof}` }
}

export async function onDeno(project: Project): Promise<Outcome> {
  const deno = npmBinary(
    `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`,
    '2',
    'deno',
  )
  const flags = ['run', '--allow-all']
  const smoke = await project.smoke(ownTarget(), deno, flags)
  const tests = await suite(deno, flags, project, [parity])
  return { ...smoke, proof: `parity suite, ${tests} tests; ${smoke.proof}` }
}

/** Bun's own runner takes vitest's tests. */
export async function onBun(project: Project): Promise<Outcome> {
  const bun = npmBinary(`@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`, '1', 'bin/bun')
  const smoke = await project.smoke(ownTarget(), bun, [])
  const report = join(project.folder, 'bun.xml')
  await run(bun, ['test', parity, '--reporter=junit', `--reporter-outfile=${report}`], { env: environment(project) })
  const [, tests, failures] =
    readFileSync(report, 'utf8').match(/<testsuites [^>]*\btests="(\d+)"[^>]*\bfailures="(\d+)"/) ?? []
  if (!Number(tests) || failures !== '0') throw new Error(`bun test: ${tests} tests, ${failures} failed`)
  return { ...smoke, proof: `parity suite, ${tests} tests; ${smoke.proof}` }
}

/** Runs test files by vitest; how many tests there were. */
async function suite(
  command: string,
  flags: readonly string[],
  project: Project,
  files: readonly string[],
): Promise<number> {
  const report = join(mkdtempSync(join(project.folder, 'suite-')), 'vitest.json')
  const options = ['--reporter=json', `--outputFile=${report}`, '--reporter=default']
  await run(command, [...flags, vitest, 'run', ...files, ...options], { env: environment(project) })
  const { numPassedTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'))
  if (numPassedTests !== numTotalTests || numTotalTests === 0)
    throw new Error(`${numPassedTests} of ${numTotalTests} tests passed`)
  return numTotalTests
}

function environment(project: Project): NodeJS.ProcessEnv {
  return {
    // A suite that finds no native engine is a failure.
    CI: 'true',
    // For node-gyp-build: not what was built from source in this repository.
    GRAUPEL_PREBUILD: project.package,
    PREBUILDS_ONLY: '1',
    GRAUPEL_TEST_BINARY: project.binary,
    GRAUPEL_TEST_TARBALL: project.tarball,
    GRAUPEL_PARITY_SCRIPTS: '200',
  }
}
