import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeId, decode, encodeId, isId, type Layout, layouts, parseId } from 'graupel'
import { expect, it } from 'vitest'
import { lines } from '../support/cli.ts'
import { read, repository } from '../support/documents.ts'
import { program } from '../support/examples.ts'
import { blocks, type Database, examplesOf, sectionsOfSql, statementsOf, tableOf, text } from './document.ts'
import { firstTimeOf, id, pair } from './facts.ts'

// Checks the statements of docs/databases.md that need no database. The long tests in this folder check the
// others.

const drivers = ['pg', 'postgres', 'mysql2/promise', 'mariadb', 'better-sqlite3', 'node:sqlite']
const presets: [string, Layout][] = Object.entries(layouts)

const scriptOf = async (layout: Layout, dialect: string, node?: number) =>
  (
    await lines([
      'sql',
      '--dialect',
      dialect,
      '--layout',
      layout.name,
      ...(node === undefined ? [] : ['--node', `${node}`]),
    ])
  ).join('\n')

const onlyIn: Partial<Record<(typeof sectionsOfSql)[number], readonly Database[]>> = {
  Backfill: ['PostgreSQL'],
  Partitions: ['PostgreSQL'],
  'UUID columns': ['PostgreSQL', 'MySQL, MariaDB'],
}

it('every block of the document is run', () => {
  const withDriver = drivers.flatMap(examplesOf)
  expect(drivers.filter((driver) => examplesOf(driver).length === 0)).toEqual([])
  const others = blocks.filter((block) => !withDriver.some(({ line }) => line === block.line))
  const imports = others
    .filter(({ language }) => language === 'js')
    .flatMap(({ code }) => [...code.matchAll(/ from '(.*)'/g)].map(([, name]) => name))
  expect(new Set(imports)).toEqual(new Set(['graupel']))
  const statements = others.filter(({ language }) => language !== 'js')
  expect(new Set(statements.map(({ language }) => language))).toEqual(new Set(['text']))
  const linesOf = (texts: Iterable<string>) => new Set([...texts].flatMap((text) => text.split('\n')))
  const run = sectionsOfSql.flatMap((section) => {
    const databases = onlyIn[section] ?? (['PostgreSQL', 'MySQL, MariaDB', 'SQLite'] as const)
    return databases.flatMap((database) => statementsOf(section, database))
  })
  const written = [...linesOf(statements.map(({ code }) => code))].filter(
    (line) => line !== '' && !line.startsWith('-- '),
  )
  expect(new Set(written)).toEqual(linesOf(run))
})

