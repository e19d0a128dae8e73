import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const text = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
const [, users = '', code = ''] = text.split(/^#+ .*$/m)
const rowsOf = (table: string) =>
  table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| word | meaning'))
    .map((line) => line.slice(2, -2).split(' | '))

describe('the glossary', () => {
  const internal = rowsOf(code)

  it('has each word once, and at most 40 that users do not need', () => {
    const words = [...rowsOf(users), ...internal].map(([word]) => word)
    expect(words.length).toBeGreaterThan(40)
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
    expect(internal.length).toBeLessThanOrEqual(40)
  })

  it.each(internal)('leads from %s to a file that has it', (word = '', _, owner = '') => {
    const source = readFileSync(join(root, owner.replaceAll('`', '')), 'utf8')
    // NodeSource, kMailbox, "node source".
    expect(source.toLowerCase()).toMatch(new RegExp(word.replace(' ', ' ?')))
  })
})
