// Runs in a project that has installed the package, as `smoke.mjs RESULT SERVICE`, on any runtime of
// JavaScript, and writes the outcome to the file RESULT. It is the test for runtimes without a test runner.
import { strict as assert } from 'node:assert'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createGenerator, decode, engineInfo, layouts } from 'graupel'
import { digestOfScript } from './script.mjs'
import { useClient } from './use-client.mjs'

const warnings: unknown[] = []
process.on('warning', (warning) => warnings.push((warning as Error & { code?: string }).code))

const engine = engineInfo()
const isNative = engine.kind === 'native'
const namespace = `smoke ${process.pid} ${Math.random()}`

assert.equal(decode(175928847299117063n, layouts.discord).timestampMs, 1462015105796)

// The CommonJS form is a copy of the package, and shares the state.
const required = createRequire(import.meta.url)('graupel') as { createGenerator: typeof createGenerator }
const both = [createGenerator, required.createGenerator].map((create) => create({ node: 8, namespace }))
const mixed = Array.from({ length: 10_000 }, () => both.map((one) => one.next())).flat()
assert.equal(new Set(mixed).size, mixed.length)

const ids = createGenerator({ node: 7, namespace })
const made = new BigUint64Array(200_000)
for (let i = 0; i < made.length / 2; i++) made[i] = ids.next()
await ids.fillAsync(made.subarray(made.length / 2))
for (let i = 1; i < made.length; i++) {
  assert((made[i] as bigint) > (made[i - 1] as bigint), `ids ${i - 1} and ${i} do not ascend`)
}

// Threads on one node.
const count = 20_000
const worker = new Worker(new URL('./smoke-worker.mjs', import.meta.url), { workerData: { namespace, count } })
const fromWorker = new Promise<bigint[]>((resolve, reject) => worker.on('message', resolve).on('error', reject))
const here = ids.take(count)
const distinct = new Set([...here, ...(await fromWorker)]).size
assert.equal(distinct, 2 * count)

// A state file keeps the word, and closes cleanly.
if (isNative) {
  const state = join(tmpdir(), `graupel-smoke-${process.pid}.state`)
  const first = createGenerator({ node: 9, namespace, state })
  const before = first.take(5000).at(-1) as bigint
  first.close()
  const second = createGenerator({ node: 9, namespace, state })
  assert(second.next() > before)
  second.close()
  assert(readFileSync(state).length > 0)
  rmSync(state)
}

// The client takes ids of a service by the fetch of this runtime.
const fetched = await useClient(process.argv[3] as string)

await new Promise((resolve) => setTimeout(resolve, 1))
assert.deepEqual(warnings, isNative ? [] : ['GRAUPEL_JS_ENGINE'])
const { bun, deno } = process.versions
const runtime = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${process.versions.node}`
const { platform, arch } = process
writeFileSync(
  process.argv[2] as string,
  JSON.stringify({
    runtime,
    platform,
    arch,
    ...engine,
    ids: made.length + 2 * count + fetched,
    digest: digestOfScript(engine.kind),
  }),
)
