import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { repository } from '../support/documents.ts'
import { describeWith, withMounts } from '../support/needs.ts'
import { npm, temporaryFolder } from './consumer.ts'
import { binaryPath, copyOfClone, pack } from './tarball.ts'

const folder = temporaryFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a second packing makes the same tarball, byte by byte', () => {
  const [one, two] = ['once', 'twice'].map((name) => {
    mkdirSync(join(folder, name))
    return readFileSync(pack(join(folder, name)))
  })
  expect(one?.equals(two as Buffer)).toBe(true)
})

test('a clone without the binaries of all targets cannot be published', () => {
  // A dry run, and a registry that does not exist, because the refusal may be missing.
  const command = ['publish', '--dry-run', '--registry=http://127.0.0.1:9']
  expect(() => npm(copyOfClone(folder), command)).toThrow(/^prebuilds\/linux-x64\/graupel\.glibc\.node is missing$/m)
})

describeWith(['native', 'mounts'], 'npm run binaries', () => {
  test('makes the binary in a folder of another file system', () => {
    const make = [process.execPath, '--import', 'tsx', 'scripts/binaries.ts', '--out', '/mnt']
    const [command = '', ...words] = withMounts('mount -t tmpfs none /mnt', make)
    // Not optimized, because no program uses it.
    const env = { ...process.env, CXXFLAGS: '-O0' }
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: repository, encoding: 'utf8', env })
    expect(status, stderr).toBe(0)
    expect(stdout).toMatch(new RegExp(`^/mnt/${binaryPath}: \\d+ KiB, loads$`, 'm'))
  })
})
