import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stamp, Wanted, Workload } from '../contract.ts'
import { Ledger } from '../measure/ledger.ts'
import { type Keep, keepFilledAsync, keepNext, makesIds } from '../measure/loops.ts'
import { calmRounds, effortFor } from '../measure/rounds.ts'
import { stampOf } from '../subjects.ts'

/** The number of ids between two turns of the event loop: all that the layout has for a millisecond. */
const perTurn = 4096

/**
 * Makes as many ids as the layout has, for two seconds at a time, with default options: calls wait for each
 * new millisecond. The loop is our own, because tinybench times single calls, and here the time between them
 * counts.
 *
 * In turns with the ids, another loop only reads the clock. The ratio is to the milliseconds that this loop
 * sees. A round does not count if the loop misses more than one millisecond in a thousand. More than 100 %
 * are repeats, or ids of the future.
 */
function sustain(name: string, title: string, wanted: Wanted, keep: Keep): Workload {
  return {
    name,
    title,
    section: 'Sustained',
    unit: '% of capacity',
    yardstick: 'milliseconds seen',
    isHigherBetter: true,
    async run(subject, options) {
      const source = makesIds(subject) ? (await subject.load())(wanted) : undefined
      const stamp = stampOf(subject, wanted) as Stamp
      const isRival = subject.group === 'rival'
      const roundMs = options.isQuick || isRival ? 500 : 2000
      // A rival that makes more ids than the layout has is stopped at three times as many.
      const maxTurns = Math.ceil((((roundMs + 2) * stamp.perMs) / perTurn) * (isRival ? 3 : 1))
      const loops = Array.from({ length: maxTurns }, () => source && keep(source, perTurn, subject))
      const [first] = loops
      if (source === undefined || first === undefined) return undefined
      const ledger = new Ledger(stamp)
      const { over, disturbed } = await calmRounds(
        { look: { wanted: 3, max: 3 }, context: { wanted: 5, max: 5 }, claim: { wanted: 5, max: 15 } }[
          effortFor(subject, options)
        ],
        async () => {
          const before = percentSeen(roundMs / 4)
          const madeMs: number[] = []
          let elapsedMs = 0
          await nextTurn()
          // A new histogram for each round, because it would take the time between two rounds for a delay.
          const delay = monitorEventLoopDelay({ resolution: 1 })
          delay.enable()
          const idle = performance.eventLoopUtilization()
          const startMs = performance.now()
          for (const loop of loops) {
            const pending = loop?.run()
            if (pending !== undefined) await pending
            madeMs.push(Date.now())
            await nextTurn()
            elapsedMs = performance.now() - startMs
            if (elapsedMs >= roundMs) break
          }
          const busy = 100 * performance.eventLoopUtilization(idle).utilization
          delay.disable()
          const seen = (before + percentSeen(roundMs / 4)) / 2
          for (const [turn, ms] of madeMs.entries()) ledger.add((loops[turn] ?? first).ids(), ms)
          const rate = (madeMs.length * perTurn) / elapsedMs
          const lateMs = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) => ns / 1e6)
          return { percent: (100 * rate) / stamp.perMs, rate: rate / 1000, seen, busy, lateMs }
        },
        (rounds) => rounds.filter(({ seen }) => seen >= 99.9),
      )
      source.close?.()
      const [usual, slow, slowest] = [0, 1, 2].map((i) => over(({ lateMs }) => lateMs[i] ?? 0).median.toFixed(1))
      const rate = `${over((round) => round.rate).median.toFixed(2)} M/s`
      const busy = `the event loop is busy ${over((round) => round.busy).median.toFixed(0)} % of the time`
      return {
        figure: over(({ percent }) => percent),
        yardstick: over(({ seen }) => seen),
        ratio: over(({ percent, seen }) => percent / seen),
        check: ledger.report(),
        ...disturbed,
        note: `${rate}; ${busy}, a timer of 1 ms takes ${usual} ms, 1 % of them ${slow}, one ${slowest}`,
      }
    },
  }
}

function percentSeen(ms: number) {
  const startMs = performance.now()
  let last = Date.now()
  let ticks = 0
  while (performance.now() - startMs < ms) {
    const now = Date.now()
    if (now !== last) ticks++
    last = now
  }
  return (100 * ticks) / (performance.now() - startMs)
}

export const sustained = [
  sustain('sustained-next', 'next(), sustained', { layout: 'twitter', node: 5 }, keepNext),
  sustain('sustained-fill-async', 'fillAsync(), sustained', { layout: 'twitter', node: 10 }, keepFilledAsync),
]
