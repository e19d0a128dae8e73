import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith, inUserNamespace, type Tool } from '../support/needs.ts'
import {
  cleanUp,
  type Failure,
  Obedient,
  type Opener,
  type Plan,
  type Surroundings,
  testClock,
} from '../support/processes.ts'

// Two generators of one node: every pair of engines, every place of the second generator relative to the
// first, with a clock that runs and with a clock that goes back between their ids. Either the ids differ, or
// the second generator is refused.

afterEach(cleanUp)

type Engine = 'native' | 'js'
type Pair = `${Engine} ${Engine}`

interface Place {
  readonly name: string
  readonly needs: readonly Tool[]
  /** The process of the second generator, unless it is `within` the process of the first generator. */
  readonly start?: Surroundings
  readonly within?: 'inSameThread' | 'inOtherThread'
  /** The first process is killed before the second generator is opened. */
  readonly isKilled?: true
  /** The pairs whose second generator is refused; all others make ids. */
  readonly refused: readonly Pair[]
}

const unshared = (...flags: string[]): Surroundings => ({
  within: (command) => ['unshare', ...flags, '--fork', '--kill-child', ...command],
})

/**
 * The pairs whose second generator is refused: two engines in one process or in two, and the js engine in two
 * processes.
 */
const otherEngine: readonly Pair[] = ['native js', 'js native']
const otherProcess: readonly Pair[] = [...otherEngine, 'js js']

const places: readonly Place[] = [
  { name: 'the same thread', needs: [], within: 'inSameThread', refused: otherEngine },
  { name: 'another thread', needs: [], within: 'inOtherThread', refused: otherEngine },
  { name: 'another process', needs: [], refused: otherProcess },
  {
    name: 'another process, after the first was killed',
    needs: [],
    isKilled: true,
    // An operator has to forget the page that a killed process had open.
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
    // The other namespace cannot see that the process of the claim has ended, and the ceiling has not passed.
    name: 'another pid namespace, after the first was killed',
    needs: ['mounts', 'root'],
    start: unshared('--pid'),
    isKilled: true,
    refused: otherProcess,
  },
  {
    name: 'another time namespace',
    needs: ['mounts', 'root'],
    start: unshared('--time', '--boottime', '100000', '--monotonic', '100000'),
    refused: otherProcess,
  },
  {
    name: 'another user namespace',
    needs: ['userns'],
    start: { within: inUserNamespace },
    refused: otherProcess,
  },
]

const engines: readonly Engine[] = ['native', 'js']
/** Less than the claim of the js engine lasts after an id. */
const claimMs = 400

for (const { name, needs, start, within, isKilled, refused } of places) {
  describeWith(['native', 'linux', 'faketime', ...needs], `with the second generator in ${name}`, () => {
    const pairs = engines.flatMap((one) => engines.map((two) => [one, two] as const))

    it.each(pairs)('%s, then %s, while the clock runs, and again while it goes back', async (...pair) => {
      const { env, setBack } = testClock()
      const started = async (surroundings: Surroundings = {}) => {
        const process = new Obedient({ env, ...surroundings })
        await process.shell('true')
        return process
      }
      // Both processes run before an id is made, because the ceiling of a claim is half a second ahead of the
      // clock.
      const [process, other] = await Promise.all([started(), within === undefined && started(start)])
      const second = other === false ? process.second(within ?? 'inSameThread') : other
      let first = process
      const proven = async (between?: () => Promise<void>) => {
        while (!(await prove(pair, first, second, between))) if (isKilled) first = await started()
      }
      await proven()
      if (isKilled) first = await started()
      await proven(() => setBack(2, second instanceof Obedient ? second : first))
    })

    /**
     * Opens both generators, with a change of the clock between them. Returns false if a busy machine has
     * taken longer than a claim lasts, so that nothing was proven.
     */
    const prove = async (
      [one, two]: readonly [Engine, Engine],
      first: Obedient,
      second: Opener,
      between?: () => Promise<void>,
    ) => {
      const own: Plan = { node: 1, namespace: freshNamespace(), maxAheadMs: 10_000 }
      const startMs = performance.now()
      await first.open({ ...own, engine: one })
      const made = [await first.take(3000)]
      if (isKilled) await first.kill()
      await between?.()
      let error: Failure | undefined
      try {
        await second.open({ ...own, engine: two })
        made.push(await second.take(3000))
      } catch (thrown) {
        error = thrown as Failure
      }
      const openedMs = performance.now()
      // An overtaken process may be refused. It still makes the ids below its ceiling.
      for (let i = 0; i < 3; i++) {
        const again = await first.take(1000).catch(() => [])
        made.push(again)
      }
      const clock = between === undefined ? 'the clock runs' : 'the clock goes back'
      if (error === undefined && one === 'js' && openedMs - startMs > claimMs) return false
      expect(error?.code, clock).toBe(refused.includes(`${one} ${two}`) ? 'ERR_STATE_UNREACHABLE' : undefined)
      expect(duplicatesAmong(made.map((ids) => BigUint64Array.from(ids))), clock).toBe(0)
      expect(made.flat().length, clock).toBeGreaterThanOrEqual(error === undefined ? 6000 : 3000)
      return true
    }
  })
}
