import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fileAt, headerAt, kinds, pageAt, sizes } from '../../src/host/format.js'
import { stateFormat } from '../../src/state/errors.js'

// The specification is docs/state-format.md. The TypeScript reads by src/host/format.ts, and the tests write
// by it.

const document = readFileSync(new URL('../../docs/state-format.md', import.meta.url), 'utf8')

/** Reads the offsets in the table below a title. */
function offsetsBelow(title: string): number[] {
  const [, text = ''] = document.split(`\n**${title}**`)
  const [table = ''] = /\| offset \|[\s\S]*?\n\n/.exec(text) ?? []
  return [...table.matchAll(/^\| (\d+) \|/gm)].map(([, offset]) => Number(offset))
}

it.each([
  // The end of the header is the beginning of the next part.
  ['Header', (({ end: _, ...offsets }) => offsets)(headerAt)],
  ['Page', pageAt],
  ['State file', fileAt],
])('%s: all offsets are those of docs/state-format.md', (title, at) => {
  expect(offsetsBelow(title)).toEqual(expect.arrayContaining(Object.values(at)))
})

it('the sizes, the kinds and the number of the format agree with docs/state-format.md', () => {
  const digits = (size: number) => (size < 10_000 ? String(size) : `${Math.floor(size / 1000)} ${size % 1000}`)
  expect(document).toContain(`**Page**, ${digits(sizes.page)} bytes.`)
  expect(document).toContain(`**State file**, ${digits(sizes.file)} bytes:`)
  expect(document).toContain(`kind: ${kinds.page} a page, ${kinds.file} a state file`)
  expect(document).toContain(`This is format ${stateFormat}.`)
  expect(offsetsBelow('Page')).toContain(headerAt.end)
  expect(offsetsBelow('State file')).toContain(headerAt.end)
})
