import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { repetitions } from '../support/short.js'
import { expectDistinctSlots, proveViews } from './views.js'

const program = fileURLToPath(new URL('./programs/view-process.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-views-'))
afterAll(() => rmSync(folder, { recursive: true }))

proveViews({ each: repetitions(400_000, 40_000), terminations: repetitions(8, 2) })

/** Starts processes that make ids by views, and begin together. Returns the ids of each. */
async function idsOfProcesses(count: number, each: number, options: object): Promise<BigUint64Array[]> {
  const order = [program, `${each}`, JSON.stringify({ engine: 'native', node: 1, ...options })]
  const children = Array.from({ length: count }, () => spawn(process.execPath, order))
  const made = children.map(({ stdout }) => buffer(stdout))
  const exits = children.map((child) => once(child, 'close'))
  await Promise.all(children.map(({ stderr }) => once(stderr, 'data')))
  for (const { stdin } of children) stdin.write('x')
  expect(await Promise.all(exits)).toEqual(Array(count).fill([0, null]))
  return (await Promise.all(made)).map((bytes) => new BigUint64Array(Uint8Array.from(bytes).buffer))
}

// The js engine allows one process.
describe.runIf(engines.includes('native'))('views of one node on the host', () => {
  it.each([
    ['a page', () => 'host'],
    ['a state file', () => join(folder, 'ids.state')],
  ])('4 processes with %s make ids by views at once: no equal slots, and each sees them ascend', async (_, stateOf) => {
    const each = repetitions(400_000, 40_000)
    const options = { namespace: freshNamespace(), state: stateOf(), maxWaitMs: 10_000 }
    const first = await idsOfProcesses(4, each, options)
    // Other processes continue where these have ended.
    const all = [...first, ...(await idsOfProcesses(2, each, options))]
    expect(all.map(({ length }) => length)).toEqual(Array(6).fill(each))
    expectDistinctSlots(all)
  })
})
