// Runs the package on every runtime that it is meant for, and prints what each came to: `npm run test:runtimes`. The
// programs are npm packages; Chromium, QEMU, musl and Wine are Debian's.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inChromium, inWorkerd } from './runtimes/browsers.ts'
import { onArm64, onMusl, onMuslArm64, onWindows } from './runtimes/foreign.ts'
import { Project } from './runtimes/project.ts'
import { Missing, type Outcome } from './runtimes/run.ts'
import { onBun, onDeno, onNode, onThisNode } from './runtimes/suites.ts'

const runtimes: Record<string, (project: Project) => Promise<Outcome>> = {
  this: onThisNode,
  'node-20.19': (project) => onNode('20.19', project, hasInstallCases),
  'node-22': (project) => onNode('22', project, hasInstallCases),
  'node-24': (project) => onNode('24', project, hasInstallCases),
  'node-26': (project) => onNode('26', project, hasInstallCases),
  bun: onBun,
  deno: onDeno,
  chromium: inChromium,
  workerd: inWorkerd,
  'linux-arm64-glibc': onArm64,
  'linux-x64-musl': onMusl,
  'linux-arm64-musl': onMuslArm64,
  'win32-x64': onWindows,
}
/** The Node that runs this, on whichever system. */
const own = 'this'
/** Need binaries of `prebuild:cross`, which takes minutes. */
const foreign = ['linux-arm64-glibc', 'linux-x64-musl', 'linux-arm64-musl', 'win32-x64']

const usage = `Runs graupel on other runtimes: ${Object.keys(runtimes).join(', ')}.

  npm run test:runtimes -- [options]

  --only NAME,NAME    these alone
  --foreign           also other processors, C libraries and systems, on a Debian on x64: ${foreign.join(', ')}
  --binaries FOLDER   with the binaries in FOLDER/prebuilds, instead of making them
  --tarball FOLDER    with the tarball in FOLDER, as it is
  --no-install-cases  on Node, leave out the cases of installing, which take a minute each
`

const { values } = readOptions()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const wanted =
  values.only?.split(',') ??
  Object.keys(runtimes).filter((name) => name !== own && (values.foreign || !foreign.includes(name)))
const unknown = wanted.find((name) => !Object.hasOwn(runtimes, name))
if (unknown !== undefined) fail(`there is no runtime '${unknown}'; choose from ${Object.keys(runtimes).join(', ')}`)

const hasInstallCases = !values['no-install-cases']
const folder = mkdtempSync(join(tmpdir(), 'graupel-runtimes-'))
process.on('SIGINT', () => process.exit(130))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const project = await Project.make(folder, values.binaries, values.tarball)
// One compilation for all of them, which would otherwise wait for one another.
await project.need(...wanted.filter((name) => foreign.includes(name)))

const rows = new Map<string, string[]>()
const waiting = [...wanted]
await Promise.all(Array.from({ length: availableParallelism() }, work))
const lines = [['runtime', 'version', 'engine', 'what ran'], ...wanted.map((name) => rows.get(name) ?? [])]
console.log(table(lines))

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) rows.set(name, await rowOf(name))
}

async function rowOf(name: string): Promise<string[]> {
  try {
    const { runtime, engine, proof } = await (runtimes[name] as (typeof runtimes)[string])(project)
    console.error(`good  ${name}`)
    return [name, runtime, engine, proof]
  } catch (error) {
    const { message } = error as Error
    // Where everything has to be proven, a tool that is not there is a failure.
    const isExcused = error instanceof Missing && !process.env['CI']
    if (!isExcused) process.exitCode = 1
    console.error(isExcused ? `      ${name}: left out, ${message}` : `BAD   ${name}: ${message}`)
    return [name, '', '', isExcused ? `left out: ${message}` : 'FAILED']
  }
}

function readOptions() {
  const options = {
    only: { type: 'string' },
    foreign: { type: 'boolean', default: false },
    binaries: { type: 'string' },
    tarball: { type: 'string' },
    'no-install-cases': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options })
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${usage}`)
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('')
}
