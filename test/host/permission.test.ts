import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { permissionFor } from '../../src/host/system.ts'

const denied = (permission: string, resource?: string) =>
  Object.assign(new Error('Access to this API has been restricted'), {
    code: 'ERR_ACCESS_DENIED',
    permission,
    resource,
  })

const refusedByDeno = (flag: string) => new Error(`Requires sys access to "uid", run again with the ${flag} flag`)

describe('the flag for a refusal of the permission model, or of Deno', () => {
  it.each<[unknown, string | undefined, string | undefined]>([
    [denied('FileSystemRead', '/dev/shm'), undefined, 'start Node with --allow-fs-read=/dev/shm'],
    [denied('FileSystemWrite', '/dev/shm/graupel-0'), undefined, 'start Node with --allow-fs-write=/dev/shm/graupel-0'],
    [
      denied('FileSystemWrite', '/dev/shm/graupel-0/a'),
      '/dev/shm/graupel-0',
      'start Node with --allow-fs-write=/dev/shm/graupel-0/*',
    ],
    [denied('FileSystemRead', '\\\\?\\C:\\ids\\a'), undefined, 'start Node with --allow-fs-read=C:\\ids\\a'],
    [denied('FileSystemRead', ''), undefined, 'start Node with --allow-fs-read'],
    [denied('FileSystemRead'), undefined, 'start Node with --allow-fs-read'],
    [denied('ChildProcess', '/usr/bin/getconf'), '/dev/shm', 'start Node with --allow-child-process'],
    [denied('Inspector'), undefined, undefined],
    [denied('toString'), undefined, undefined],
    [Object.assign(denied('FileSystemRead', '/dev/shm'), { code: 'EACCES' }), undefined, undefined],
    [new Error('another'), '/dev/shm', undefined],
    [refusedByDeno('--allow-sys'), '/dev/shm', 'start Deno with --allow-sys'],
    [
      refusedByDeno('--allow-all'),
      undefined,
      'start Deno with --allow-all, or set GRAUPEL_STATE_FOLDER to a folder that is not below /dev',
    ],
  ])('of %o in %s: %s', (error, folder, remedy) => {
    expect(permissionFor(error, folder)).toBe(remedy)
  })
})

describe('Node with its permission model', () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'graupel-permission-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'new')
  const model = Number(process.versions.node.split('.')[0]) < 24 ? '--experimental-permission' : '--permission'

  /** Makes the folder and a file in it. Returns Node's report of the refused call as JSON. */
  function write(flags: readonly string[]): { code?: string } {
    const program = `
      const { mkdirSync, writeFileSync } = require('node:fs')
      try {
        mkdirSync(${JSON.stringify(folder)})
        writeFileSync(${JSON.stringify(join(folder, 'file'))}, '')
        console.log('{}')
      } catch ({ code, permission, resource }) {
        console.log(JSON.stringify({ code, permission, resource }))
      }`
    const { stdout } = spawnSync(process.execPath, [model, '--allow-fs-read=*', ...flags, '-e', program], {
      encoding: 'utf8',
    })
    return JSON.parse(stdout)
  }

  it('allows a missing folder, and later files in it, by the flag', () => {
    const error = write([])
    expect(error).toMatchObject({ code: 'ERR_ACCESS_DENIED' })
    expect(permissionFor(error)).toBe(`start Node with --allow-fs-write=${folder}`)
    const [, flag] = permissionFor(error, folder)?.match(/^start Node with (\S+)$/) ?? []
    expect(write([flag as string])).toEqual({})
  })

  it('makes ids on the js engine with the flags that the errors name', () => {
    const program = `import(${JSON.stringify(import.meta.resolve('graupel'))}).then(({ createGenerator }) => {
      try {
        createGenerator({ node: 1, engine: 'js' }).next()
        console.log('{}')
      } catch ({ code, message }) {
        console.log(JSON.stringify({ code, message }))
      }
    })`
    const flags = [model, '--allow-fs-read=*']
    for (let i = 0; i < 4; i++) {
      const env = { ...process.env, GRAUPEL_STATE_FOLDER: root, NODE_OPTIONS: '' }
      const { stdout } = spawnSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8', env })
      const { code, message = '' } = JSON.parse(stdout)
      if (code === undefined) break
      expect(code).toBe('ERR_STATE_UNAVAILABLE')
      flags.push(/start Node with (--allow-fs-\S+)$/.exec(message)?.[1] ?? 'no flag')
    }
    expect(flags.slice(2)).toEqual([expect.stringMatching(/^--allow-fs-write=\S+\/\*$/)])
  })
})
