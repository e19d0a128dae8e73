import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { completeStrict, search, strictRules, strictWithout } from '../../scripts/model.ts'
import { describeWith } from '../support/needs.ts'

describeWith(['spin'], 'the model of strict order', () => {
  it('has the rules of the document', () => {
    const document = readFileSync(new URL('../../docs/model.md', import.meta.url), 'utf8')
    expect(strictRules).toEqual(Array.from(document.matchAll(/^\| `(T\d)` \|/gm), ([, rule]) => rule))
  })

  it.each(Object.entries(completeStrict))('is not violated: %s', (_name, how) => {
    expect(search(how)).toMatchObject({ trail: undefined, isComplete: true })
  })

  it.each(strictRules)('is violated without rule %s', (rule) => {
    expect(search(strictWithout(rule)).trail?.claim).toMatch(/before/)
  })
})
