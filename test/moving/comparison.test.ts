import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGenerator, encodeId, layouts } from 'graupel'
import { expect, it } from 'vitest'
import type { Report } from '../../bench/contract.ts'
import { withSections } from '../../bench/publish.ts'
import { resultOf } from '../../bench/report.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloadsFor } from '../../bench/workloads/index.ts'
import { read, repository } from '../support/documents.ts'
import { withFigures } from './figures.ts'

const text = read('docs/comparison.md')
const report = JSON.parse(readFileSync(join(repository, 'bench/results/latest.json'), 'utf8')) as Report

it('quotes the published figures of the bench; `npx tsx test/moving/figures.ts` writes them', () => {
  expect(withFigures(text, report)).toBe(text)
})

it('quotes the engines on the version of Node that renewed them', () => {
  const engines = workloadsFor('engines')
  const measured = engines.flatMap((workload) => subjects.flatMap(({ name }) => resultOf(report, workload, name) ?? []))
  const run = { ...report, results: measured.map((result) => ({ ...result, node: 'v24.99.0' })) }
  run.machine = { ...report.machine, node: 'v24.99.0' }
  expect(withFigures(text, withSections(report, run, engines))).toBe(text)
})

it('notices a figure that is not from the bench', () => {
  const [figure = ''] = /\d\.\d\d(?= \|)/.exec(text.split('<!-- cost:')[1] ?? '') ?? []
  const [before, after] = text.split('<!-- cost:')
  const stale = `${before}<!-- cost:${after?.replace(figure, '0.01')}`
  expect(stale).not.toBe(text)
  expect(withFigures(stale, report)).toBe(text)
})

it('has the right lengths of ids of graupel', () => {
  const ids = createGenerator({ node: 7, namespace: 'comparison' })
  const id = ids.next()
  const [, characters] = /^\| graupel \| 8 \| (.+?) \|/m.exec(text) ?? []
  const lengths = (['decimal', 'base32', 'base62'] as const).map((encoding) => encodeId(id, encoding).length)
  expect(characters).toBe(`${lengths[0]} decimal, ${lengths[1]} base 32, ${lengths[2]} base 62`)
  expect(encodeId(id, 'bytes').length).toBe(8)
})

it('has the right bits of ids of Sonyflake', () => {
  const { layout } = createGenerator({ node: 1, layout: layouts.sonyflake, namespace: 'comparison' })
  expect(text).toContain(`| [Sonyflake](https://github.com/sony/sonyflake) | 8 | ${sonyflakeNow().length} |`)
  expect(layout.idsPerSecond).toBe(25_600)
  expect(2 ** layout.nodeFields.reduce((sum, { bits }) => sum + bits, 0)).toBe(65_536)
  const years = (layout.expiresAt.getTime() - layout.epochMs) / (365.25 * 24 * 3600 * 1000)
  expect(Math.floor(years)).toBe(174)
})

function sonyflakeNow(): string {
  return createGenerator({ node: 1, layout: layouts.sonyflake, namespace: 'comparison' }).nextString()
}

it.each(['docs/comparison.md', 'docs/moving-in.md', 'docs/moving-from-npm.md'])(
  '%s links to headings that exist',
  (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
    expect(links.length).toBeGreaterThan(3)
    for (const [, target = '', anchor] of links) {
      const headings = read(target === '' ? file : join(file, '..', target)).matchAll(/^#+ (.+)$/gm)
      const anchors = [...headings].map(([, heading = '']) => anchorOf(heading))
      expect(anchors, `${file} to ${target}`).toContain(anchor)
    }
  },
)

/** Makes the anchor of a heading as GitHub does. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}
