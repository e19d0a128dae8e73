import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  complete,
  completeHooks,
  hookRules,
  hooksWithout,
  rules,
  search,
  type Trail,
  without,
} from '../../scripts/model.ts'
import { loadModule, type Mutation } from '../simulation/load.ts'
import { describeWith } from '../support/needs.ts'
import { isShort } from '../support/short.ts'
import { mutations } from './simulation/mutations.ts'
import type { replayTrail } from './simulation/replay.ts'

/** Rules that the engines keep. The simulation has no engine. */
const ofEngines = ['A1', 'A3', 'A4']
/** Rules for a store whose clock runs ahead. The clock of the model is right. */
const ofClocksAhead = ['C7', 'C8']
const ofProtocol = rules.filter((rule) => !ofEngines.includes(rule))

/** The rules that a run leaves out, one after the other. Spin has to be compiled for each. */
const some = (rules: readonly string[]) => (isShort ? rules.slice(0, 1) : rules)

/** Lets the shipped protocol take the steps of a trail, with or without a defect. */
async function replay(mutation: Mutation | undefined, trail: Trail, rule: string) {
  const entry = new URL('simulation/replay.ts', import.meta.url)
  const module = await loadModule<{ replayTrail: typeof replayTrail }>(entry, { mutation })
  return module.replayTrail(trail.steps, without(rule).bounds)
}

/** The rules of some sections of the document, in their order. */
function numberedIn(letters: string): string[] {
  const document = readFileSync(new URL('../../docs/lease-proof.md', import.meta.url), 'utf8')
  const sections = document.split(/^##+ /m).filter((section) => new RegExp(`^[${letters}]\\. `).test(section))
  return sections.flatMap((section) =>
    Array.from(section.matchAll(/^(\d+)\. \*/gm), ([, number]) => `${section[0]}${number}`),
  )
}

describeWith(['spin'], 'the model of the lease', () => {
  it('has the rules of the document, and the simulation those of the protocol', () => {
    const numbered = numberedIn('ABC')
    expect(numbered.length).toBeGreaterThan(10)
    expect([...rules, ...ofClocksAhead].toSorted()).toEqual(numbered)
    const removed = mutations.flatMap(({ rule }) => rule ?? []).toSorted()
    expect(removed).toEqual(ofProtocol)
  })

  // The search of a store that forgets takes a minute: `npm run model`.
  const short = Object.entries(complete).filter(([name]) => name !== 'a store that forgets')
  it.each(short)('is not violated: %s', (_name, how) => {
    const { trail, isComplete } = search(how)
    expect(trail).toBeUndefined()
    expect(isComplete).toBe(true)
  })

  it.each(some(ofEngines))('is violated without rule %s, which the engines keep', (rule) => {
    expect(search(without(rule)).trail?.claim).toMatch(/owner|issued/)
  })

  it.each(some(ofProtocol))('is violated without rule %s, and the shipped protocol in the same way', async (rule) => {
    const trail = search(without(rule)).trail as Trail
    expect(trail.claim).toContain('owner')
    const mutation = mutations.find((other) => other.rule === rule)
    const { violation, refused } = await replay(mutation, trail, rule)
    expect(refused).toBeUndefined()
    const tick = Number(/observes (\d+)/.exec(trail.steps[0] as string)?.[1])
    const [, from, to] = /the ticks \[(\d+), (\d+)\) are process .* at once/.exec(violation?.text ?? '') ?? []
    expect(tick).toBeGreaterThanOrEqual(Number(from))
    expect(tick).toBeLessThan(Number(to))
    expect(violation?.processes).toContain(Number(trail.steps.at(-1)?.[0]))
    // The protocol with all its rules leaves the trail before.
    const shipped = await replay(undefined, trail, rule)
    expect(shipped).toEqual({ violation: undefined, refused: expect.any(String) })
  })
})

describeWith(['spin'], 'the model of the calls and of copies', () => {
  it('has the rules of the document', () => {
    expect(hookRules).toEqual(numberedIn('D'))
  })

  // The search takes a minute: `npm run model`.
  it.skipIf(isShort).each(Object.entries(completeHooks))('is not violated: %s', (_name, how) => {
    const { trail, isComplete } = search(how)
    expect(trail).toBeUndefined()
    expect(isComplete).toBe(true)
  })

  it.each(some(hookRules))('is violated without rule %s', (rule) => {
    expect(search(hooksWithout(rule)).trail?.claim).toMatch(/issued|isStopped/)
  })
})
