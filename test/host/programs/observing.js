// Observes an id of another node, makes ids if its order says so, and prints both. Ends then, or waits to be
// killed.
import { writeSync } from 'node:fs'
import { composeId, layouts } from 'graupel'
import { generatorOf, order } from './order.js'

/**
 * @typedef {object} Order
 * @property {import('./order.js').Plan} plan
 * @property {number} aheadMs - How far the id is ahead of the clock.
 * @property {number} count - Ids to make before and after the id is observed.
 * @property {boolean} [isKilled]
 */

/** @type {Order} */
const { plan, aheadMs, count, isKilled = false } = order()
const ids = generatorOf(plan)
const before = ids.take(count)
const seen = ids.observe(composeId({ timestampMs: Date.now() + aheadMs, node: 1023, sequence: 9 }, layouts.twitter))
const after = ids.take(count)
const text = (/** @type {bigint[]} */ some) => some.map(String)
const { ceilingMs } = ids.stats()
writeSync(1, `${JSON.stringify({ before: text(before), seen: String(seen), after: text(after), ceilingMs })}\n`)
if (isKilled) setInterval(() => {}, 1000)
else ids.close()
