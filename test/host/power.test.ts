import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, failure, opened, ownMemory, type Plan, stateFolder } from '../support/processes.ts'
import { proveCuts } from './power-cuts.ts'

afterEach(cleanUp)

proveCuts(8, 5)

describeWith(['native', 'linux', 'mounts'], 'a process that starts again', () => {
  it('goes by the page if the system was not started since, so no window is lost', async () => {
    const { state } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, maxAheadMs: 3_600_000, windowMs: 60_000 }
    const one = await opened(plan)
    const [last = 0n] = await one.take(1)
    await one.kill()
    const two = await opened(plan)
    const [next = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(last)
    expect((await two.stats()).aheadMs).toBeLessThan(1000)
  })

  it('is refused in a container that has the file and another memory, while the file is in use', async () => {
    const { state } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, maxWaitMs: 10_000 }
    const one = await opened(plan)
    const elsewhere = ownMemory()
    expect(await failure(opened(plan, elsewhere))).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
    const [last = 0n] = await one.take(1)
    await one.close()
    const two = await opened(plan, elsewhere)
    const [next = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(last)
  })
})
