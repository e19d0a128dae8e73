import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmBinary, npmNode } from '../../scripts/npm-binary.ts'
import { ownTarget } from '../../scripts/targets.ts'
import { repository } from '../support/documents.ts'
import { type Project, writeProgram } from './project.ts'
import { type Outcome, run } from './run.ts'

// Runtimes on which the parity suite of this repository runs, with the published binary.

const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
const parity = 'test/engine/parity.test.ts'
/** The end of the name of a program. */
const exe = process.platform === 'win32' ? '.exe' : ''

/** Runs the parity suite and the smoke test on a release of Node. */
export async function onNode(version: string, project: Project): Promise<Outcome> {
  return await onProgram(npmNode(version), [], project)
}

/** Runs the parity suite and the smoke test on the present Node. */
export async function onThisNode(project: Project): Promise<Outcome> {
  return await onProgram(process.execPath, [], project)
}

/** Runs the tests of installing on a release of Node. */
export async function whileInstalling(version: string, project: Project): Promise<Outcome> {
  const tests = await suite(npmNode(version), [], project, 'test/package/install.long.test.ts')
  return { runtime: `Node ${version}`, engine: 'either', proof: `the cases of installing, ${tests} tests` }
}

/** The command for Deno in docs/platforms.md: its flags, and the flags that the native engine alone needs. */
function documentedFlags(): { all: string[]; native: string[] } {
  const page = readFileSync(join(repository, 'docs/platforms.md'), 'utf8')
  const [, all] = page.match(/^GRAUPEL_STATE_FOLDER=\S+ deno run (.*) service\.js$/m) ?? []
  const [, native] = page.match(/^\| the native engine \| `(.*)` \|$/m) ?? []
  if (all === undefined || native === undefined) throw new Error('docs/platforms.md has no flags for Deno')
  return { all: all.split(' '), native: native.split(' ') }
}

/** Runs the smoke test, the parity suite and programs on both engines with the flags that are documented. */
export async function onDeno(project: Project): Promise<Outcome> {
  const deno = npmBinary(
    `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`,
    '2',
    `deno${exe}`,
  )
  const { all, native } = documentedFlags()
  const env = { GRAUPEL_STATE_FOLDER: mkdtempSync(join(project.folder, 'state-')) }
  // The client of the smoke test calls a service.
  const smoke = await project.smoke(ownTarget(), deno, ['run', '--no-prompt', ...all, '--allow-net'], env)
  const program = writeProgram(
    project.folder,
    'documented-flags.mjs',
    `import { createGenerator } from 'graupel'
     const { engine } = createGenerator({ node: Number(process.env.NODE_TO_USE) })
     console.log(engine)`,
  )
  const engineWith = async (flags: string[], node: string, more: NodeJS.ProcessEnv) => {
    const variables = { NODE_TO_USE: node, ...more }
    return (await run(deno, ['run', '--no-prompt', ...flags, program], { cwd: project.folder, env: variables })).trim()
  }
  const withoutFfi = all.filter((flag) => flag !== '--allow-ffi')
  const runs: [string[], string, NodeJS.ProcessEnv, string][] = [
    [native, '1', {}, 'native'],
    [native, '1', env, 'native'],
    [withoutFfi, '2', env, 'js'],
    // The native engine takes the node over from the claim.
    [all, '2', env, 'native'],
  ]
  for (const [flags, node, more, expected] of runs) {
    const engine = await engineWith(flags, node, more)
    if (engine !== expected) throw new Error(`deno run ${flags.join(' ')} gave ${engine}, not ${expected}`)
  }
  // vitest reads files below /proc, which Deno allows with all permissions alone.
  const tests = await suite(deno, ['run', '--allow-all'], project, parity)
  const proof = `parity suite, ${tests} tests; ${smoke.proof}; the flags ${all.join(' ')}; the flags ${await flagsByErrors(deno, project)} by the errors`
  return { ...smoke, proof }
}

/**
 * Starts the js engine on Deno with few permissions, and adds what each error names until ids are made.
 * @returns what was added
 */
