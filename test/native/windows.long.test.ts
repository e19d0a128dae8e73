import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, it } from 'vitest'
import { needsAll } from '../support/bare.ts'

// Builds windows_test.cc and the native sources for Windows on another system, and runs it there if Wine is
// installed.

const here = fileURLToPath(new URL('.', import.meta.url))
const native = join(here, '../../native')
const compiler = process.env['MINGW_CXX'] ?? 'x86_64-w64-mingw32-g++-posix'
const folder = mkdtempSync(join(tmpdir(), 'graupel-windows-'))
const program = join(folder, 'windows_test.exe')
/** Only for a command that hangs: a busy machine takes minutes to compile. */
const timeout = 1_800_000
const env = {
  ...process.env,
  WINEPREFIX: join(folder, 'prefix'),
  WINEDEBUG: '-all',
  // Without this, Wine asks whether to download .NET and a browser.
  WINEDLLOVERRIDES: 'mscoree=;mshtml=',
}

const start = promisify(execFile)
const wine = await firstThatRuns(['wine64', 'wine', '/usr/lib/wine/wine64'])

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

describe('the native sources for Windows', () => {
  let isBuilt = false

  it('compiles without a warning, exceptions or RTTI', { timeout }, async ({ skip }) => {
    if ((await firstThatRuns([compiler])) === undefined) {
      const reason = `there is no ${compiler}; install g++-mingw-w64-x86-64-posix, or set MINGW_CXX`
      // A check that CI skips would count as passed.
      if (needsAll && process.platform === 'linux') throw new Error(reason)
      skip(reason)
    }
    const names = ['core', 'host', 'platform'].flatMap((room) =>
      readdirSync(join(native, room), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.cc'))
        .map((file) => join(native, room, file)),
    )
    const sources = [join(here, 'windows_test.cc'), ...names]
    const flags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-fno-exceptions', '-fno-rtti']
    // Two compilers at a time, each with every other file.
    const halves = [0, 1].map((half) => sources.filter((_, i) => i % 2 === half))
    await Promise.all(halves.map((half) => start(compiler, [...flags, '-c', ...half], { cwd: folder })))
    const objects = sources.map((file) => basename(file).replace(/\.cc$/, '.o'))
    await start(compiler, ['-static', ...objects, '-luserenv', '-o', program], { cwd: folder })
    isBuilt = true
  })

  it('shares files, pages and locks between processes', { timeout }, async ({ expect, skip }) => {
    if (!isBuilt) return skip('it was not compiled')
    if (wine === undefined) return skip('there is no Wine; install wine64')
    try {
      const { stdout } = await start(wine, [program], { env, timeout })
      expect(stdout.trim()).toBe('done')
    } finally {
      // Otherwise Wine's server would run for some more seconds, and write to the folder.
      await start(wine, ['wineboot', '--kill'], { env }).catch(() => {})
    }
  })
})

/** Returns the first installed command. */
async function firstThatRuns(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) {
    try {
      await start(command, ['--version'])
      return command
    } catch {
      // The next command may be installed.
    }
  }
  return undefined
}
