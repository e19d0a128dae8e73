import { createGenerator, defineLayout } from 'graupel'

// Makes ids while stderr, which the program has replaced, makes ids of the same thread. Prints how many there
// are, and how many differ.

let now = Date.UTC(2026, 0, 1)
const layout = defineLayout({
  name: 'hooked',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['node', 4],
    ['sequence', 12],
  ],
})
const namespace = `hooked ${process.pid}`
const ids = createGenerator({ node: 7, layout, namespace, clock: () => now, onRollback: 'reuse' })
/** @type {string[]} */
const made = []
let isInside = false
process.stderr.write = () => {
  if (isInside) return true
  isInside = true
  try {
    made.push(ids.nextString())
  } catch {}
  isInside = false
  return true
}
// Forth, and then back, which takes ids that an earlier tick has left.
for (const [step, count] of /** @type {const} */ ([
  [1, 60],
  [-1, 40],
])) {
  for (let i = 0; i < count; i++) {
    now += step
    made.push(ids.next().toString(), ids.nextString())
  }
}
console.log(JSON.stringify({ made: made.length, different: new Set(made).size }))
