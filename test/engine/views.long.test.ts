import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { expectDistinctSlots, proveViews } from './views.js'

const program = fileURLToPath(new URL('./programs/view-process.js', import.meta.url))

proveViews({ each: 400_000, terminations: 8 })

// The js engine allows one process.
describe.runIf(engines.includes('native'))('views of one node on the host', () => {
  it('4 processes make 400 000 ids each by views at once: no equal slots, and each sees them ascend', async () => {
    const each = 400_000
    const options = JSON.stringify({ engine: 'native', node: 1, namespace: freshNamespace(), state: 'host' })
    const children = Array.from({ length: 4 }, () => spawn(process.execPath, [program, `${each}`, options]))
    const made = children.map(({ stdout }) => buffer(stdout))
    const exits = children.map((child) => once(child, 'close'))
    await Promise.all(children.map(({ stderr }) => once(stderr, 'data')))
    for (const { stdin } of children) stdin.write('x')
    expect(await Promise.all(exits)).toEqual(Array(4).fill([0, null]))
    const ids = (await Promise.all(made)).map((bytes) => new BigUint64Array(Uint8Array.from(bytes).buffer))
    expect(ids.map(({ length }) => length)).toEqual(Array(4).fill(each))
    expectDistinctSlots(ids)
  })
})
