import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeId, decode, defineLayout, type Layout, layouts } from 'graupel'
import { expect, it } from 'vitest'
import { codeLanguages, idCode } from '../../web/src/code/index.ts'
import { describeWith, folder, type Tool } from '../support/needs.ts'
import { compiled } from './support/programs.ts'

const tools: Record<string, Tool[]> = {
  JavaScript: [],
  Python: ['python'],
  Java: ['javac'],
  Ruby: ['ruby'],
  PHP: ['php'],
  'C#': ['mono'],
  Go: ['go'],
}

const { ids: vectors } = JSON.parse(readFileSync(new URL('../support/vectors.json', import.meta.url), 'utf8')) as {
  ids: { layout: string; epochMs?: number; id: string }[]
}

const epochMs = Date.UTC(2020, 0, 1)
const tested: Layout[] = [
  layouts.twitter,
  layouts.discord,
  defineLayout({
    name: 'sequence above node',
    epochMs,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['sequence', 12],
      ['region', 3],
      ['worker', 7],
    ],
  }),
  defineLayout({
    name: '64 bits',
    epochMs,
    tickMs: 1,
    unsigned: true,
    fields: [
      ['timestamp', 42],
      ['node', 10],
      ['sequence', 12],
    ],
  }),
  // Names that are words of the languages and of the code, a tag, and another tick.
  defineLayout({
    name: 'names */ ?> ”',
    epochMs: -1000,
    tickMs: 10,
    fields: [
      ['class', 3],
      ['timestamp', 39],
      ['now', 2],
      ['func', 2, 'tag'],
      ['sequence', 5],
      ['class_', 3],
      ['self', 2],
      ['id', 2],
    ],
  }),
  defineLayout({
    name: 'no node',
    epochMs,
    tickMs: 1000,
    fields: [
      ['timestamp', 31],
      ['sequence', 22],
    ],
  }),
  layouts.mastodon,
]

const largest = (bits: number) => 2 ** bits - 1

/** The values of an id as the programs take them: the time, and all fields but the timestamp. */
function valuesOf(id: bigint, layout: Layout): number[] {
  const { timestampMs, fields, sequence, tags } = decode(id, layout)
  const values: Record<string, number> = { ...fields, ...tags, sequence }
  const names = layout.placements.map(({ name }) => name).filter((name) => name !== 'timestamp')
  return [timestampMs, ...names.map((name) => values[name] as number)]
}

/** Ids of a layout: the smallest, the largest, real ones, and some with each bit alone. */
function idsOf(layout: Layout): bigint[] {
  const real = vectors
    .filter((one) => one.layout === layout.name && one.epochMs === undefined)
    .map(({ id }) => BigInt(id))
  const all = (1n << BigInt(layout.bits)) - 1n
  const alone = Array.from({ length: layout.bits }, (_, i) => 1n << BigInt(i))
  // No generator reaches the last tick if time and sequence have all 64 bits.
  const isMade = (id: bigint) => decode(id, layout).timestampMs < layout.expiresAt.getTime()
  return [0n, all, all - 1n, all >> 1n, ...real, ...alone].filter(isMade)
}

describeWith(['php'], 'the code of the page in PHP', () => {
  it.each(['abc', '12x', '', '-5', ' 7', '7\n', '18446744073709551616', '99999999999999999999'])(
    'reads no id of %j',
    (text) => {
      const file = join(mkdtempSync(join(folder, 'php-')), 'ids.php')
      writeFileSync(file, idCode('PHP', layouts.discord))
      const program = `require ${JSON.stringify(file)}; try { echo Ids::read($argv[1]); } catch (RangeException $error) { echo 'refused'; }`
      const read = (one: string) => execFileSync('php', ['-r', program, '--', one], { encoding: 'utf8' })
      expect([read(text), read('18446744073709551615'), read('0')]).toEqual(['refused', '-1', '0'])
    },
  )
})

