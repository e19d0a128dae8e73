import { describe, expect, it } from 'vitest'
import { Group } from '../../src/lease/group.js'
import { ServerLife } from '../../src/lease/server-life.js'
import { StoreCalls } from '../../src/stores/calls.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { VirtualTime } from '../support/virtual-time.ts'

const layout = { epochMs: 0, tickMs: 1, maxTick: 2 ** 41 - 1, nodes: 1 }
const group = new Group('one', 'ids', layout, { count: 1, at: () => 0, has: () => true })
const rules = { windowMs: 6000, maxClockSkewMs: 1000, durable: false, strict: false, owner: 'a', writeMs: 60_000 }

/** A server that may forget; `beforeWrite` is called before each write is done. */
function lifeOn(
  time: VirtualTime,
  beforeWrite: () => Promise<void>,
  aheadMs = () => 0,
  incarnation = () => 'the only life',
) {
  const nowMs = () => 1_000_000 + aheadMs() + time.monotonicMs()
  let memory = memoryStore()
  const store: Store = {
    ...memory,
    read: async (key) => memory.read(key),
    durable: false,
    incarnation: async () => incarnation(),
    nowMs: async () => nowMs(),
    async write(key, value, expected) {
      await beforeWrite()
      return memory.write(key, value, expected)
    },
  }
  let tokens = 0
  const clock = {
    wallMs: nowMs,
    monotonicMs: () => time.monotonicMs(),
    random: () => 0.5,
    newToken: () => `t${++tokens}`,
  }
  const calls = new StoreCalls(store, time, 60_000)
  const life = new ServerLife({ calls, group, rules, clock })
  const remove = () => {
    memory = memoryStore()
  }
  return { life, nowMs, remove }
}

it('a server is believed eleven seconds after it was first seen', async () => {
  const time = new VirtualTime()
  const { life, nowMs } = lifeOn(time, async () => {})
  const proof = await time.until(life.prove(0, undefined))
  expect(proof.forgottenMs).toBe(1_011_000)
  expect(nowMs()).toBe(1_011_001)
})

it('a server that was emptied while the first write was under way is believed from that write on', async () => {
  const time = new VirtualTime()
  let writes = 0
  const { life, nowMs } = lifeOn(time, async () => {
    // A lease that was granted before may be forgotten.
    if (++writes === 1) await time.sleep(25_000)
  })
  const proof = await time.until(life.prove(0, undefined))
  expect(proof.forgottenMs).toBe(1_036_000)
  expect(nowMs()).toBe(1_036_001)
})

it('a server that is another one at each look is refused after some writes', async () => {
  const time = new VirtualTime()
  let [writes, looks] = [0, 0]
  const count = async () => {
    writes++
  }
  const { life } = lifeOn(
    time,
    count,
    () => 0,
    () => `life ${++looks % 2}`,
  )
  await expect(time.until(life.prove(0, undefined))).rejects.toMatchObject({
    code: 'ERR_STORE_UNSAFE',
    message: expect.stringMatching(/another one at each of 9 looks.*give an address that leads to one server/),
  })
  expect(writes).toBe(8)
})

describe('a server whose clock was an hour ahead when it was first seen', () => {
  const hourMs = 3_600_000

  /** The clock is right again when the first lease waits. */
  async function corrected(backMs: number) {
    const time = new VirtualTime()
    let aheadMs = hourMs
    const { life, nowMs, remove } = lifeOn(
      time,
      async () => {},
      () => aheadMs,
    )
    const first = life.prove(0, undefined)
    first.catch(() => {})
    await time.until(time.sleep(5000))
    aheadMs -= backMs
    return { time, life, nowMs, remove, first }
  }

  it('is refused until the time that was seen, and not waited for', async () => {
    const { time, life, nowMs, first } = await corrected(hourMs)
    const refusal = {
      code: 'ERR_CLOCK_SKEW',
      message: expect.stringMatching(
        /1970-01-01T00:16:45.000Z.*hold until 1970-01-01T01:16:51.000Z.*remove the record .*life$/,
      ),
    }
    await expect(time.until(life.prove(0, undefined))).rejects.toMatchObject(refusal)
    // The lease that waits already is refused after its eleven seconds.
    await expect(time.until(first)).rejects.toMatchObject({ code: 'ERR_CLOCK_SKEW' })
    expect(nowMs()).toBeLessThan(1_012_000)

    await time.until(time.sleep(hourMs + 11_000))
    const { forgottenMs } = await time.until(life.prove(0, undefined))
    expect(forgottenMs).toBe(1_000_000 + hourMs + 11_000)
  })

  it('is waited for if the clock went back by no more than maxClockSkewMs', async () => {
    const { time, life } = await corrected(6000)
    const { forgottenMs } = await time.until(life.prove(0, undefined))
    expect(forgottenMs).toBe(1_000_000 + hourMs + 11_000)
  })

  it('is believed again after eleven seconds once its record is removed', async () => {
    const { time, life, nowMs, remove } = await corrected(hourMs)
    remove()
    await time.until(life.prove(0, undefined))
    expect(nowMs()).toBe(1_016_001)
  })
})
