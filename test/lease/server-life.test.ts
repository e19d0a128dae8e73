import { expect, it } from 'vitest'
import { Group } from '../../src/lease/group.js'
import { ServerLife, StoreClock } from '../../src/lease/server-life.js'
import { StoreCalls } from '../../src/stores/calls.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { VirtualTime } from '../support/virtual-time.ts'

const layout = { epochMs: 0, tickMs: 1, maxTick: 2 ** 41 - 1, nodes: 1 }
const group = new Group('one', 'ids', layout, { count: 1, at: () => 0, has: () => true })
const rules = { windowMs: 6000, maxClockSkewMs: 1000, durable: false, owner: 'a', writeMs: 60_000 }

/** A server that may forget; `beforeWrite` is called before each write is done. */
function lifeOn(time: VirtualTime, beforeWrite: () => Promise<void>) {
  const nowMs = () => 1_000_000 + time.monotonicMs()
  const memory = memoryStore()
  const store: Store = {
    ...memory,
    durable: false,
    incarnation: async () => 'the only life',
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
  return { life: new ServerLife(calls, group, rules, clock, new StoreClock(calls, rules, clock)), nowMs }
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
