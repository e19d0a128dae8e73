// Takes all remaining slots of one state after another, beside other threads with this program.
import { workerData } from 'node:worker_threads'
import { tsImport } from 'tsx/esm/api'

/** @type {typeof import('../../../src/engine/open.js')} */
const { openCore } = await tsImport('../../../src/engine/open.ts', import.meta.url)
const { engine, specs, nowTick, rounds, turns, counts, lastSlots, index } = workerData
const array = new BigUint64Array(5)

for (let round = 1; round <= rounds; round++) {
  const spec = specs[round % specs.length]
  const clock = () => spec.nowMs
  const core = openCore(engine, { ...spec, clock, key: `${spec.key} ${round}` })
  Atomics.add(turns, 1, 1)
  Atomics.notify(turns, 1)
  Atomics.wait(turns, 0, round - 1)
  let count = 0
  let last = 0n
  // One thread takes ids one by one, the other thread by arrays.
  if (index === 0) {
    for (; core.grant({ nowTick, limitTick: spec.maxTick }) === 0; count++) last = core.id
  } else {
    const fill = () => core.fill(array, 0, 5, { nowTick, limitTick: spec.maxTick })
    for (let filled = fill(); filled > 0; filled = fill()) {
      count += filled
      last = array[filled - 1] ?? 0n
    }
  }
  const bits = BigInt(spec.sequenceBits)
  lastSlots[index] = ((last >> (bits + 10n)) << bits) | (last & ((1n << bits) - 1n))
  counts[index] = count
  Atomics.add(turns, 2, 1)
  Atomics.notify(turns, 2)
}
