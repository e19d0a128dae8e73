import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { claimRules, claimWithout, cleanedWhileSetBack, completeClaim, search } from '../../scripts/model.ts'
import { describeWith } from '../support/needs.ts'
import { isShort } from '../support/short.ts'

describeWith(['spin'], 'the model of the claim', () => {
  it('has the rules of the document', () => {
    const document = readFileSync(new URL('../../docs/model.md', import.meta.url), 'utf8')
    const named = Array.from(document.matchAll(/^\| (S\d+) \|/gm), ([, rule]) => rule)
    expect(named.length).toBeGreaterThan(3)
    expect(claimRules).toEqual(named)
  })

  // The search of three processes takes longer: `npm run model`.
  const short = Object.entries(completeClaim).filter(([, { defines }]) => !('PROCESSES' in defines))
  it.each(short)('is not violated: %s', (_name, how) => {
    const { trail, isComplete } = search(how)
    expect(trail).toBeUndefined()
    expect(isComplete).toBe(true)
  })

  it('is violated if the clock is set back while a claim is removed, as docs/state-proof.md says', () => {
    const { trail } = search(cleanedWhileSetBack)
    expect(trail?.claim).toMatch(/owner/)
    expect(trail?.steps).toContain('2 removes the claim')
    expect(trail?.steps.filter((step) => step.startsWith('the clock is set back'))).toHaveLength(1)
  })

  it.each(isShort ? claimRules.slice(0, 1) : claimRules)('is violated without rule %s', (rule) => {
    const { trail } = search(claimWithout(rule))
    expect(trail?.claim).toMatch(/owner|latest/)
    expect(trail?.steps.length).toBeGreaterThan(5)
  })
})
