// Measures next() by the foreign function interfaces of Node 26, Deno and Bun (`npx tsx bench/ffi/run.ts`).
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmBinary, npmNode } from '../../scripts/npm-binary.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const native = fileURLToPath(new URL('../../native/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-ffi-'))
const library = join(folder, 'next.so')

interface Row {
  name: string
  kept: string
  ns: number
  ratio: number
  faults: number
}

try {
  compile()
  const runtimes = {
    node: [npmNode('26'), '--no-warnings'],
    deno: [npmBinary('@deno/linux-x64-glibc', '2', 'deno'), 'run', '--quiet', '--allow-all'],
    bun: [npmBinary('@oven/bun-linux-x64-baseline', '1', 'bin/bun')],
  }
  for (const [name, [program = '', ...words]] of Object.entries(runtimes)) {
    for (const part of ['next.mjs', 'threads.mjs']) {
      const states = join(folder, name)
      mkdirSync(states, { recursive: true, mode: 0o700 })
      const env = { ...process.env, GRAUPEL_STATE_FOLDER: states }
      try {
        const output = execFileSync(program, [...words, join(here, part), library, states], { env, encoding: 'utf8' })
        show(JSON.parse(output.trim().split('\n').at(-1) as string))
      } catch (error) {
        const { signal, status, stderr = '' } = error as { signal?: string; status?: number; stderr?: string }
        const reason = stderr.split('\n').find((line) => /error|failed/i.test(line)) ?? ''
        console.log(`${name}: ${part} ended with ${signal ?? status ?? (error as Error).message} ${reason}`)
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}

function compile(): void {
  const rooms = ['core', 'host', 'platform/posix']
  const sources = rooms.flatMap((room) =>
    readdirSync(join(native, room)).flatMap((file) => (file.endsWith('.cc') ? [join(native, room, file)] : [])),
  )
  // As in binding.gyp.
  const flags = ['-std=c++20', '-O3', '-falign-loops=32', '-DNDEBUG', '-fno-exceptions', '-fno-rtti', '-pthread']
  const shared = ['-shared', '-fPIC', '-fvisibility=hidden', '-o', library]
  execFileSync(process.env['CXX'] ?? 'c++', [...flags, ...shared, join(here, 'next.cc'), ...sources])
}

function show({ runtime, version, rows, ...rest }: { runtime: string; version?: string; rows?: Row[] }): void {
  if (rows === undefined) return void console.log(`${runtime}:`, rest)
  console.log(`${runtime} ${version}`)
  for (const { name, kept, ns, ratio, faults } of rows) {
    const wrong = faults === 0 ? '' : `, ${faults} not above the id before`
    console.log(
      `  ${kept.padEnd(8)} ${name.padEnd(9)} ${ns.toFixed(1).padStart(6)} ns, ${ratio.toFixed(2)} of Node-API${wrong}`,
    )
  }
}
