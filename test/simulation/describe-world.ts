import { describe, expect, it } from 'vitest'
import type { Mutation } from './load.ts'

type RunWorld<O> = (seed: number, setting: { durable: boolean }, records?: boolean) => Promise<O>

/**
 * Tests of every simulation: it repeats itself by its seed, and reports what went wrong.
 *
 * @param mutation - A defect that the simulation finds soon.
 */
export function describeWorld<O extends { readonly violation?: unknown; readonly moments: readonly object[] }>(
  load: (mutation?: Mutation) => Promise<RunWorld<O>>,
  reportOf: (seed: number, replay: string, outcome: O) => string,
  mutation: Mutation,
): void {
  describe('a world', () => {
    it('is the same again for its seed, recorded or not', async () => {
      const runWorld = await load()
      for (let seed = 1; seed <= 10; seed++) {
        const first = await runWorld(seed, { durable: false })
        const recorded = await runWorld(seed, { durable: false }, true)
        expect({ ...recorded, moments: [] }).toEqual(first)
        expect(await runWorld(seed, { durable: false }, true)).toEqual(recorded)
      }
    })

    it('that goes wrong is told on one screen', async () => {
      const runWorld = await load(mutation)
      let seed = 1
      while ((await runWorld(seed, { durable: true })).violation === undefined) seed++
      const lines = reportOf(seed, 'npx vitest run FILE', await runWorld(seed, { durable: true }, true)).split('\n')
      expect(lines[0]).toMatch(/^seed \d+: .*process \d/)
      expect(lines[1]).toBe(`again: GRAUPEL_SEED=${seed} GRAUPEL_RUNS=1 npx vitest run FILE`)
      expect(lines.at(-1)).toMatch(/^ +\d+\.\d{3} s {2}(the server|process \d) /)
      expect(lines.length).toBeLessThan(50)
    })
  })
}
