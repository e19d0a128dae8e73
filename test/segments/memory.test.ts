import { describe, expect, it } from 'vitest'
import type { Mutation } from '../simulation/load.ts'
import { explore, type Model } from './memory-model.ts'
import { overtaken, strides, usedUp } from './memory-models.ts'

const file = 'segments/memory.ts'
const defects: [Mutation, Model][] = [
  [
    {
      defect: 'the count of segments is not read again',
      file,
      from: 'if (this.#load(words.segments) !== segments) continue',
      to: '',
    },
    overtaken,
  ],
  [
    {
      defect: 'the older segment is chosen by its own words',
      file,
      from: 'if (index >= newest.to) return undefined',
      to: `if (segments > 1n) {
             const older = this.#read(segments - 2n)
             if (index >= older.from && index < older.to) return older
           }
           if (index >= newest.to) return undefined`,
    },
    usedUp,
  ],
  [
    {
      defect: 'the count of segments is written before the words',
      file,
      from: 'const at = this.#at(segments)\n    for',
      to: 'const at = this.#at(segments)\n    Atomics.store(this.#words, words.segments, segments + 1n)\n    for',
    },
    usedUp,
  ],
  [
    {
      defect: 'a segment is added although there is no room',
      file,
      from: 'return segments < 2n ||',
      to: 'return true ||',
    },
    usedUp,
  ],
]

describe('the memory of segments, however its threads interrupt each other', () => {
  it.each(Object.entries({ usedUp, strides }))('in the model %s', async (_name, model) => {
    const { violation, states } = await explore(model)
    expect(violation).toBeUndefined()
    // Orders without any taken number prove nothing.
    expect(states).toBeGreaterThan(5000)
  })
})

describe('the model notices that', () => {
  it.each(defects.map(([mutation, model]) => [mutation.defect, mutation, model] as const))('%s', async (...words) => {
    const { violation, states } = await explore(words[2], words[1])
    console.info(`${words[0]}: ${violation} (${states} states)`)
    expect(violation).toBeDefined()
  })
})
