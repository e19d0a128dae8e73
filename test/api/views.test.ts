import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGenerator, decode, defineLayout } from 'graupel'
import { defineKind } from 'graupel/kind'
import { createMask } from 'graupel/mask'
import { createUuidGenerator, decodeUuid } from 'graupel/uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { expectAscending } from '../support/ids.js'
import { shardedFields } from '../support/sharded.ts'

const epochMs = Date.UTC(2024, 0, 1)
const layout = defineLayout({
  name: 'sharded',
  epochMs,
  tickMs: 1,
  fields: shardedFields,
})
const slotOf = (id: bigint) => id & ~(63n << 8n)

const folder = mkdtempSync(join(tmpdir(), 'graupel-views-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(engines)('a view on the %s engine', (engine) => {
  const optionsOf = () => ({ engine, layout, node: 7, namespace: freshNamespace() })

  it('makes ids for a kind and for a mask, which keep the tag', () => {
    using ids = createGenerator(optionsOf())
    const view = ids.with({ shard: 5 })
    const order = defineKind({ prefix: 'ord', layout })
    const { hide, reveal } = createMask(Uint8Array.from({ length: 32 }, (_, i) => i))
    const [first, second] = view.take(2) as [bigint, bigint]
    expect(decode(order.id(order.text(first)), layout).tags).toEqual({ shard: 5 })
    expect(order.text(first) < order.text(second)).toBe(true)
    expect(decode(reveal(hide(first)), layout)).toMatchObject({ node: 7, tags: { shard: 5 } })
  })

  it('makes UUIDs of its tag from the slots that other views do not take', () => {
    using ids = createGenerator(optionsOf())
    const [one, two] = [ids.with({ shard: 1 }), ids.with({ shard: 63 })]
    const uuids = [createUuidGenerator({ ids: one }), createUuidGenerator({ ids: two })]
    const seen = new Set<bigint>()
    let count = 0
    for (let round = 0; round < 50; round++) {
      for (const [i, own] of uuids.entries()) {
        for (const uuid of [own.next(), ...own.take(40)]) {
          const { id, node, tags } = decodeUuid(uuid, layout)
          expect({ node, tags }).toEqual({ node: 7, tags: { shard: i === 0 ? 1 : 63 } })
          seen.add(slotOf(id))
          count++
        }
      }
      seen.add(slotOf(one.next()))
      count++
    }
    expect(seen.size).toBe(count)
    uuids[0]?.close()
    expect(() => one.next()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    two.next()
  })

  it('lets UUIDs be larger than an observed UUID of another node and tag', () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const make = (node: number, shard: number) => {
      const ids = createGenerator({ ...optionsOf(), node, clock: () => nowMs })
      return createUuidGenerator({ ids: ids.with({ shard }) })
    }
    const [one, other] = [make(1, 0), make(200, 63)]
    let last = ''
    for (let round = 0; round < 20; round++) {
      if (round % 5 === 0) nowMs--
      for (const [own, seen] of [
        [one, other],
        [other, one],
      ] as const) {
        const uuid = own.next()
        expect(uuid > last).toBe(true)
        last = seen.observe(uuid)
      }
    }
    // Each answer takes the next sequence number, and none of them a new tick.
    expect(decodeUuid(last, layout).timestampMs).toBe(Date.UTC(2026, 0, 1) - 1)
  })

  it('refuses UUIDs of a generator whose tag has to be chosen', () => {
    using ids = createGenerator(optionsOf())
    const uuids = createUuidGenerator({ ids: ids as never })
    expect(() => uuids.next()).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'shard' }))
  })

  it('makes numbers if the layout has at most 53 bits', () => {
    const fields = [
      ['timestamp', 41],
      ['shard', 5, 'tag?'],
      ['sequence', 7],
    ] as const
    const narrow = defineLayout({ name: 'narrow', epochMs, tickMs: 1, fields })
    using ids = createGenerator({ engine, layout: narrow, namespace: freshNamespace() })
    const view = ids.with({ shard: 31 })
    const made = Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? view : ids).nextNumber())
    expect(made.every(Number.isSafeInteger)).toBe(true)
    expect(made.map((id) => decode(id, narrow).tags.shard)).toEqual(made.map((_, i) => (i % 2 === 0 ? 31 : 0)))
    expectAscending(made.map((id) => BigInt(id) & ~(31n << 7n)))
    using wide = createGenerator(optionsOf())
    const nextNumber = wide.with({ shard: 1 }).nextNumber as unknown as () => number
    expect(nextNumber).toThrow(expect.objectContaining({ code: 'ERR_NUMBER_UNSAFE' }))
  })

  it.runIf(engine === 'native')('continues after all views of the generator before it, by a state file', () => {
    const options = { ...optionsOf(), state: join(folder, `${engine}.state`) }
    const made: bigint[] = []
    for (let round = 0; round < 3; round++) {
      const ids = createGenerator(options)
      const views = [0, 9, 63].map((shard) => ids.with({ shard }))
      for (const view of views) made.push(...view.take(500), view.next())
      expect(views.map(({ state }) => state)).toEqual(Array(3).fill(options.state))
      expect(views[0]?.stats().ceilingMs).toBeGreaterThan(epochMs)
      ids.close()
    }
    expectAscending(made.map(slotOf))
  })

  it("takes slots of the past that no view has taken, with onRollback 'reuse'", () => {
    let nowMs = epochMs + 1_000_000
    using ids = createGenerator({ ...optionsOf(), clock: () => nowMs, onRollback: 'reuse' })
    const views = [1, 2, 3].map((shard) => ids.with({ shard }))
    const made: bigint[] = []
    // The tick in which the generator was made is not reused.
    for (const stepMs of [1, 1, 1, 1, -3, 1, 1, 1, -2, 1, 1]) {
      nowMs += stepMs
      for (const view of views) {
        const some = [...view.take(15), view.next()]
        expect(some.every((id) => decode(id, layout).tags.shard === view.tags.shard)).toBe(true)
        expect(some.every((id) => decode(id, layout).timestampMs === nowMs)).toBe(true)
        made.push(...some)
      }
    }
    expect(new Set(made.map(slotOf)).size).toBe(made.length)
  })
})
