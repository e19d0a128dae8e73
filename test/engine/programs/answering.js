// Answers each id on stdin by an id of its own on stdout, and counts the answers that are not larger. Writes
// the counts to stderr after so many answers; hosts.long.test.ts judges them.
import { createGenerator, defineLayout, layouts } from 'graupel'

const { node, namespace, wanted, observes } = JSON.parse(process.argv[2] ?? '')
const { epochMs } = layouts.twitter
const fields = /** @type {const} */ ([
  ['timestamp', 41],
  ['sequence', 12],
  ['worker', 10],
])
const layout = defineLayout({ name: 'hybrid', epochMs, tickMs: 1, fields })
const ids = createGenerator({ node, namespace, layout, maxAheadMs: 10_000, onOverflow: 'advance' })
const counts = { pairs: 0, inversions: 0, disorder: 0 }
let last = 0n
/** @type {Buffer} */
let rest = Buffer.alloc(0)
let isDone = false

process.stdin.on('data', (/** @type {Buffer} */ part) => {
  const bytes = rest.length === 0 ? part : Buffer.concat([rest, part])
  const count = Math.floor(bytes.length / 8)
  rest = bytes.subarray(count * 8)
  const answers = Buffer.alloc(count * 8)
  for (let i = 0; i < count; i++) {
    const question = bytes.readBigUInt64LE(i * 8)
    if (observes) ids.observe(question)
    const answer = ids.next()
    if (answer <= question) counts.inversions++
    if (answer <= last || ids.decode(answer).node !== node) counts.disorder++
    last = answer
    counts.pairs++
    answers.writeBigUInt64LE(answer, i * 8)
  }
  process.stdout.write(answers)
  if (counts.pairs < wanted || isDone) return
  isDone = true
  // The others go on until they have enough. The parent ends this process.
  process.stderr.end(JSON.stringify(counts))
})
