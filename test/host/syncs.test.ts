import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, opened, type Plan, stateFolder } from '../support/processes.ts'

// The number of syncs of a state file.

afterEach(cleanUp)

describeWith(['native', 'linux', 'shim'], 'a state file that three processes use', () => {
  const reserveMs = 400

  it('is synced at most once in half of `reserveMs` while they issue ids, and never while they are idle', async () => {
    const disk = stateFolder()
    const syncsIn = (file: string) => readFileSync(join(disk.watch, file), 'utf8').match(/ s$/gm)?.length ?? 0
    const syncs = () => syncsIn('events')
    const plan: Plan = {
      node: 1,
      namespace: freshNamespace(),
      state: disk.state,
      reserveMs,
      maxWaitMs: 2000,
      openTimeoutMs: 2000,
    }
    const all = await Promise.all([opened(plan, disk), opened(plan, disk), opened(plan, disk)])
    const startMs = performance.now()
    // The first ceiling is synced at most once for each process.
    const atStart = syncs()
    expect(atStart).toBeGreaterThanOrEqual(1)
    expect(atStart).toBeLessThanOrEqual(all.length)
    const issued = await Promise.all(all.map((one) => one.issue({ rises: 8 })))
    expect(issued.map(({ error }) => error)).toEqual([undefined, undefined, undefined])
    const whileIssuing = syncs() - atStart
    const halves = (performance.now() - startMs) / (reserveMs / 2)
    expect(whileIssuing).toBeLessThanOrEqual(halves + 1)
    // Without a lower bound, the upper bound would prove nothing.
    expect(whileIssuing).toBeGreaterThan(3)
    const before = syncs()
    // Nothing happens to this file, while another file with the same `reserveMs` is synced as often as time
    // demands.
    const clock = await opened({ ...plan, namespace: freshNamespace(), state: stateFolder().state })
    expect((await clock.issue({ rises: 6 })).error).toBeUndefined()
    expect(syncs()).toBe(before)
    for (const one of all) await one.close()
    // The last process to close leaves the exact word.
    expect(syncs()).toBe(before + 1)
    // Each process has synced the folder when it opened the file.
    expect(syncsIn('names')).toBe(all.length)
  })
})
