import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../stores/servers.ts'
import { until } from '../support/until.ts'
import { ask } from './support/clients.ts'
import { startService } from './support/in-process.ts'
import { endedProcess, folder, type Launch, run, serve } from './support/process.ts'
import { replace } from './support/replace.ts'

// Files and outputs that block, or fail.

const isWindows = process.platform === 'win32'
const to = (redirection: string): Launch => ({
  by: (command) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh', ...command],
})

test.skipIf(isWindows)(
  'a reader of the log that stops does not stop the service, and the lines that it misses are counted',
  async () => {
    const { url, child, ended } = await serve([
      '--log-level',
      'debug',
      '--data',
      join(folder, 'log'),
      '--drain-ms',
      '0',
    ])
    child.stderr?.pause()
    const dropped = async () => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(/^graupel_log_lines_dropped_total (\d+)$/m.exec(text)?.[1])
    }
    expect(await dropped()).toBe(0)
    // The line of a request has its URL.
    const path = `/v1/counters/${'x'.repeat(120)}?count=1&${'y'.repeat(1800)}`
    while ((await dropped()) === 0) await Promise.all(Array.from({ length: 100 }, () => ask(`${url}${path}`)))
    expect((await ask(`${url}/v1/ids`)).status).toBe(200)
    child.kill('SIGTERM')
    await endedProcess(child.pid as number)
    child.stderr?.resume()
    expect(await ended).toBe(0)
  },
)

test.runIf(process.platform === 'linux').each(['> /dev/full', '> /dev/full 2>&1'])(
  'a service starts with %s',
  async (redirection) => {
    const port = await freePort()
    const data = join(folder, `full ${redirection.length}`)
    const { child, ended, stderr } = run(['--port', `${port}`, '--data', data, '--drain-ms', '0'], {}, to(redirection))
    await until(() =>
      ask(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    if (!redirection.includes('2>')) expect(stderr()).toMatch(/^graupel-server: stdout cannot be written: ENOSPC/m)
  },
)

test.runIf(process.platform === 'linux')('--version ends with 1 if it cannot be written', async () => {
  expect(await run(['--version'], {}, to('> /dev/full')).ended).toBe(1)
})

test.skipIf(isWindows)(
  'a file of tokens that becomes a pipe is stale, and a pipe is refused at the start',
  async () => {
    const tokenFile = join(folder, 'tokens')
    const token = 'a'.repeat(16)
    replace(tokenFile, token)
    const { app, log } = await startService({ tokenFile }, { listens: false, pollMs: 5 })
    const isStale = async () => {
      const { body } = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${token}` } })
      return /^graupel_files_stale\{option="--token-file"\} (\d)$/m.exec(body)?.[1]
    }
    execFileSync('sh', ['-c', 'mkfifo "$0.new" && mv "$0.new" "$0"', tokenFile])
    await until(async () => (await isStale()) === '1')
    expect(log).toContainEqual(
      expect.objectContaining({ level: 50, reason: expect.stringContaining('is no regular file; give one') }),
    )
    await expect(startService({ tokenFile })).rejects.toThrow(/^--token-file is .*: .* is no regular file; give one/)
    replace(tokenFile, `${token}\n`)
    await until(async () => (await isStale()) === '0')
  },
)
