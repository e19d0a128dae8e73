import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { next } from '../../src/cli/next.js'
import { failureText, Output } from '../../src/cli/output.js'
import { Progress } from '../../src/cli/progress.js'
import { environment, program, start } from '../support/cli.js'

const isWindows = process.platform === 'win32'

describe('streaming', () => {
  it('makes no more ids while its output is not read, so memory does not grow', async () => {
    const waiting: (() => void)[] = []
    const stdout = new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) })
    const output = new Output({ stdout, stderr: process.stderr })
    const done = next({ values: { count: '50000', node: '7' }, positionals: [] }, output)
    for (let chunk = 1; chunk <= Math.ceil(50_000 / 4096); chunk++) {
      for (let i = 0; i < 20; i++) await turn()
      expect(waiting.length).toBe(chunk)
      waiting.at(-1)?.()
    }
    await done
  })

  it('ends at once, silently and with 0, when its reader is gone', async () => {
    const child = start(['next', '-n', '9007199254740991', '--node', '7'])
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [status] = await once(child, 'close')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.skipIf(isWindows)('is ended by Ctrl-C, even while its output is not read; shells show that as 130', async () => {
    const child = start(['next', '-n', '9007199254740991', '--node', '7'])
    await once(child.stdout, 'readable')
    child.kill('SIGINT')
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGINT')
  })

  it.skipIf(!existsSync('/dev/full'))('says in one line that the disk is full', () => {
    const { status, stderr } = spawnSync(process.execPath, [program, 'next', '-n', '100000', '--node', '7'], {
      env: environment(),
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toMatch(/^graupel: .*\(ENOSPC\)\n$/)
  })

  it('shows progress only on a terminal, only for many ids, and erases it at the end', () => {
    let nowMs = 0
    const shown = (isTTY: boolean, total: number) => {
      const written: string[] = []
      const progress = new Progress({ isTTY, write: (text) => written.push(text) }, total, () => nowMs)
      nowMs += 50
      progress.update(total / 4)
      nowMs += 950
      progress.update(total / 2)
      progress.erase()
      progress.erase()
      return written
    }
    const line = '\r\x1b[K1,000,000 of 2,000,000 ids, 50 %, 1,000,000 a second'
    expect(shown(true, 2_000_000)).toEqual([line, '\r\x1b[K'])
    expect(shown(true, 999_999)).toEqual([])
    expect(shown(false, 2_000_000)).toEqual([])
    expect(process.listenerCount('SIGINT')).toBe(0)
  })

  it('shows the progress of a list of nodes', () => {
    let nowMs = 0
    const written: string[] = []
    const terminal = { isTTY: true, write: (text: string) => written.push(text) }
    for (const nodes of [9999, 20_000]) {
      const progress = new Progress(terminal, nodes, () => nowMs, 'nodes')
      nowMs += 1000
      progress.update(nodes / 2)
      progress.erase()
    }
    expect(written).toEqual(['\r\x1b[K10,000 of 20,000 nodes, 50 %, 10,000 a second', '\r\x1b[K'])
  })
})

describe.skipIf(isWindows)('a progress line', () => {
  /** Interrupts a process that shows a progress line, and returns how the process ends. */
  async function interrupted(listener: string) {
    const module = new URL('../../src/cli/progress.ts', import.meta.url).href
    const code = `
      import { Progress } from ${JSON.stringify(module)}
      let nowMs = 0
      const terminal = { isTTY: true, write: (text) => process.stdout.write(text) }
      ${listener}
      new Progress(terminal, 1_000_000, () => (nowMs += 1000)).update(1)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let shown = ''
    child.stdout.on('data', (text) => {
      shown += text
    })
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [status, signal] = await once(child, 'close')
    expect(shown).toContain('ids, 0 %,')
    return { status, signal, shown }
  }

  it('is erased by Ctrl-C, which also ends the run', async () => {
    const { signal, shown } = await interrupted('')
    expect(signal).toBe('SIGINT')
    expect(shown.endsWith('\r\x1b[K')).toBe(true)
  })

  it('lets another listener end the run', async () => {
    const last = "process.on('SIGINT', () => setImmediate(() => process.exit(7)))"
    const { status, shown } = await interrupted(last)
    expect(status).toBe(7)
    expect(shown.endsWith('\r\x1b[K')).toBe(true)
  })
})

describe('an error of the library', () => {
  const flags = { 'max-wait-ms': { help: '' } }
  const text = (code: string, message: string, option?: string) => failureText({ code, message, option }, flags)

  it('names the flag in place of the option with which its message begins', () => {
    expect(text('ERR_OPTION_INVALID', 'maxWaitMs is -1; pass milliseconds', 'maxWaitMs')).toBe(
      'graupel: --max-wait-ms is -1; pass milliseconds (ERR_OPTION_INVALID)\n',
    )
  })

  it('points to the flag if its message names the option elsewhere', () => {
    expect(text('ERR_SEQUENCE_OVERFLOW', 'the wait takes 9 ms, and maxWaitMs is 5; wait', 'maxWaitMs')).toBe(
      'graupel: the wait takes 9 ms, and maxWaitMs is 5; wait; see --max-wait-ms (ERR_SEQUENCE_OVERFLOW)\n',
    )
  })

  it('stays as it is if the command has no flag for the option, or the error names none', () => {
    const lines = ['maxAheadMs', undefined].map((option) => text('ERR_X', 'maxAheadMs is 1', option))
    expect(lines).toEqual(Array(2).fill('graupel: maxAheadMs is 1 (ERR_X)\n'))
  })

  it('shows the SQL of a store on lines of its own, and other line ends as escapes', () => {
    expect(text('ERR_STORE_UNAVAILABLE', 'there is no table; run\nCREATE TABLE a (\n  b int)')).toBe(
      'graupel: there is no table; run (ERR_STORE_UNAVAILABLE)\n  CREATE TABLE a (\n    b int)\n',
    )
    expect(text('ERR_X', 'a\nb\x1b[31m')).toBe('graupel: a\\u000ab\\u001b[31m (ERR_X)\n')
  })

  it('has no text if it has no code, because it is a defect', () => {
    expect(failureText(new TypeError('x is not a function'), flags)).toBeUndefined()
  })
})
