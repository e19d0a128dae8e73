import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { type ExpectStatic, expect, it } from 'vitest'
import { freshNamespace } from '../engines.ts'
import { descentsIn, duplicatesAmong, readIds, recordsOf, seededRandom, total } from './ids.ts'
import { describeWith } from './needs.ts'
import { opened, type Plan, said, sleep, start, stateFolder } from './processes.ts'

// Processes that are put aside by SIGSTOP, wherever they are, and go on later.

const longMs = 10_000

describeWith(['native', 'linux'], 'a process that is stopped for a while', () => {
  const timeout = 120_000

  it.concurrent('makes no id that others have made meanwhile, on host state', { timeout }, ({ expect }) =>
    stopAndGo('host', expect),
  )
  it.concurrent('makes no id that others have made meanwhile, on file state', { timeout }, ({ expect }) =>
    stopAndGo('file', expect),
  )
})

async function stopAndGo(place: 'host' | 'file', expect: ExpectStatic): Promise<void> {
  const { folder, state } = stateFolder()
  const file = join(folder, 'record')
  const plan: Plan = {
    node: 1,
    namespace: freshNamespace(),
    // Others must wait while it is stopped with the lock.
    ...(place === 'file' && { state, windowMs: 200, maxWaitMs: 60_000 }),
  }
  const random = seededRandom(`stopped on ${place} state`)
  // Of different speed; the first is the one that is stopped.
  const paces = [0, 0, 1, 7]
  const all = paces.map((pauseMs) => start('record.js', { plan, file, batch: 64, pauseMs }))
  await Promise.all(all.map((one) => said(one, 'i')))
  const [victim] = all
  const stopFor = async (ms: number) => {
    victim?.child.kill('SIGSTOP')
    await sleep(ms)
    victim?.child.kill('SIGCONT')
    await sleep(random() * 8)
  }
  for (let i = 0; i < 100; i++) await stopFor(random() * 20)
  const own = join(folder, `record.${victim?.child.pid}.0`)
  victim?.child.kill('SIGSTOP')
  await sleep(50)
  const before = readIds(own).length
  const ofAll = total(recordsOf(file))
  await sleep(longMs)
  // It was stopped, and the others were not, unless it has the lock.
  expect(readIds(own).length).toBe(before)
  if (place === 'host') expect(total(recordsOf(file))).toBeGreaterThan(ofAll + 100_000)
  victim?.child.kill('SIGCONT')
  await expect.poll(() => readIds(own).length, { timeout: 30_000 }).toBeGreaterThan(before)
  await Promise.all(all.map(({ kill }) => kill()))
  for (const { ended } of all) expect(await ended).toMatchObject({ signal: 'SIGKILL', errors: '' })
  const records = recordsOf(file)
  expect(records).toHaveLength(paces.length)
  expect(records.map(descentsIn)).toEqual(Array(paces.length).fill(0))
  expect(duplicatesAmong(records)).toBe(0)
}

describeWith(['native', 'linux', 'shim'], 'a process that is stopped in the middle of a sync', () => {
  it('holds up the others at their ceiling, until it goes on', async () => {
    const { state, env, order, isOrderDone } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, windowMs: 400, maxWaitMs: 3000 }
    const stopped = await opened(plan, { env })
    const other = await opened(plan)
    order('stop')
    // It does not come back from there.
    const never = stopped.issue(3000, 1)
    await expect.poll(isOrderDone).toBe(true)
    const ahead = await other.issue(10_000, 1)
    expect(ahead.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
    expect(ahead.error?.message).toMatch(/locked by another process for more than a second/)
    expect(ahead.ids.length).toBeGreaterThan(0)
    expect(decode(ahead.ids.at(-1) ?? 0n, layouts.twitter).timestampMs).toBeLessThan(ahead.ceilingMs ?? 0)
    stopped.started.child.kill('SIGCONT')
    const after = await other.issue(500, 1)
    expect(after.error).toBeUndefined()
    expect(after.ids.length).toBeGreaterThan(0)
    // It may find that it has waited for too long, which it has.
    const late = await never
    const again = await stopped.issue(100, 1)
    expect(again.error).toBeUndefined()
    expect(duplicatesAmong([ahead.ids, after.ids, late.ids, again.ids])).toBe(0)
  })

  it('and killed there, holds up nobody', async () => {
    const { state, env, order, isOrderDone } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, windowMs: 400, maxWaitMs: 3000 }
    const stopped = await opened(plan, { env })
    const other = await opened(plan)
    order('stop')
    stopped.issue(3000, 1).catch(() => {})
    await expect.poll(isOrderDone).toBe(true)
    await stopped.kill()
    const after = await other.issue(1000, 1)
    expect(after.error).toBeUndefined()
    expect(decode(after.ids.at(-1) ?? 0n, layouts.twitter).timestampMs).toBeGreaterThan(Date.now() - 1000)
  })
})
