import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { digits } from '../judge.js'
import { align } from '../report.js'

/** @import { Steps } from '../contract.js' */

const execute = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const core = fileURLToPath(new URL('../../native/core/', import.meta.url))

/**
 * Builds `steps.cc` as the addon is built, and runs it.
 *
 * @param {boolean} isQuick
 * @returns {Promise<Steps>}
 */
export async function measureSteps(isQuick) {
  const folder = await mkdtemp(join(tmpdir(), 'graupel-steps-'))
  try {
    const program = join(folder, 'steps')
    const sources = (await readdir(core)).filter((file) => file.endsWith('.cc')).map((file) => join(core, file))
    // As in binding.gyp, and for any processor of its kind.
    const flags = ['-std=c++20', '-O3', '-DNDEBUG', '-fno-exceptions', '-fno-rtti', '-pthread']
    await execute(process.env['CXX'] ?? 'c++', [...flags, join(here, 'steps.cc'), ...sources, '-o', program])
    const { stdout } = await execute(program, isQuick ? ['quick'] : [])
    return JSON.parse(stdout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const steps = await measureSteps(process.argv.includes('--quick'))
  const rows = steps.map(({ step, threads, ns }) => [
    step,
    `${threads}`,
    digits(ns.median),
    `${digits(ns.low)} – ${digits(ns.high)}`,
  ])
  console.log(align([['step', 'threads', 'ns', 'quartiles'], ...rows]))
}
