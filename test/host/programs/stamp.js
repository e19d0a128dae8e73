// Makes ids, and logs the highest id so far with a time that is not before the id was made. Opens and closes
// its generator from time to time.
import { openSync, writeSync } from 'node:fs'
import { generatorOf, order } from './order.js'

/** @type {{ plan: import('./order.js').Plan, file: string, forMs: number, reopenMs: number }} */
const { plan, file, forMs, reopenMs } = order()
const out = openSync(file, 'a')
const entry = new BigUint64Array(2)
const startMs = performance.now()
while (performance.now() - startMs < forMs) {
  const ids = generatorOf(plan)
  const openedMs = performance.now()
  while (performance.now() - openedMs < reopenMs && performance.now() - startMs < forMs) {
    for (let i = 0; i < 50; i++) entry[0] = ids.next()
    // The clock is CLOCK_MONOTONIC, as in shim.c.
    entry[1] = process.hrtime.bigint()
    writeSync(out, entry)
  }
  ids.close()
}
