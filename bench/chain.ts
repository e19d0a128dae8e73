// Measures the chains of docs/order.md: `npx tsx bench/chain.ts`. Two generators answer each other without a
// pause, and each observes the id of the other. Prints the steps a second, and how far the ids are ahead of
// the clock after 50 ms.
import { createGenerator, defineLayout, type Field, type Layout, layouts } from 'graupel'

const { epochMs, tickMs } = layouts.twitter
const fields: Field[] = [
  ['timestamp', 41],
  ['sequence', 12],
  ['worker', 10],
]
const sequenceAboveNode = defineLayout({ name: 'ours', epochMs, tickMs, fields })
const secondMs = 1000

for (const layout of [layouts.twitter, layouts.sonyflake, sequenceAboveNode] as readonly Layout[]) {
  const ids = [1, 2].map((node) => createGenerator({ node, layout, namespace: 'chain', maxWaitMs: secondMs }))
  const begin = performance.now()
  let steps = 0
  let last = 0n
  let aheadMs: number | undefined
  // The first second leads the ids to maxAheadMs, if the layout does so at all. The second one is measured.
  let stepsBefore = 0
  for (let now = begin; now < begin + 2 * secondMs; now = performance.now()) {
    for (const one of ids) {
      if (last !== 0n) one.observe(last)
      const id = one.next()
      if (id <= last) throw new Error(`${id} is not above ${last}`)
      last = id
      steps++
    }
    if (aheadMs === undefined && now > begin + 50) aheadMs = ids[0]?.stats().aheadMs
    if (now < begin + secondMs) stepsBefore = steps
  }
  console.log(`${layout.name}: ${steps - stepsBefore} steps a second, ${aheadMs} ms ahead after 50 ms`)
  for (const one of ids) one.close()
}
