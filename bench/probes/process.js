import { keepNext } from '../measure/keep.js'
import { subjects } from '../subjects/index.js'

/** @import { Source, Subject } from '../contract.js' */

/**
 * One of the processes of `workloads/processes.js`: makes ids when told to, and sends them.
 *
 * @typedef {{ count: number, startMs: number }} ProcessTask - When all of them start, by the clock.
 * @typedef {{ startNs: bigint, endNs: bigint, ids: BigUint64Array<ArrayBuffer> }} ProcessReport
 */

const [name, wanted] = process.argv.slice(2)
const subject = /** @type {Subject} */ (subjects.find((subject) => subject.name === name))
const source = /** @type {Source} */ ((await subject.load())(JSON.parse(/** @type {string} */ (wanted))))

process.on('message', async (/** @type {ProcessTask} */ { count, startMs }) => {
  const { run, ids } = /** @type {import('../measure/keep.js').Kept} */ (keepNext(subject, source, count))
  // Awake, and with code that V8 has made fast: the first ids are the ones that meet.
  while (Date.now() < startMs) {}
  const startNs = process.hrtime.bigint()
  const pending = run()
  if (pending !== undefined) await pending
  process.send?.({ startNs, endNs: process.hrtime.bigint(), ids: ids() })
})
process.send?.('ready')