async function flagsByErrors(deno: string, { folder }: Project): Promise<string> {
  const text = `import { createGenerator } from 'graupel'
    try {
      console.log(createGenerator({ node: 8, engine: 'js' }).next() > 0n)
    } catch ({ code, message }) {
      console.log(code, message)
    }`
  const program = writeProgram(folder, 'few-permissions.mjs', text)
  const env: NodeJS.ProcessEnv = {}
  const flags = ['--allow-env']
  for (let attempts = 0; attempts < 8; attempts++) {
    const said = await run(deno, ['run', '--no-prompt', ...flags, program], { cwd: folder, env })
    if (said === 'true\n') return [...flags.slice(1), ...Object.keys(env)].join(' ')
    const [, flag] = said.match(/^ERR_STATE_UNAVAILABLE .*; start Deno with (--allow-\w+)/) ?? []
    if (flag === undefined) throw new Error(`an error without a code or a flag: ${said}`)
    if (flag === '--allow-all') env['GRAUPEL_STATE_FOLDER'] = mkdtempSync(join(folder, 'state-'))
    else flags.push(flag)
  }
  throw new Error(`no ids with ${flags.join(' ')}`)
}

/** Runs the tests by Bun's own runner, which accepts vitest's tests. */
export async function onBun(project: Project): Promise<Outcome> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const bun = npmBinary(`@oven/bun-${system}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`, '1', `bin/bun${exe}`)
  const smoke = await project.smoke(ownTarget(), bun, [])
  const report = join(project.folder, 'bun.xml')
  await run(
    bun,
    ['test', '--preload', './test/support/both-engines.ts', parity, '--reporter=junit', `--reporter-outfile=${report}`],
    { env: variables(project) },
  )
  const [, tests, failures] =
    readFileSync(report, 'utf8').match(/<testsuites [^>]*\btests="(\d+)"[^>]*\bfailures="(\d+)"/) ?? []
  if (!Number(tests) || failures !== '0') throw new Error(`bun test: ${tests} tests, ${failures} failed`)
  await leavesItsNode(bun, project)
  return { ...smoke, proof: `parity suite, ${tests} tests; ${smoke.proof}; a process that ends leaves its node` }
}

/** A node of the native engine is free for the js engine when its process has ended normally. */
async function leavesItsNode(command: string, { folder }: Project): Promise<void> {
  const text = `import { createGenerator } from 'graupel'
    console.log(createGenerator({ node: 9, engine: process.argv[2] }).next() > 0n)`
  const program = writeProgram(folder, 'left-node.mjs', text)
  for (const engine of ['native', 'js', 'native', 'js']) {
    const said = await run(command, [program, engine], { cwd: folder })
    if (said !== 'true\n') throw new Error(said)
  }
}

async function onProgram(command: string, flags: readonly string[], project: Project): Promise<Outcome> {
  const smoke = await project.smoke(ownTarget(), command, flags)
  const tests = await suite(command, flags, project, parity)
  return { ...smoke, proof: `parity suite, ${tests} tests; ${smoke.proof}` }
}

/** Runs a test file by vitest, and returns the number of tests. */
async function suite(command: string, flags: readonly string[], project: Project, file: string): Promise<number> {
  const report = join(mkdtempSync(join(project.folder, 'suite-')), 'vitest.json')
  const options = ['--mode=all', '--reporter=json', `--outputFile=${report}`, '--reporter=default']
  await run(command, [...flags, vitest, 'run', file, ...options], { env: variables(project) })
  const { numPassedTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'))
  if (numPassedTests !== numTotalTests || numTotalTests === 0)
    throw new Error(`${numPassedTests} of ${numTotalTests} tests passed`)
  return numTotalTests
}

function variables(project: Project): NodeJS.ProcessEnv {
  return {
    // A suite that finds no native engine is a failure, also if this run tests a given tarball.
    CI: 'true',
    GRAUPEL_TEST_PACKAGE: undefined,
    // Makes node-gyp-build ignore a binary that was built from source in this repository.
    GRAUPEL_PREBUILD: project.package,
    PREBUILDS_ONLY: '1',
    GRAUPEL_TEST_BINARY: project.binary,
  }
}
