import { createGenerator, decode, defineLayout } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'

const layout = defineLayout({
  name: 'sharded',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 4],
    ['shard', 6, 'tag'],
    ['sequence', 8],
  ],
})

describe.each(engines)('views of a leased generator on the %s engine', (engine) => {
  it('share one lease, follow it to the next acquisition, and close with their generator', async () => {
    const store = memoryStore()
    const lease = await acquireLease({ store, layout, namespace: freshNamespace() })
    const ids = createGenerator({ lease, engine, maxWaitMs: 10_000 })
    const views = [1, 2, 3].map((shard) => ids.with({ shard }))
    const round = () => views.flatMap((view) => [view.next(), ...view.take(300)])
    const made = round()
    await lease.park()
    expect(() => views[1]?.next()).toThrow(expect.objectContaining({ code: 'ERR_LEASE_EXPIRED' }))
    await lease.resume()
    for (let i = 0; i < 4; i++) made.push(...round())
    const slots = made.map((id) => id & ~(0x3fn << 8n))
    expect(new Set(slots).size).toBe(made.length)
    const times = made.map((id) => decode(id, layout).timestampMs)
    expect(times.every((ms, i) => i === 0 || ms >= (times[i - 1] as number))).toBe(true)
    expect(new Set(made.map((id) => decode(id, layout).tags.shard))).toEqual(new Set([1, 2, 3]))
    ids.close()
    expect(() => views[0]?.next()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    await lease.release()
  })
})
