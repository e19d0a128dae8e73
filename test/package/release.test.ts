import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { read } from '../support/documents.ts'
import { temporaryFolder } from './consumer.ts'

// The last step of .github/workflows/release.yml, with an npm whose registry is a file of `name@version`.

const folder = temporaryFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { jobs } = parse(read('.github/workflows/release.yml'))
const { run: script } = jobs.publish.steps.find(({ run = '' }) => run.includes('npm publish'))

const npm = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs')
const [command, what] = process.argv.slice(2)
if (command === 'view') {
  if (!readFileSync('registry', 'utf8').split('\\n').includes(what)) process.exit(1)
  console.log(what.split('@')[1])
} else {
  if (what.startsWith(process.env.REFUSED)) process.exit(1)
  appendFileSync('registry', what.replace(/-(\\d.*)\\.tgz$/, '@$1\\n'))
}
`

/** Runs the step, and returns its exit code and the versions that the registry has then. */
function release(published: readonly string[], refused = 'none'): [number | null, string[]] {
  const place = mkdtempSync(join(folder, 'release-'))
  const registry = join(place, 'registry')
  writeFileSync(registry, published.map((version) => `${version}\n`).join(''))
  writeFileSync(join(place, 'npm'), npm)
  chmodSync(join(place, 'npm'), 0o755)
  const env = { PATH: `${place}:${process.env['PATH']}`, TAG: 'v1.2.3', REFUSED: refused }
  // As the runner starts it.
  const { status } = spawnSync('bash', ['-e', '-c', script], { cwd: place, env })
  return [status, readFileSync(registry, 'utf8').split('\n').slice(0, -1)]
}

describe.skipIf(process.platform === 'win32')('the last step of a release', () => {
  const both = ['graupel@1.2.3', 'graupel-server@1.2.3']

  it('publishes both packages, and can be run again wherever it has failed', () => {
    for (const published of [[], both.slice(0, 1), both]) expect(release(published)).toEqual([0, both])
    expect(release(['graupel@1.2.2'])).toEqual([0, ['graupel@1.2.2', ...both]])
  })

  it('fails if the registry refuses a package, and publishes no service without its library', () => {
    expect(release([], 'graupel-1')).toEqual([1, []])
    expect(release([], 'graupel-server')).toEqual([1, both.slice(0, 1)])
  })
})
