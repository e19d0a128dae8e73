import { decode, layouts } from 'graupel'
import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { opened, type Plan, stateFolder } from '../support/processes.ts'
import { proveStops } from './stops.ts'

proveStops({ stops: 20, longMs: 1500 })

describeWith(['native', 'linux', 'shim'], 'a process that is stopped in the middle of a sync', () => {
  it('blocks other processes at their ceiling until it goes on', async () => {
    const { state, env, order, isOrderDone } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, windowMs: 400, maxWaitMs: 3000 }
    const stopped = await opened(plan, { env })
    const other = await opened(plan)
    order('stop')
    // The call does not return.
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
    // The process may report that it has waited for too long, which is true.
    const late = await never
    const again = await stopped.issue(100, 1)
    expect(again.error).toBeUndefined()
    expect(duplicatesAmong([ahead.ids, after.ids, late.ids, again.ids])).toBe(0)
  })

  it('and killed there does not block other processes', async () => {
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
