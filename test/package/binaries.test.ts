import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineInfo } from 'graupel'
import { afterAll, expect, test } from 'vitest'
import { maxBytesOfBinary, oldestGlibc, ownTarget, targets } from '../../scripts/targets.ts'
import { repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { node, temporaryFolder } from './consumer.ts'

const folder = temporaryFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const built = engineInfo().file as string

// The script prevents a release without the binary of a target.
describeWith(['native'], 'scripts/check-binaries.ts', () => {
  const check = (place: string) => runScript('scripts/check-binaries.ts', [place])

  test('names every target that is missing', () => {
    const { status, stderr } = check(folder)
    expect(status).toBe(1)
    expect(stderr.trim().split('\n')).toEqual(
      targets.map(({ folder, file }) => `prebuilds/${folder}/${file} is missing`),
    )
  })

  test.runIf(process.platform === 'linux')(
    'reports a binary of another system or processor, and a file that is no binary',
    () => {
      const place = join(folder, 'same')
      for (const target of targets) {
        mkdirSync(join(place, 'prebuilds', target.folder), { recursive: true })
        copyFileSync(built, join(place, 'prebuilds', target.folder, target.file))
      }
      writeFileSync(join(place, 'prebuilds/linux-x64/graupel.musl.node'), 'none')
      writeFileSync(join(place, 'prebuilds/linux-x64/stranger.node'), '')
      const { status, stderr } = check(place)
      expect(status).toBe(1)
      for (const name of ['darwin-x64', 'darwin-arm64']) {
        expect(stderr).toContain(`prebuilds/${name}/graupel.node: is no binary of darwin\n`)
      }
      for (const name of ['win32-x64', 'win32-arm64']) {
        expect(stderr).toContain(`prebuilds/${name}/graupel.node: is no binary of win32\n`)
      }
      const other = process.arch === 'x64' ? 'arm64' : 'x64'
      expect(stderr).toMatch(
        new RegExp(`prebuilds/linux-${other}/graupel\\.glibc\\.node: is for machine 0x\\w+; ${other} is 0x\\w+\n`),
      )
      expect(stderr).toContain('prebuilds/linux-x64/graupel.musl.node: is 4 bytes long\n')
      expect(stderr).toContain('prebuilds/linux-x64/stranger.node belongs to no target')
      expect(stderr).toMatch(/is not stripped/)
    },
  )

  test.runIf(process.platform === 'linux')('reports a binary that needs a newer glibc', () => {
    const place = join(folder, 'old', 'prebuilds', `linux-${process.arch}`)
    mkdirSync(place, { recursive: true })
    // The changed binary needs a glibc of the future.
    const text = readFileSync(built)
      .toString('latin1')
      .replace(/GLIBC_2\.\d\d/g, 'GLIBC_2.99')
    writeFileSync(join(place, 'graupel.glibc.node'), text, 'latin1')
    const { stderr } = check(join(folder, 'old'))
    expect(stderr).toMatch(new RegExp(`needs glibc 2\\.99; the oldest that is supported is ${oldestGlibc}`))
  })

  test('reports a binary that is too large, and no tarball for the size of eight binaries', () => {
    const place = join(folder, 'large')
    for (const { folder, file, libc } of targets) {
      mkdirSync(join(place, 'package/prebuilds', folder), { recursive: true })
      // Random bytes cannot be compressed, so the tarball is larger than a release.
      writeFileSync(join(place, 'package/prebuilds', folder, file), randomBytes(maxBytesOfBinary + (libc ? 0 : 1)))
    }
    execFileSync('tar', ['czf', 'large.tgz', 'package'], { cwd: place })
    const { stderr } = check(join(place, 'large.tgz'))
    expect(stderr.trim().split('\n')).toEqual(
      targets.flatMap(({ folder, file, platform, libc }) => [
        `prebuilds/${folder}/${file}: is no binary of ${platform}`,
        ...(libc ? [] : [`prebuilds/${folder}/${file}: has 400001 bytes; at most 400000 are published`]),
      ]),
    )
  })

  test('prints its usage', () => {
    expect(runScript('scripts/check-binaries.ts', [])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('usage: '),
    })
  })
})

test('docs/platforms.md and the README list the targets', () => {
  const page = readFileSync(join(repository, 'docs/platforms.md'), 'utf8')
  for (const { folder, file } of targets) expect(page).toContain(`\`${folder}/${file}\``)
  expect(page).toContain(`glibc ≥ ${oldestGlibc}`)
  expect(page.replaceAll('\n', ' ')).toContain(`of at most ${maxBytesOfBinary / 1e6} MB each`)
  expect(ownTarget()).toBeDefined()
})

test.each([
  ['scripts/cross/build.ts', ['--only', 'plan9-x64'], /'plan9-x64' is no target; choose from linux-x64-glibc, /],
  ['scripts/cross/build.ts', ['--nonsense'], /Unknown option '--nonsense'[\s\S]*--only/],
  ['scripts/binaries.ts', ['--nonsense'], /Unknown option '--nonsense'[\s\S]*--out/],
])('%s %j is refused', (script, args, message) => {
  expect(runScript(script, args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(message) })
})

function runScript(script: string, args: string[]) {
  return node(repository, ['--import', 'tsx', script, ...args])
}
