import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Row, readTable, suitesFor } from '../../scripts/test-all.js'
import { repository } from './documents.js'

const table = readTable(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
const testFiles = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.test.ts') && !file.includes('node_modules'),
)

describe('the table of suites in CONTRIBUTING.md', () => {
  it('has a row for each folder of src, and for the other folders of the project', () => {
    const sources = readdirSync(join(repository, 'src')).map((name) => `src/${name}`)
    for (const path of [...sources, 'native', 'server', 'web', 'model', 'bench', 'docs', 'examples', 'scripts']) {
      expect([path, suitesFor([path], table)]).toEqual([path, expect.arrayContaining([expect.any(String)])])
    }
  })

  it('names suites that exist', () => {
    const suites = table.flatMap((row) => row.suites)
    expect(suites.length).toBeGreaterThan(50)
    const missing = suites.filter((suite) => !testFiles.some((file) => file.replaceAll('\\', '/').startsWith(suite)))
    expect(missing).toEqual([])
  })
})

describe('suitesFor()', () => {
  const rows: Row[] = [
    { paths: ['src/cli'], suites: ['cli'] },
    { paths: ['src/cli/state', 'src/host'], suites: ['host'] },
  ]

  it.each([
    [['src/cli/main.ts'], ['cli']],
    [['src/cli/state/list.ts'], ['host']],
    [
      ['src/host/a.ts', 'src/cli/b.ts'],
      ['cli', 'host'],
    ],
    [['test/api/errors.test.ts'], ['api/errors']],
    [['test/host/claims.ts'], ['host']],
    [[], []],
    [['src/climate.ts'], undefined],
    [['unknown', 'src/host/a.ts'], undefined],
  ])('%j: %j', (files, suites) => {
    expect(suitesFor(files, rows)).toEqual(suites)
  })
})
