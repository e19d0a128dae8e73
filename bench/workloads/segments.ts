import { setTimeout as sleep } from 'node:timers/promises'
import { count } from '../bars.ts'
import type { Workload } from '../contract.ts'
import { Ledger } from '../measure/ledger.ts'
import { spread } from '../measure/rounds.ts'
import { compared } from './compared.ts'
import { segmentThreads } from './together.ts'

const perMs = 1000
const usualStep = 1000
const usualMaxStep = 2 ** 24

/**
 * Makes a million numbers a second in small batches, with default options. Until the step has doubled up to
 * its maximum, `fillAsync()` makes them, which waits. After that `next()` makes them, so `ERR_EMPTY` would
 * end the run.
 */
const steady: Workload = {
  name: 'segment-steady',
  title: 'next() of segments, a million a second',
  section: 'Segments',
  of: 'store',
  unit: 'writes in 10 s',
  async run(subject, { isQuick }) {
    // Loaded late, so that a process that measures something else loads no client.
    const { withStore, counted } = await import('../measure/stores.ts')
    const { createSegmentGenerator } = await import('graupel/segments')
    return withStore(subject.name, async (inner) => {
      const { store, counts } = counted(inner)
      const numbers = await createSegmentGenerator({ store, name: 'steady' })
      const ledger = new Ledger()
      const kept = new BigUint64Array(65_536)

      /** Makes the numbers that are due, until the end. Resolves to the milliseconds of the longest call. */
      async function pace(rate: number, isEnd: (ms: number) => boolean, make: (array: typeof kept) => unknown) {
        const startMs = performance.now()
        for (let made = 0; ; await sleep(1)) {
          const ms = performance.now() - startMs
          if (isEnd(ms)) return ms
          const array = kept.subarray(0, Math.min(Math.floor(ms * rate) - made, kept.length))
          await make(array)
          ledger.add(array)
          made += array.length
        }
      }

      const rampMs = await pace(
        isQuick ? 50 * perMs : perMs,
        () => numbers.stats().step === usualMaxStep,
        (array) => numbers.fillAsync(array),
      )
      const [ramp, before] = [numbers.stats().segments, counts.writes]
      const longestMs = { next: 0, clock: 0 }
      const ms = await pace(
        perMs,
        (ms) => ms >= (isQuick ? 3000 : 60_000),
        (array) => {
          longestMs.next = Math.max(longestMs.next, longestOf(array, numbers.next))
          longestMs.clock = Math.max(
            longestMs.clock,
            longestOf(array, (i) => array[i] as bigint),
          )
        },
      )
      numbers.close()
      const writes = counts.writes - before
      const steps = `a step of ${count(usualStep)} was ${count(usualMaxStep)} after ${(rampMs / 1000).toFixed(1)} s and ${ramp} segments`
      const waits = `the longest next() took ${longestMs.next.toFixed(2)} ms, the longest reading of the clock ${longestMs.clock.toFixed(2)}`
      return {
        figure: spread([(writes * 10_000) / ms]),
        check: ledger.report(),
        note: `${steps}; then ${writes} writes in ${(ms / 1000).toFixed(0)} s; ${waits}`,
      }
    })
  },
}

/** Fills an array. Returns the milliseconds of the longest call. */
function longestOf(array: BigUint64Array, make: (i: number) => bigint) {
  let most = 0
  let before = performance.now()
  for (let i = 0; i < array.length; i++) {
    array[i] = make(i)
    const now = performance.now()
    most = Math.max(most, now - before)
    before = now
  }
  return most
}

export const segments = [...compared.segments, segmentThreads, steady]
