import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { folder, run, serve } from './support/process.ts'

// A file system that does not answer keeps a thread of Node's pool for ever. Opening a pipe without a writer
// does the same.

const pipe = join(folder, 'pipe')
const tokens = join(folder, 'tokens')
const isSilent = join(folder, 'silent')
const silent = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { stat, open } = fs.promises
  const through = (call) => (path, ...words) =>
    path === ${JSON.stringify(tokens)} && fs.existsSync(${JSON.stringify(isSilent)}) ? open(${JSON.stringify(pipe)}) : call(path, ...words)
  fs.promises.stat = through(stat)
  fs.promises.open = through(open)
  syncBuiltinESMExports()
`)}`
const env = { NODE_OPTIONS: `--import ${silent}` }
const flags = ['--token-file', tokens, '--data', join(folder, 'data'), '--drain-ms', '0']

test.skipIf(process.platform === 'win32')(
  'a file system that stops answering makes a metric, and the service releases its node and ends',
  async () => {
    execFileSync('mkfifo', [pipe])
    const token = 'a'.repeat(16)
    writeFileSync(tokens, token, { mode: 0o600 })
    const { url, child, ended, stderr } = await serve(flags, env)
    mkdirSync(isSilent)
    await until(async () => {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
      return (await answer.text()).includes('graupel_files_stale{option="--token-file"} 1')
    })
    expect(stderr()).toContain('the file system has not answered within 5 s')
    child.kill('SIGTERM')
    expect(await ended).toBe('SIGKILL')
    expect(stderr()).toContain('lease: released')

    const late = run(['--port', '0', ...flags], env)
    expect(await late.ended).toBe('SIGKILL')
    expect(late.stderr()).toMatch(/^graupel-server: --token-file is .*: the file system has not answered within 5 s/m)
  },
)
