import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeId, encodeId, layouts, type TextEncoding } from '../../src/index.js'
import { commonNodes, equalIds, IdSet, rangesOf } from '../../src/inspect/overlap.js'
import { graupel, spawnGraupel } from '../support/cli.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'graupel-overlap-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function file(...lines: (string | bigint)[]): string {
  const path = join(folder, `${files++}.txt`)
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

const timestampMs = Date.UTC(2026, 0, 1)
const made = (node: number, sequence: number, ms = 0) =>
  composeId({ timestampMs: timestampMs + ms, node, sequence }, layouts.leaf)
const leaf = ['--layout', 'leaf']

const setOf = (name: string, ids: readonly bigint[], layout?: typeof layouts.leaf) => {
  const set = new IdSet(name, layout)
  for (const id of ids) set.add(id)
  return set
}

describe('graupel overlap', () => {
  it('exits with 0 if nothing is in common', async () => {
    const [a, b] = [file(made(1, 0), made(2, 0, 5)), file(made(3, 0), made(5, 0))]
    const { status, stdout, stderr } = await graupel(['overlap', a, b, ...leaf])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.replaceAll(folder, '').replace(/ +(?=ids)/, ' ')).toBe(`\
 ids  first                     last                      nodes
/0.txt    2  2026-01-01T00:00:00.000Z  2026-01-01T00:00:00.005Z  1 to 2
/1.txt    2  2026-01-01T00:00:00.000Z  2026-01-01T00:00:00.000Z  3, 5

No two ids are equal.
No node is in more than one file.
`)
  })

  it('names equal ids and their lines, and exits with 1', async () => {
    const [a, b] = [file(made(1, 0), made(1, 1)), file(made(2, 0), made(1, 1))]
    const { status, stdout } = await graupel(['overlap', a, b])
    expect(status).toBe(1)
    expect(stdout).toContain(`1 id occurs more than once:\n  ${made(1, 1)}  ${a} line 2, ${b} line 2\n`)
    expect(stdout).not.toContain('node')
  })

  it('finds an id that one file has twice', async () => {
    const { status, stdout } = await graupel(['overlap', file(7n, 8n, 7n), file(9n)])
    expect(status).toBe(1)
    expect(stdout).toMatch(/ {2}7 {2}\S+ line 1, \S+ line 3\n/)
  })

  it('shows the first ten of many equal ids, and counts them all', async () => {
    const ids = Array.from({ length: 5000 }, (_, i) => BigInt(i))
    const { stdout } = await graupel(['overlap', file(...ids), file(...ids.toReversed())])
    expect(stdout).toContain('5,000 ids occur more than once:\n  0  ')
    expect(stdout.match(/ line /g)?.length).toBe(20)
    expect(stdout).toMatch(/line 4,991\n {2}…\n$/)
  })

  it('warns of common nodes even if no ids are equal, and exits with 3', async () => {
    const [a, b, c] = [file(made(1, 0), made(4, 0)), file(made(4, 1)), file(made(4, 2), made(7, 0))]
    const { status, stdout } = await graupel(['overlap', a, b, c, ...leaf])
    expect(status).toBe(3)
    expect(stdout).toContain(`1 node is in more than one file:\n  4  ${a}, ${b}, ${c}\n`)
  })

  it('prints the same as JSON', async () => {
    const [a, b] = [file(made(1, 0), made(2, 9, 1)), file(made(1, 0), made(3, 0))]
    const { status, stdout } = await graupel(['overlap', a, b, ...leaf, '--json'])
    const [at, later] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z']
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      {
        sets: [
          { name: a, count: 2, first: at, last: later, nodes: [[1, 2]] },
          {
            name: b,
            count: 2,
            first: at,
            last: at,
            nodes: [
              [1, 1],
              [3, 3],
            ],
          },
        ],
        equalIds: 1,
        firstEqualIds: [
          {
            id: String(made(1, 0)),
            places: [
              { set: a, line: 1 },
              { set: b, line: 1 },
            ],
          },
        ],
        commonNodes: [{ node: 1, sets: [a, b] }],
      },
    ])
  })

  it.each<TextEncoding>(['decimal', 'hex', 'base32', 'base58', 'base62'])('reads %s', async (encoding) => {
    const texts = [made(1, 0), made(2, 0)].map((id) => encodeId(id, encoding))
    const { status, stdout } = await graupel([
      'overlap',
      file(...texts),
      file(texts[1] as string),
      '--format',
      encoding,
    ])
    expect(status).toBe(1)
    expect(stdout).toContain(`  ${made(2, 0)}  `)
  })

  it('reads the standard input, line ends of Windows, and a last line without an end', () => {
    const { status, stdout } = spawnGraupel(['overlap', file(5n), '-'], {}, '4\r\n5')
    expect(status).toBe(1)
    expect(stdout).toContain('the standard input line 2')
  })

  it('reads an epoch of its own', async () => {
    const words = [file(1n << 22n), file(2n << 22n), '--layout', 'leaf', '--epoch', '1577203200000', '--json']
    const { sets } = JSON.parse((await graupel(['overlap', ...words])).stdout)
    expect(sets[0].first).toBe(new Date(1577203200001).toISOString())
  })

  it.each<[string, () => string[], RegExp]>([
    ['one file', () => [file(1n)], /nothing to compare; write graupel overlap FILE FILE/],
    ['a file twice', () => ['x', 'y', 'x'], /x was given twice/],
    ['the standard input twice', () => ['-', '-'], /the standard input was given twice/],
    ['a file that is not there', () => [join(folder, 'none'), 'y'], /none cannot be read: ENOENT/],
    ['a folder', () => [folder, 'y'], /cannot be read: EISDIR/],
    ['a file without ids', () => [file(), 'y'], /\.txt has no id; give one a line/],
    ['a heading', () => [file('id', 5n), 'y'], /\.txt, line 1: the id is 'id'/],
    ['an empty line', () => [file(5n, '', 6n), 'y'], /\.txt, line 2: the id is ''/],
    ['a negative id', () => [file(5n, -6n), 'y'], /\.txt, line 2: the id is '-6'/],
    ['a line without an end', () => [file(5n, '1'.repeat(200_000)), 'y'], /\.txt, line 2: the id is '1{40}…'/],
    ['an id of another encoding', () => [file(5n), 'y', '--format', 'hex'], /\.txt, line 1: the hex id '5'/],
    [
      'too wide an id',
      () => [file(5n, 2n ** 53n), 'y', '--layout', 'js53'],
      /line 2: .* has 54 bits; ids of layout 'js53'/,
    ],
    [
      'an epoch of no layout',
      () => ['x', 'y', '--epoch', '5'],
      /--epoch is for --layout; give both, or leave --epoch out/,
    ],
  ])('refuses %s', async (_what, words, message) => {
    const { status, stdout, stderr } = await graupel(['overlap', ...words()])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]* \(ERR_\w+\)\n$/)
    expect(stderr).toMatch(message)
  })
})

