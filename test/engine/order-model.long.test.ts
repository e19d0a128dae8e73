import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { completeOrder, orderRules, orderWithout, search } from '../../scripts/model.ts'
import { describeWith } from '../support/needs.ts'

describeWith(['spin'], 'the model of observed ids', () => {
  it('has the rules of the document', () => {
    const document = readFileSync(new URL('../../docs/model.md', import.meta.url), 'utf8')
    expect(orderRules).toEqual(Array.from(document.matchAll(/^\| `(O\d)` \|/gm), ([, rule]) => rule))
  })

  it.each(Object.entries(completeOrder))('is not violated: %s', (_name, how) => {
    expect(search(how)).toMatchObject({ trail: undefined, isComplete: true })
  })

  it.each(orderRules)('is violated without rule %s', (rule) => {
    expect(search(orderWithout(rule)).trail?.claim).toMatch(/seen/)
  })
})