it('the examples without a database run', () => {
  const folder = mkdtempSync(join(repository, 'dist', 'databases-'))
  try {
    const own = blocks.filter(({ language, code }) => language === 'js' && !/ from '(?!graupel')/.test(code))
    expect(own.length).toBe(4)
    for (const { line, code } of own) {
      const file = join(folder, `${line}.mjs`)
      writeFileSync(file, program(code))
      execFileSync(process.execPath, [file], { stdio: 'pipe' })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('the backfill makes ascending ids of its node, also for more rows of a millisecond than it has ids', () => {
  const code = blocks.find(({ code }) => code.includes('function idAfter'))?.code ?? ''
  const body = `${code.replace(/^import .*$/m, '').replaceAll(/^export /gm, '')}\nreturn idAfter`
  const idAfter = new Function('composeId', 'decode', 'layouts', body)(composeId, decode, layouts)
  const start = Date.UTC(2020, 0, 1)
  const times = [...Array(10_000).fill(start), start + 1, start + 1000, ...Array(5000).fill(start + 1001)]
  const ids: bigint[] = []
  for (const time of times) ids.push(idAfter(ids.at(-1), time))
  expect(ids.filter((id, i) => i > 0 && id <= (ids[i - 1] as bigint))).toEqual([])
  expect(new Set(ids.map((id) => decode(id, layouts.twitter).node))).toEqual(new Set([1023]))
  expect(decode(ids.at(-5001) as bigint, layouts.twitter).timestampMs).toBe(start + 1000)
})

it('the layouts fit a signed column until the day in the document', () => {
  const signed = tableOf('layout | fits a signed')
  for (const [name, layout] of presets.filter(([name]) => name !== 'baidu')) {
    const [, [told] = []] = [...signed].find(([names]) => names.split(', ').includes(name)) ?? []
    const until = firstTimeOf(2n ** 63n, layout)
    const isAlways = until >= layout.expiresAt
    expect(isAlways, name).toBe(layout.bits < 64)
    expect(/The layouts (.*) have 64 bits/.exec(text)?.[1]?.includes(`\`${name}\``), name).toBe(!isAlways)
    expect(told, name).toBe(isAlways ? 'always' : `until ${until.toISOString().slice(0, 10)}`)
  }
})

it('decimal text has the number of digits in the document, between the days in the document', () => {
  const signed = tableOf('layout | fits a signed')
  const now = Date.UTC(2026, 10, 22)
  for (const [name, layout] of presets.filter(([name]) => name !== 'baidu')) {
    const [, [, told] = []] = [...signed].find(([names]) => names.split(', ').includes(name)) ?? []
    const changes = Array.from({ length: 20 }, (_, digits) => firstTimeOf(10n ** BigInt(digits), layout)).filter(
      (time) => time < layout.expiresAt,
    )
    const [from, to = layout.expiresAt] = [
      changes.findLast((time) => time.getTime() <= now),
      changes.find((time) => time.getTime() > now),
    ]
    expect(told, name).toBe(`from ${from?.toISOString().slice(0, 10)} to ${to.toISOString().slice(0, 10)}`)
  }
})

it('the encodings have the widths in the document', () => {
  const widths = [...tableOf('encoding | width')].flatMap(([names, [width]]) =>
    names.split(', ').map((name) => [name, Number(width)]),
  )
  const encodings = ['hex', 'base32', 'base58', 'base62', 'bytes'] as const
  expect(widths).toEqual(encodings.map((encoding) => [encoding, encodeId(id, encoding).length]))
  expect(text).toContain(`the base62 ids \`${pair[0]}\` and \`${pair[1]}\` are one key`)
  expect(pair[0].toLowerCase()).toBe(pair[1].toLowerCase())
  expect(parseId(pair[0], 'base62')).not.toBe(parseId(pair[1], 'base62'))
})

it('the examples of a rounded id and of text from outside are right', () => {
  expect(text).toContain(`The id ${id} comes back as ${BigInt(Number(id))}, and \`console.log\` shows ${Number(id)}`)
  expect(['7', '7abc'].map((text) => isId(text))).toEqual([true, false])
})

it('the times in SQL are computed as graupel sql does for the two layouts of the document', async () => {
  const dialects = { PostgreSQL: 'postgres', 'MySQL, MariaDB': 'mysql', SQLite: 'sqlite' } as const
  for (const [database, dialect] of Object.entries(dialects)) {
    const [statement = ''] = statementsOf('The time in SQL', database as Database)
    const [, expression = ''] = /^SELECT id, (.*) AS made FROM orders$/.exec(statement) ?? []
    for (const layout of [layouts.twitter, layouts.leaf]) {
      expect((await scriptOf(layout, dialect)).replace(':id', 'id')).toContain(expression)
    }
  }
  // The time has the highest bits, so a span of time is a range of ids, as the document says of all presets.
  expect(presets.filter(([, { fields }]) => fields[0]?.[0] !== 'timestamp')).toEqual([])
})

it('the partition has the bounds of the example', () => {
  const bounds = examplesOf('graupel').flatMap(({ code }) => [...code.matchAll(/^(?:first|end) \/\/ (\d+)n$/gm)])
  const [, partition = ''] = statementsOf('Partitions', 'PostgreSQL')
  expect(partition.match(/\d{19}/g)).toEqual(bounds.map(([, bound]) => bound))
})

it('every program is linked, and has the statement for many rows that the document names', () => {
  const rows = [...text.matchAll(/^\| .* \| \[(.*?)\]\((\.\.\/examples\/databases\/.*?)\) \| (.*) \|$/gm)]
  expect(rows.map(([, name]) => name).toSorted()).toEqual(
    readdirSync(join(repository, 'examples/databases')).toSorted(),
  )
  for (const [, , file = '', cell = ''] of rows) {
    const statements = [...cell.matchAll(/`(.*?)`/g)].map(([, code = '']) => code)
    expect(statements.length > 0 || cell === 'the same').toBe(true)
    for (const statement of statements) expect(read(join('docs', file))).toContain(statement)
  }
})
