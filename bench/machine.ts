import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, type } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from './contract.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export async function describeMachine(): Promise<Machine> {
  return {
    cpu: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} of ${cpus().length} threads`,
    os: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
    commit: describeCommit(),
    engine: await describeEngine(),
    load: loadavg()[0]?.toFixed(2) ?? 'unknown',
  }
}

/** Returns a function that tells the share of time stolen since this call, if the system counts it. */
export function watchStolenTime(): () => { stolen?: string } {
  const before = processorTimes()
  return () => {
    const after = processorTimes()
    if (before === undefined || after === undefined || after.wanted === before.wanted) return {}
    const share = (after.stolen - before.stolen) / (after.wanted - before.wanted)
    return { stolen: `${(100 * share).toFixed(2)} % of the processor time` }
  }
}

/** The ticks of all processors, from /proc/stat as in proc(5). */
function processorTimes() {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line.split(/ +/).slice(1).map(Number)
    return { stolen, wanted: user + nice + system + irq + softirq + stolen }
  } catch {
    return undefined
  }
}

function describeCommit() {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: root,
      encoding: 'utf8',
      stdio: [...stdio],
    }).trim()
  } catch {
    return 'not in a repository'
  }
}

async function describeEngine() {
  // The bench measures both engines, so the environment must not choose the engine.
  delete process.env['GRAUPEL_ENGINE']
  const { engineInfo } = await import('graupel')
  const { file, reason } = engineInfo()
  return file === undefined ? `none: ${reason}` : relative(root, file)
}
