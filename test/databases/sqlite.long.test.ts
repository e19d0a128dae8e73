import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmNode } from '../../scripts/npm-binary.ts'
import { repository } from '../support/documents.ts'
import { examplesOf, tableOf } from './document.ts'
import { id } from './facts.ts'
import { Project } from './project.ts'

const program = join(repository, 'test/databases/programs/sqlite.ts')
/**
 * Drivers, each with the folder of test/stores in which it is installed, and its program in
 * examples/databases.
 */
const drivers = [
  ['better-sqlite3', 'better-sqlite3', 'better-sqlite3.mjs'],
  ['libsql', 'clients', 'better-sqlite3.mjs'],
  ['node:sqlite', undefined, 'node-sqlite.mjs'],
] as const

describe.each(drivers)('%s', (name, place, example) => {
  const node = name === 'node:sqlite' ? npmNode('22') : process.execPath
  const [column, pass, byDefault, setting, withSetting] = tableOf('driver | column').get(name) ?? []
  let project: Project
  // biome-ignore lint/suspicious/noExplicitAny: the output of the program
  let facts: any
  beforeAll(async () => {
    project = new Project(place === undefined ? [] : [[name, place]], { SQLITE_FILE: 'orders.db' }, node)
    const { stdout } = await promisify(execFile)(node, ['--import', 'tsx', program, name], { cwd: repository })
    facts = JSON.parse(stdout)
    // better-sqlite3 may have to be compiled.
  }, 600_000)
  afterAll(() => project?.remove())

  it('stores ids exactly, and returns the types in the document', () => {
    expect([column, pass]).toEqual(['INTEGER PRIMARY KEY', 'bigint or string'])
    expect(setting).toBe(name === 'node:sqlite' ? 'readBigInts: true' : 'defaultSafeIntegers()')
    expect(facts).toMatchObject({ stored: [`${id}`, `${id}`], found: [1, 1], byDefault, withSetting, count: 'bigint' })
    expect(facts.storedNumber).toBe(`${id - 1n}`)
    // Small ids are not rounded, so a test with small ids notices nothing.
    expect(facts.small).toBe(7)
  })

  it('rounds lastInsertRowid by default, and libsql always', () => {
    expect(facts.rowids).toEqual(['rounded number', name === 'libsql' ? 'rounded number' : 'bigint'])
    expect(facts.columnsOfRow).toEqual(name === 'libsql' ? ['id', '_metadata'] : ['id'])
  })

  it('refuses or rounds values above a signed column', () => {
    expect(facts.unsigned).toEqual({
      bigint: expect.stringMatching(/^throws (RangeError|ERR_INVALID_ARG_VALUE)$/),
      text: expect.stringMatching(/^real 9\.2233720368547/),
      key: expect.stringContaining('throws'),
      strict: expect.stringContaining('throws'),
    })
    expect(facts.int).toBe(`integer ${id}`)
    expect(facts.foundByDigits).toBe(0)
  })

  it('distinguishes ids in base62, unless the collation is NOCASE', () => {
    expect(facts.links).toBe(2)
    expect(facts.careless).toMatch(/^throws/)
  })

  it('tells the time of ids, and finds times by the primary key', () => {
    expect(facts.times).toEqual({ count: 300, wrong: 0 })
    expect(facts.plans).toEqual([
      ['SEARCH orders USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
      ['SEARCH orders USING INTEGER PRIMARY KEY (rowid<?)'],
    ])
    expect(facts.planByTime).toEqual(['SCAN orders'])
    expect(facts.indexes).toEqual([0, 1])
  })

  it('pages in both directions, by the primary key', () => {
    expect(facts.pages).toBe(true)
    const search = expect.stringMatching(/^SEARCH orders USING INTEGER PRIMARY KEY \(rowid[<>]\?\)$/)
    expect(facts.pagePlans).toEqual([[search], expect.arrayContaining([search])])
  })

  it.each(examplesOf(name))('$file:$line runs', async (block) => {
    await project.runBlock(block)
  })

  it('has a program that runs', async () => {
    await project.runExample(example, (code) => code.replace(`from 'better-sqlite3'`, `from '${name}'`))
  })
})
