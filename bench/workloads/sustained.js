import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makesIds } from '../measure/keep.js'
import { Ledger } from '../measure/ledger.js'
import { stampOf } from '../measure/stamps.js'
import { spread } from '../measure/statistics.js'

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
 * which does nothing but read the clock, in turns with the ids: near 1, whatever the machine is busy with.
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
      const percents = []
      const seen = []
      const ratios = []
      const rates = []
      const busy = []
      /** @type {number[][]} */
      const lateNs = []
      for (let round = 0; round < (isQuick ? 3 : 5); round++) {
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
        busy.push(100 * performance.eventLoopUtilization(idle).utilization)
        delay.disable()
        lateNs.push([delay.percentile(50), delay.percentile(99), delay.max])
        const percent = (100 * count) / (elapsedMs * perMs)
        const yardstick = (before + percentSeen(roundMs / 4)) / 2
        percents.push(percent)
        rates.push(count / elapsedMs / 1000)
        seen.push(yardstick)
        ratios.push(percent / yardstick)
        const { toId = BigInt } = subject
        for (const [turn, madeMs] of turns.entries()) {
          const ids = Array.prototype.slice.call(made.kept, turn * perTurn, (turn + 1) * perTurn)
          ledger.add(BigUint64Array.from(ids, toId), madeMs)
        }
      }
      source?.close?.()
      const lateMs = [0, 1, 2].map((i) => (spread(lateNs.map((late) => late[i] ?? 0)).median / nsPerMs).toFixed(1))
      return {
        figure: spread(percents),
        yardstick: spread(seen),
        ratio: spread(ratios),
        check: ledger.report(),
        note: `${spread(rates).median.toFixed(2)} M/s; the event loop is busy ${spread(busy).median.toFixed(0)} % of the time, a timer of 1 ms takes ${lateMs[0]} ms, 1 % of them ${lateMs[1]}, one ${lateMs[2]}`,
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