describe('equal ids', () => {
  it('occur more than once, in one set or in several', () => {
    const ids = fc.array(fc.bigInt({ min: 0n, max: 30n }), { maxLength: 20 })
    fc.assert(
      fc.property(fc.array(ids, { minLength: 1, maxLength: 4 }), (all) => {
        const places = new Map<bigint, string[]>()
        for (const [i, set] of all.entries()) {
          for (const [at, id] of set.entries()) places.set(id, [...(places.get(id) ?? []), `${i} ${at + 1}`])
        }
        const expected = [...places].filter(([, where]) => where.length > 1).sort(([a], [b]) => Number(a - b))
        const { count, first } = equalIds(
          all.map((set, i) => setOf(String(i), set)),
          100,
        )
        expect(count).toBe(expected.length)
        const found = first.map(({ id, places: at }) => [id, at.map(({ set, line }) => `${set} ${line}`)])
        expect(found).toEqual(expected)
      }),
    )
  })

  it('are found in sets that are larger than one step of memory', () => {
    const ids = Array.from({ length: 300_000 }, (_, i) => 2n ** 64n - 1n - BigInt(i))
    const { count, first } = equalIds([setOf('a', ids), setOf('b', [5n, ids[280_000] as bigint])], 3)
    expect({ count, places: first[0]?.places }).toEqual({
      count: 1,
      places: [
        { set: 'a', line: 280_001 },
        { set: 'b', line: 2 },
      ],
    })
  })
})

describe('common nodes', () => {
  it('occur in more than one set', () => {
    const nodes = fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 10 })
    fc.assert(
      fc.property(nodes, nodes, nodes, (...all) => {
        const sets = all.map((of, i) =>
          setOf(
            String(i),
            of.map((node) => made(node, i)),
            layouts.leaf,
          ),
        )
        const expected = Array.from({ length: 21 }, (_, node) => ({
          node,
          sets: ['0', '1', '2'].filter((_name, i) => all[i]?.includes(node)),
        })).filter((common) => common.sets.length > 1)
        expect(commonNodes(sets)).toEqual(expected)
      }),
    )
  })

  it('are written as ranges', () => {
    expect(rangesOf([])).toEqual([])
    expect(rangesOf([0, 1, 2, 5, 7, 8])).toEqual([
      [0, 2],
      [5, 5],
      [7, 8],
    ])
  })
})
