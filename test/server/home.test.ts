import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, run, serve } from './support/process.ts'

// A user without a home directory, as in a container that runs with any user id: the system answers ENOENT.

const homeless = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import os from 'node:os'
  os.homedir = () => { throw Object.assign(new Error('uv_os_homedir returned ENOENT'), { code: 'ERR_SYSTEM_ERROR' }) }
  syncBuiltinESMExports()
`)}`
const env = { NODE_OPTIONS: `--import ${homeless}`, HOME: undefined, XDG_STATE_HOME: undefined }

test.each(['--help', '--version'])('%s needs no home directory', async (flag) => {
  const { ended, stdout, stderr } = run([flag], env)
  expect([await ended, stderr()]).toEqual([0, ''])
  expect(stdout()).not.toBe('')
})

test('a service with --data, or with a folder for state, needs no home directory', async () => {
  for (const [flags, more] of [
    [['--data', join(folder, 'given')], {}],
    [[], { XDG_STATE_HOME: join(folder, 'state') }],
  ] as const) {
    const { url, child, ended } = await serve([...flags, '--drain-ms', '0'], { ...env, ...more })
    expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  }
})

test('without any folder, the error names the options that give one', async () => {
  const { ended, stderr } = run(['--port', '0'], env)
  expect(await ended).toBe(1)
  expect(stderr()).toBe(
    'graupel-server: this user has no home directory for the embedded database; give its folder as --data, or a store as --store (ERR_DATA_UNAVAILABLE)\n',
  )
})
