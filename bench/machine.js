import { execFileSync } from 'node:child_process'
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
