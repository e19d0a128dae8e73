// Measures next() by the runtime's foreign function interface and by Node-API, in turns:
// RUNTIME bench/ffi/next.mjs LIBRARY FOLDER. Prints JSON.
import { createGenerator, defineLayout, engineInfo } from 'graupel'
import { descents, open, runtime } from './library.mjs'

const [path, folder] = process.argv.slice(2)
const count = 16_384
const rounds = 300

const { library, mailbox } = await open(path, folder, 1)
const fields = [
  ['timestamp', 41],
  ['node', 2],
  ['sequence', 20],
]
const layout = defineLayout({ name: 'roomy', epochMs: 1_577_836_800_000, tickMs: 1, fields })
const generator = createGenerator({ node: 2, layout, engine: 'native', state: 'host' })
if (engineInfo().kind !== 'native') throw new Error(engineInfo().reason)

// Each call is in a loop of its own, so that the engine compiles each for itself.
const calls = {
  'Node-API': ['calls.next()', { next: generator.next }],
  u64: ['calls.take() || calls.again()', { take: library.graupel_next, again: retry(library.graupel_next) }],
  memory: [
    '(calls.into(), mailbox[0]) || calls.again()',
    {
      into: library.graupel_next_into,
      again: retry(() => {
        library.graupel_next_into()
        return mailbox[0]
      }),
    },
  ],
}
const bare = {
  nothing: ['(calls.bare(), 1n)', { bare: library.graupel_nothing }],
  u32: ['(calls.bare() === 7 ? 1n : 0n)', { bare: library.graupel_number }],
  u64: ['calls.bare()', { bare: library.graupel_bigint }],
}

function retry(next) {
  return () => {
    for (;;) {
      const id = next()
      if (id !== 0n) return id
    }
  }
}

function subjects(kept, ids, all) {
  return Object.entries(all).map(([name, [call, functions]]) => {
    const names = Object.keys(functions).map((key) => `const ${key} = functions.${key};`)
    const body = `${names.join(' ')} return () => { for (let i = 0; i < ${count}; i++) ids[i] = ${call.replaceAll('calls.', '')} }`
    const run = new Function('functions', 'ids', 'mailbox', body)(functions, ids, mailbox)
    return { name, kept, ids, run, times: [], faults: 0, last: 0n, isChecked: all === calls }
  })
}

const all = [
  ...subjects('written', new BigUint64Array(count), calls),
  ...subjects('kept', new Array(count).fill(0n), calls),
  ...subjects('bare', new BigUint64Array(count), bare),
]
for (let round = 0; round < rounds + 20; round++) {
  for (const one of all) {
    const start = process.hrtime.bigint()
    one.run()
    const ns = Number(process.hrtime.bigint() - start) / count
    if (round >= 20) one.times.push(ns)
    if (!one.isChecked) continue
    one.faults += descents(one.ids) + (one.ids[0] > one.last ? 0 : 1)
    one.last = one.ids[count - 1]
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const rows = all.map(({ name, kept, times, faults }) => {
  const base = all.find((one) => one.name === 'Node-API' && one.kept === (kept === 'bare' ? 'written' : kept))
  const ratio = median(times.map((ns, i) => ns / base.times[i]))
  return { name, kept, ns: median(times), ratio, faults }
})
const version = { node: process.version, deno: globalThis.Deno?.version.deno, bun: globalThis.Bun?.version }[runtime]
console.log(JSON.stringify({ runtime, version, rows }))
generator.close()
