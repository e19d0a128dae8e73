import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith, inUserNamespace, libfaketime, type Tool } from '../support/needs.ts'
import { cleanUp, type Failure, Obedient, type Plan, type Surroundings, stateFolder } from '../support/processes.ts'

// Two generators of one node: every pair of engines, in every place that the second can have beside the first, with a clock
// that runs, and with one that goes back between their ids. Either their ids differ, or the second is refused.

afterEach(cleanUp)

type Engine = 'native' | 'js'
type Pair = `${Engine} ${Engine}`

interface Place {
  readonly name: string
  readonly needs: readonly Tool[]
  /** Starts the process of the second generator; without it, that is in the process of the first. */
  readonly start?: (surroundings: Surroundings, first: Obedient) => Promise<Obedient>
  readonly within?: 'inSameThread' | 'inOtherThread'
  /** The pairs whose second generator is refused; all others make ids. */
  readonly refused: readonly Pair[]
}

const inside =
  (...words: string[]) =>
  async (surroundings: Surroundings) =>
    new Obedient({ ...surroundings, within: (command) => [...words, ...command] })
const unshared = (...flags: string[]) => inside('unshare', ...flags, '--fork', '--kill-child')

/** Of two engines in one process or in two that run, one is refused; and the js engine knows only one process. */
const otherEngine: readonly Pair[] = ['native js', 'js native']
const otherProcess: readonly Pair[] = [...otherEngine, 'js js']

const places: readonly Place[] = [
  { name: 'the same thread', needs: [], within: 'inSameThread', refused: otherEngine },
  { name: 'another thread', needs: [], within: 'inOtherThread', refused: otherEngine },
  { name: 'another process', needs: [], start: inside(), refused: otherProcess },
  {
    name: 'another process, after the first was killed',
    needs: [],
    start: async (surroundings, first) => {
      await first.kill()
      return new Obedient(surroundings)
    },
    // The page that a killed process had open has to be forgotten by an operator.
    refused: ['native js'],
  },
  { name: 'another pid namespace', needs: ['mounts', 'root'], start: unshared('--pid'), refused: otherProcess },
  {
    name: 'another pid namespace with its own /proc',
    needs: ['mounts', 'root'],
    start: unshared('--pid', '--mount-proc'),
    refused: otherProcess,
  },
  {
    // Start times differ there, so the js engine takes a process that runs for one that has ended, and continues at its ceiling.
    name: 'another time namespace',
    needs: ['mounts', 'root'],
    start: unshared('--time', '--boottime', '100000', '--monotonic', '100000'),
    refused: ['native js'],
  },
  {
    name: 'another user namespace',
    needs: ['userns'],
    start: async (surroundings) => new Obedient({ ...surroundings, within: inUserNamespace }),
    refused: otherProcess,
  },
]

const engines: readonly Engine[] = ['native', 'js']
const clocks = ['runs', 'goes back'] as const

for (const { name, needs, start, within, refused } of places) {
  describeWith(['native', 'linux', 'faketime', ...needs], `with the second generator in ${name}`, () => {
    const cases = engines.flatMap((one) => engines.flatMap((two) => clocks.map((clock) => [one, two, clock] as const)))

    it.each(cases)('%s, then %s, while the clock %s', async (one, two, clock) => {
      const { folder } = stateFolder()
      const offset = join(folder, 'offset')
      writeFileSync(offset, '+0')
      const env = {
        LD_PRELOAD: libfaketime() ?? '',
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
      const own: Plan = { node: 1, namespace: freshNamespace(), maxAheadMs: 10_000 }
      const first = new Obedient({ env })
      await first.open({ ...own, engine: one })
      const made = [await first.take(3000)]
      if (clock === 'goes back') writeFileSync(offset, '-2')
      const second = within === undefined ? await start?.({ env }, first) : first.second(within)
      let error: Failure | undefined
      try {
        await second?.open({ ...own, engine: two })
        made.push((await second?.take(3000)) ?? [])
      } catch (thrown) {
        error = thrown as Failure
      }
      // A process that was overtaken may be refused. It makes the ids below its ceiling.
      for (let i = 0; i < 3; i++) {
        const again = await first.take(1000).catch(() => [])
        made.push(again)
      }
      expect(error?.code).toBe(refused.includes(`${one} ${two}`) ? 'ERR_STATE_UNREACHABLE' : undefined)
      expect(duplicatesAmong(made.map((ids) => BigUint64Array.from(ids)))).toBe(0)
      expect(made.flat().length).toBeGreaterThanOrEqual(error === undefined ? 6000 : 3000)
    })
  })
}
