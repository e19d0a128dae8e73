import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { effortFor } from '../measure/compare.js'
import { makesIds } from '../measure/keep.js'
import { Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'
import { calmRounds, spread } from '../measure/statistics.js'

/** @import { Source, Subject, Wanted, Workload } from '../contract.js' */

const nsPerMs = 1e6
/** Ids between two turns of the event loop. */
const perTurn = 4096

/**
 * Makes the next ids into a place of its own, from one index to another.
 *
 * @typedef {(from: number, to: number) => void | Promise<unknown>} Make
 */

/**
 * As many ids as there are, for two seconds at a time, with default options, so that each new millisecond is waited for.
 * What is lost is the time between the clock's new millisecond and the first id in it, and ids that a lease left unused;
 * and whole milliseconds, where other programs want the processor. So the ratio is to the milliseconds that a loop sees
 * which does nothing but read the clock, in turns with the ids: near 1, whatever the machine is busy with. Rounds in which
 * that loop missed more than one in a thousand do not count, if there are others.
 *
 * More than 100 % of what a layout has can only be repeats, or ids of the future.
 *
 * The event loop gets a turn after every 4 096 ids, and perf_hooks says for how much of the time it was blocked, and how
 * late its timers were.
 *
 * @param {object} workload
 * @param {string} workload.name
 * @param {string} workload.title
 * @param {Wanted} workload.wanted
 * @param {(subject: Subject, source: Source, most: number) => { make: Make, kept: ArrayLike<any> } | undefined} workload.keep
 * @param {Workload['bars']} workload.bars
 * @returns {Workload}
 */
export function sustained({ name, title, wanted, keep, bars }) {
  return {
    name,
    title,
    unit: '% of capacity',
    yardstick: 'milliseconds seen',
    bars,
    async run(subject, isQuick) {
      if (!makesIds(subject)) return undefined
      const source = (await subject.load())(wanted)
      const stamp = stampOf(subject, wanted)
      const { perMs } = /** @type {import('../contract.js').Stamp} */ (stamp)
      const roundMs = isQuick || subject.group === 'rival' ? 500 : 2000
      // Who makes more than there are is stopped there.
      const most = Math.ceil((roundMs + 2) * perMs * (subject.group === 'rival' ? 3 : 1))
      const made = source && keep(subject, source, most)
      if (made === undefined) return undefined
      const ledger = new Ledger(stamp)
      const { toId = BigInt } = subject
      const { counted, disturbed } = await calmRounds(
        { look: { wanted: 3, most: 3 }, context: { wanted: 5, most: 5 }, claim: { wanted: 5, most: 15 } }[
          effortFor(subject, isQuick)
        ],
        async () => {
          const before = percentSeen(roundMs / 4)
          const turns = []
          let count = 0
          let elapsedMs = 0
          await nextTurn()
          // A new one each time: it would take the time between two rounds for a delay.
          const delay = monitorEventLoopDelay({ resolution: 1 })
          delay.enable()
          const idle = performance.eventLoopUtilization()
          const startMs = performance.now()
          while (elapsedMs < roundMs && count + perTurn <= most) {
            const pending = made.make(count, count + perTurn)
            if (pending !== undefined) await pending
            count += perTurn
            turns.push(Date.now())
            await nextTurn()
            elapsedMs = performance.now() - startMs
          }
          const busy = 100 * performance.eventLoopUtilization(idle).utilization
          delay.disable()
          const seen = (before + percentSeen(roundMs / 4)) / 2
          for (const [turn, madeMs] of turns.entries()) {
            const ids = Array.prototype.slice.call(made.kept, turn * perTurn, (turn + 1) * perTurn)
            ledger.add(BigUint64Array.from(ids, toId), madeMs)
          }
          return {
            percent: (100 * count) / (elapsedMs * perMs),
            rate: count / elapsedMs / 1000,
            seen,
            busy,
            lateMs: [delay.percentile(50), delay.percentile(99), delay.max].map((ns) => ns / nsPerMs),
          }
        },
        // Where other programs took whole milliseconds, they took them from everybody.
        (rounds) => rounds.filter(({ seen }) => seen >= 99.9),
      )
      source?.close?.()
      /** @param {(round: typeof counted[number]) => number} value */
      const over = (value) => spread(counted.map(value))
      const [usual, slow, slowest] = [0, 1, 2].map((i) => over(({ lateMs }) => lateMs[i] ?? 0).median.toFixed(1))
      return {
        figure: over(({ percent }) => percent),
        yardstick: over(({ seen }) => seen),
        ratio: over(({ percent, seen }) => percent / seen),
        check: ledger.report(),
        ...(disturbed > 0 && { disturbed }),
        note: `${over(({ rate }) => rate).median.toFixed(2)} M/s; the event loop is busy ${over(({ busy }) => busy).median.toFixed(0)} % of the time, a timer of 1 ms takes ${usual} ms, 1 % of them ${slow}, one ${slowest}`,
      }
    },
  }
}

/** @param {number} ms */
function percentSeen(ms) {
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
