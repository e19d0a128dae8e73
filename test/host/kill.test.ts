import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { deletePages } from '../support/pages.ts'
import { opened, type Plan, stateFolder } from '../support/processes.ts'
import { proveKills } from './kill-chain.ts'

proveKills(5, 2)

describeWith(['native', 'linux'], 'after SIGKILL, with all defaults', () => {
  it('a new state file is opened again at once, even if the memory is lost, too', async () => {
    const own: Plan = { node: 1, namespace: freshNamespace(), state: stateFolder().state }
    const first = await opened(own)
    const before = await first.take(3)
    await first.kill()
    deletePages(own.namespace ?? '')
    const second = await opened(own)
    const after = await second.take(3)
    expect((after[0] ?? 0n) > (before[2] ?? 0n)).toBe(true)
    await second.close()
  })
})
