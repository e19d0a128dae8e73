import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong, expectRefusedAt } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { type Obedient, opened, type Plan, stateFolder } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { proveStops } from './stops.ts'

proveStops({ stops: 20, longMs: 1500 })

/** @param state - The path of a state file. */
function planOf(state: string): Plan {
  return { node: 1, namespace: freshNamespace(), state, reserveMs: 400, maxWaitMs: 60_000, openTimeoutMs: 60_000 }
}

describeWith(['native', 'linux', 'shim'], 'a process that is stopped in the middle of a sync', () => {
  it('blocks other processes at their ceiling until it goes on', async () => {
    const { state, env, order, isOrderDone } = stateFolder()
    const plan = planOf(state)
    const stopped = await opened(plan, { env })
    const other = await opened(plan)
    order('stop')
    // The call does not return. The other process may have begun one rise.
    const never = stopped.issue({ rises: 3 })
    await until(isOrderDone)
    const ahead = await other.issueUntilRefused()
    expect(ahead.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
    expect(ahead.error?.message).toMatch(/locked by another process for more than a second/)
    expectRefusedAt(ahead.ceilingMs, ahead)
    stopped.started.child.kill('SIGCONT')
    const made = [ahead.ids]
    // The lock is free when the process has run again, which a busy machine puts off.
    const goesOn = async (process: Obedient) => {
      const { ids, error } = await process.issue({ rises: 1 })
      made.push(ids)
      return error === undefined
    }
    await until(() => goesOn(other))
    // The process may report that it has waited for too long, which is true.
    made.push((await never).ids)
    await until(() => goesOn(stopped))
    expect(duplicatesAmong(made)).toBe(0)
  })

  it('and killed there does not block other processes', async () => {
    const { state, env, order, isOrderDone } = stateFolder()
    const plan = planOf(state)
    const stopped = await opened(plan, { env })
    const other = await opened(plan)
    order('stop')
    stopped.issue({ rises: 3 }).catch(() => {})
    await until(isOrderDone)
    await stopped.kill()
    const after = await other.issue({ rises: 2 })
    expect(after.error).toBeUndefined()
  })
})