for (const language of codeLanguages) {
  describeWith(tools[language] as Tool[], `the code of the page in ${language}`, () => {
    it.each(tested)('encodes and decodes ids of $name', (layout) => {
      const send = compiled(language, layout)
      const ids = idsOf(layout)
      expect(send(ids.map((id) => `decode ${id}`))).toEqual(ids.map((id) => valuesOf(id, layout).join(' ')))
      expect(send(ids.map((id) => `encode ${valuesOf(id, layout).join(' ')}`))).toEqual(ids.map(String))

      const [time = 0, ...values] = valuesOf((1n << BigInt(layout.timestamp.shift)) * 5n, layout)
      const refused = [
        `encode ${[layout.epochMs - 1, ...values].join(' ')}`,
        `encode ${[layout.expiresAt.getTime(), ...values].join(' ')}`,
        ...values.flatMap((_, i) => {
          const { bits } = layout.placements.filter(({ name }) => name !== 'timestamp')[i] as { bits: number }
          return [-1, largest(bits) + 1].map((wrong) => `encode ${[time, ...values.with(i, wrong)].join(' ')}`)
        }),
        ...(layout.bits === 64 ? [] : ['decode -1', `decode ${-(2n ** 63n)}`]),
        ...(layout.bits >= 63 ? [] : [`decode ${1n << BigInt(layout.bits)}`, `decode ${2n ** 63n - 1n}`]),
      ]
      for (const [i, answer] of send(refused).entries())
        expect([refused[i], answer]).toEqual([refused[i], expect.stringMatching(/^error: /)])
    })

    it.each(tested.filter(({ decodeOnly }) => !decodeOnly))('makes ascending distinct ids of $name', (layout) => {
      const send = compiled(language, layout)
      const own = [...layout.placements].filter(({ name }) => name !== 'timestamp' && name !== 'sequence')
      const node = own.map(({ bits }) => largest(bits) - 1)
      const values = Object.fromEntries(own.map(({ name }, i) => [name, node[i]]))
      const tags = Object.fromEntries(layout.tagFields.map(({ name }) => [name, values[name] as number]))
      const fields = Object.fromEntries(layout.nodeFields.map(({ name }) => [name, values[name] as number]))
      const idAt = (timestampMs: number, sequence: number) =>
        String(composeId({ timestampMs, node: layout.nodeFields.length === 0 ? 0 : fields, sequence, tags }, layout))

      const count = 3 * 2 ** Math.min(layout.sequence.bits, 12)
      const beforeMs = Date.now() - layout.tickMs
      const made = (send([`make ${[count, ...node].join(' ')}`])[0] as string).split(' ').map(BigInt)
      expect(made.length).toBe(count)
      for (const [i, id] of made.entries()) {
        if (i > 0) expect(id > (made[i - 1] as bigint)).toBe(true)
        const part = decode(id, layout)
        expect({ ...part.fields, ...part.tags }).toEqual(values)
        expect(part.timestampMs).toBeGreaterThanOrEqual(beforeMs)
        expect(part.timestampMs).toBeLessThanOrEqual(Date.now())
      }

      // The clock shows one tick until its numbers are used, stands still, and goes on. Then it goes back.
      const { tickMs } = layout
      const t = layout.epochMs + 1_000_000 * tickMs
      const perTick = 2 ** Math.min(layout.sequence.bits, 12)
      const isWhole = perTick === 2 ** layout.sequence.bits
      const times = [
        ...Array.from({ length: perTick }, () => t),
        ...(isWhole ? [t, t, t + tickMs - 1] : []),
        t + tickMs,
        t + tickMs - 1,
        t + 2 * tickMs - 1,
        layout.epochMs - 1,
        t + 5 * tickMs,
      ]
      const expected = [
        ...Array.from({ length: perTick }, (_, i) => idAt(t, i)),
        idAt(t + tickMs, 0),
        'error:_the_clock_went_back_by_1_ticks',
        idAt(t + tickMs, 1),
        expect.stringMatching(/^error:/),
        idAt(t + 5 * tickMs, 0),
      ]
      const answer = send([`script ${[expected.length, ...node, ...times].join(' ')}`])[0] as string
      expect(answer.replaceAll('error: ', 'error:_').split(' ')).toEqual(expected)
    })
  })
}
