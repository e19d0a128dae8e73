import { describe, expect, it } from 'vitest'
import { Group } from '../../src/lease/group.js'
import { type Holding, LeaseProtocol } from '../../src/lease/protocol.js'
import { StoreCalls } from '../../src/stores/calls.js'
import { memoryStore } from '../../src/stores/memory.js'
import { VirtualTime } from '../support/virtual-time.ts'

const layout = { epochMs: 0, tickMs: 1, maxTick: 2 ** 41 - 1, nodes: 1 }
const group = new Group('one', 'ids', layout, { count: 1, at: () => 0, has: () => true })
const windowMs = 10_000

/**
 * Acquires a lease from a store whose clock can be set ahead of the host's clock, and renews it once, unless
 * that is left out.
 */
async function leaseOn(durable: boolean, isRenewed = true) {
  const time = new VirtualTime()
  const wallMs = () => 1_000_000 + time.monotonicMs()
  const server = { aheadMs: 0 }
  const nowMs = async () => wallMs() + server.aheadMs
  const store = { ...memoryStore(), durable, incarnation: async () => 'one', nowMs }
  let tokens = 0
  const clock = { wallMs, monotonicMs: () => time.monotonicMs(), random: () => 0.5, newToken: () => `t${++tokens}` }
  const rules = { windowMs, maxClockSkewMs: 1000, durable, strict: false, owner: 'a', writeMs: 60_000 }
  const protocol = new LeaseProtocol({ calls: new StoreCalls(store, time, 60_000), group, rules, clock })
  const first = (await time.until(protocol.acquire('token'))) as Holding
  const holding = isRenewed ? ((await time.until(protocol.renew(first))) as Holding) : first
  /** Renews after two seconds, when the store's clock is `aheadMs` ahead. */
  const renew = async (from: Holding, aheadMs: number) => {
    await time.until(time.sleep(2000))
    server.aheadMs = aheadMs
    return (await time.until(protocol.renew(from))) as Holding
  }
  return { wallMs, holding, renew }
}

describe('a renewal', () => {
  it('refuses a clock of a store that may forget if the clock goes too far ahead between two renewals', async () => {
    const { holding, renew, wallMs } = await leaseOn(false)
    await expect(renew(holding, 1001)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW', option: 'maxClockSkewMs' })
    await expect(renew(holding, 1500)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW' })
    const { record } = await renew(holding, 1000)
    expect(record.ceiling).toBe(wallMs() + 1000 + windowMs)
  })

  it('refuses it at the first renewal, too, however long the acquisition has waited', async () => {
    const { holding, renew } = await leaseOn(false, false)
    await expect(renew(holding, 1500)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW' })
  })

  it('goes on when the clock is right again', async () => {
    const { holding, renew, wallMs } = await leaseOn(false)
    await expect(renew(holding, 3000)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW' })
    expect((await renew(holding, 0)).record.ceiling).toBe(wallMs() + windowMs)
  })

  it('has lapsed, and is not refused, if the clock has passed its ceiling', async () => {
    const { holding, renew } = await leaseOn(false)
    expect(await renew(holding, windowMs)).toBe('lapsed')
  })

  it('takes the clock of a store that never forgets as it is', async () => {
    const { holding, renew, wallMs } = await leaseOn(true)
    expect((await renew(holding, 5000)).record.ceiling).toBe(wallMs() + 5000 + windowMs)
  })
})
