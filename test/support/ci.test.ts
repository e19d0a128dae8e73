import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { read, repository } from './documents.ts'

// The scripts of .ci that take programs of other releases of Debian.

const folder = mkdtempSync(join(tmpdir(), 'graupel-ci-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [keyring = ''] = /\/usr\/share\/keyrings\/[\w.-]+/.exec(read('.ci/apt.sh')) ?? []
const has = /^has\(\) \{\n[\s\S]*?^\}$/m.exec(read('.ci/tools'))?.[0]

describe.runIf(existsSync(keyring) && !existsSync('/usr/bin/consul'))('on Debian, without consul', () => {
  it('.ci/tools finds the keys, and nothing else by a part of their name', () => {
    const find = (name: string) => spawnSync('bash', ['-euc', `${has}\nhas ${name}`]).status
    expect([find('debian-archive-keyring.gpg'), find('debian-archive-keyring')]).toEqual([0, 1])
  })

  it('.ci/consul says what to do if no mirror has the package', () => {
    writeFileSync(join(folder, 'apt-get'), '#!/bin/sh\nexit 100\n', { mode: 0o755 })
    const env = { PATH: [folder, '/usr/bin', '/bin'].join(delimiter), HOME: folder }
    const { status, stdout, stderr } = spawnSync('bash', ['.ci/consul'], { cwd: repository, encoding: 'utf8', env })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^consul is missing, .* on PATH\n$/)
  })
})

it('.ci/tools installs the keys that .ci/apt.sh needs', () => {
  expect(read('.ci/tools')).toContain(`'${keyring.replace(/.*\//, '')} debian-archive-keyring'`)
})
