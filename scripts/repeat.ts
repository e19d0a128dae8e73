// Runs a command several times beside busy processes, and counts the tests that failed:
// `npx tsx scripts/repeat.ts --times 20 --busy 2 -- npx vitest run test/host/clock.long.test.ts --mode long`.
// A test that fails in some runs only depends on the load of the machine.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** The parts of a report of vitest (`--reporter=json`) that are read. */
interface Report {
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

interface Run {
  readonly exit: string
  readonly wall: string
  readonly processor: string
  readonly failed: number
  readonly log: string
}

const { values, positionals: command } = parseArgs({
  options: { times: { type: 'string', default: '20' }, busy: { type: 'string', default: '2' } },
  allowPositionals: true,
})
const [times, busy] = [Number(values.times), Number(values.busy)]
const isNatural = (number: number) => Number.isSafeInteger(number) && number >= 0
if (!isNatural(times) || !isNatural(busy) || command.length === 0) {
  console.error('usage: npx tsx scripts/repeat.ts [--times 20] [--busy 2] -- command [words...]')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'graupel-repeat-'))
const isVitest = command.includes('vitest')
const failures = new Map<string, number>()
const runs: Run[] = []
let child: ChildProcess | undefined
let caught: NodeJS.Signals | undefined

// A busy process ends by itself if this process is killed.
const loop = `while (process.ppid === ${process.pid});`
const loops = Array.from({ length: busy }, () => spawn(process.execPath, ['-e', loop], { stdio: 'ignore' }))
process.on('exit', () => {
  for (const one of loops) one.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    caught = signal
    // The command has a group of processes of its own: npx, for one, does not pass signals on.
    if (child?.pid !== undefined) process.kill(-child.pid, signal)
  })
}

for (let n = 1; n <= times && caught === undefined; n++) {
  const run = await once(n)
  runs.push(run)
  console.log(`run ${n} of ${times}: exit ${run.exit}, ${run.failed} failed, ${run.wall} s`)
}
console.table(runs)
for (const [test, count] of [...failures].sort(([, a], [, b]) => b - a))
  console.log(`${count} of ${runs.length}: ${test}`)
const isGood = runs.every(({ exit, failed }) => exit === '0' && failed === 0)
if (isGood) rmSync(folder, { recursive: true })
process.exit(isGood && caught === undefined ? 0 : 1)

async function once(n: number): Promise<Run> {
  const [log, reportFile] = [join(folder, `${n}.log`), join(folder, `${n}.json`)]
  const reporters = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`] : []
  const [startMs, startSeconds] = [performance.now(), childSeconds()]
  const [program = '', ...words] = [...command, ...reporters]
  const out = openSync(log, 'w')
  const started = spawn(program, words, { stdio: ['ignore', out, out], detached: true })
  child = started
  const exit = await new Promise<string>((resolve, reject) => {
    started.on('error', reject)
    started.on('exit', (code, signal) => resolve(`${signal ?? code}`))
  })
  child = undefined
  const failed = existsSync(reportFile) ? failedTests(JSON.parse(readFileSync(reportFile, 'utf8'))) : []
  if (failed.length === 0 && exit !== '0') failed.push('no test: read the log')
  for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1)
  const wall = ((performance.now() - startMs) / 1000).toFixed(1)
  if (failed.length === 0) rmSync(log)
  const processor = (childSeconds() - startSeconds).toFixed(1)
  return { exit, wall, processor, failed: failed.length, log: failed.length === 0 ? '' : log }
}

/** Returns the names of the tests that failed, and of the files that failed without a test. */
function failedTests({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.replace(`${process.cwd()}/`, '')
    const tests = assertionResults.filter((test) => test.status === 'failed').map((test) => `${file}: ${test.fullName}`)
    return tests.length === 0 && status === 'failed' ? [`${file}: outside its tests`] : tests
  })
}

/**
 * Returns the seconds of user and system time of the child processes that have ended, and of their own. Linux
 * counts a process when its parent waits for it, so a busy process that still runs does not count.
 */
function childSeconds(): number {
  if (process.platform !== 'linux') return Number.NaN
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name in parentheses is the second field. Fields 16 and 17 are `cutime` and `cstime`, in hundredths.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
