import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import type { Steps } from '../contract.ts'
import { align, stepRows } from '../report.ts'

const execute = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const native = fileURLToPath(new URL('../../native/', import.meta.url))

/** Builds `steps.cc` as the addon is built, and runs it. */
export async function measureSteps(isQuick: boolean): Promise<Steps> {
  const folder = await mkdtemp(join(tmpdir(), 'graupel-steps-'))
  try {
    const program = join(folder, 'steps')
    const files = await Promise.all(
      ['core', 'host', 'platform'].map(async (room) =>
        (await readdir(join(native, room), { recursive: true })).map((file) => join(native, room, file)),
      ),
    )
    const sources = files.flat().filter((file) => file.endsWith('.cc'))
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
  process.once('SIGINT', () => {
    console.error('interrupted')
    process.exit(130)
  })
  try {
    const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
    console.log(align(stepRows(await measureSteps(values.quick))))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
}
