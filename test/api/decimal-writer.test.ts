import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildSync, type OutputFile } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DecimalWriter } from '../../src/codec/index.js'

const max = 2n ** 64n - 1n

describe('DecimalWriter', () => {
  const write = (writer: DecimalWriter, id: bigint) => writer.write(Number(id >> 32n), Number(id & 0xffff_ffffn))

  it('writes the same text as a bigint at every edge of its cache', () => {
    const writer = new DecimalWriter()
    const edges = [
      0n,
      1n,
      999n,
      1000n,
      999_999n,
      10n ** 9n - 1n,
      10n ** 9n,
      2n ** 32n - 1n,
      2n ** 32n,
      10n ** 18n,
      2n ** 63n,
      max,
    ]
    for (const edge of edges) {
      for (const step of [0n, 1n, 2n, 999n, 1000n, 10n ** 6n, 10n ** 9n, 2n ** 32n]) {
        for (const id of [edge + step, edge - step]) {
          if (id >= 0n && id <= max) expect(write(writer, id)).toBe(id.toString())
        }
      }
    }
  })

  it('writes 1 to 20 digits, below and above each power of ten', () => {
    const writer = new DecimalWriter()
    for (let digits = 1; digits <= 19; digits++) {
      for (const id of [10n ** BigInt(digits) - 1n, 10n ** BigInt(digits), 10n ** BigInt(digits) + 1n]) {
        expect(write(writer, id)).toBe(id.toString())
        expect(write(new DecimalWriter(), id)).toBe(id.toString())
      }
    }
  })

  it('writes the same text as a bigint for ids that are near and far apart', () => {
    const step = fc.oneof(
      fc.bigInt({ min: -2000n, max: 2000n }),
      fc.bigInt({ min: -(10n ** 10n), max: 10n ** 10n }),
      fc.bigInt({ min: -max, max }),
    )
    const digits = fc.integer({ min: 1, max: 20 })
    const first = digits.chain((n) => fc.bigInt({ min: 0n, max: n === 20 ? max : 10n ** BigInt(n) - 1n }))
    fc.assert(
      fc.property(first, fc.array(step, { maxLength: 50 }), (id, steps) => {
        const writer = new DecimalWriter()
        expect(write(writer, id)).toBe(id.toString())
        for (const by of steps) {
          id = BigInt.asUintN(64, id + by)
          expect(write(writer, id)).toBe(id.toString())
        }
      }),
    )
  })

  it('writes the same text as a bigint after any other ids', () => {
    const id = fc.bigInt({ min: 0n, max })
    const jump = fc.oneof(
      fc.bigInt({ min: 0n, max: 5000n }),
      fc.constantFrom(10n ** 9n, 2n ** 32n, -1n, -(10n ** 9n)),
      id,
    )
    fc.assert(
      fc.property(id, fc.array(jump, { minLength: 1, maxLength: 60 }), (from, jumps) => {
        const writer = new DecimalWriter()
        let at = from
        for (const by of jumps) {
          expect(write(writer, at)).toBe(at.toString())
          at = BigInt.asUintN(64, at + by)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('makes no rope, which its reader would have to copy', () => {
    const entryPoints = [fileURLToPath(new URL('../../src/codec/index.ts', import.meta.url))]
    const [{ text: library }] = buildSync({ entryPoints, bundle: true, format: 'esm', write: false }).outputFiles as [
      OutputFile,
    ]
    const program = `
      ${library}
      const writer = new DecimalWriter()
      const rope = process.version + ' and 13 more characters'
      const texts = [rope, ...Array.from({ length: 12 }, (_, i) => writer.write(Math.floor(2 ** (2.9 * i)), i))]
      for (const text of texts) %DebugPrint(text)`
    // V8 marks a rope with a c.
    const flags = ['--allow-natives-syntax', '--input-type=module']
    const { stdout } = spawnSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8' })
    const marks = [...stdout.matchAll(/^DebugPrint: .*: (c?)"(.*)"$/gm)].map(([, mark, text = '']) => [
      mark,
      text.length,
    ])
    expect(marks[0]?.[0]).toBe('c')
    expect(marks.slice(1).map(([mark]) => mark)).toEqual(new Array(12).fill(''))
    expect(marks.at(-1)?.[1]).toBe(20)
  })
})
