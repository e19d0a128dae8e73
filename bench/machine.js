import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, type } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Machine
 * @property {string} cpu
 * @property {string} os
 * @property {string} node
 * @property {string} v8
 * @property {string} commit
 * @property {string} engine - The native engine's file, or why there is none.
 * @property {string} load - Of the minute before: figures from a busy machine are worth less.
 * @property {string} [stolen] - What a hypervisor gave to others of the processor time that was wanted here, meanwhile.
 */

const root = fileURLToPath(new URL('..', import.meta.url))

/** @returns {Promise<Machine>} */
export async function describeMachine() {
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

/**
 * From now on.
 *
 * @returns {() => { stolen?: string }} Nothing where the system does not say.
 */
export function watchStolenTime() {
  const before = processorTimes()
  return () => {
    const after = processorTimes()
    if (before === undefined || after === undefined) return {}
    const wanted = after.wanted - before.wanted
    const stolen = after.stolen - before.stolen
    return wanted > 0 ? { stolen: `${((100 * stolen) / wanted).toFixed(2)} % of the processor time` } : {}
  }
}

/** Of all processors, in ticks, as proc(5) has them in /proc/stat. */
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
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim()
  } catch {
    return 'not in a repository'
  }
}

async function describeEngine() {
  // Whatever the environment prefers, both engines are measured.
  delete process.env['GRAUPEL_ENGINE']
  const { engineInfo } = await import('graupel')
  const { file, reason } = engineInfo()
  return file === undefined ? `none: ${reason}` : relative(root, file)
}
