import { inspect } from 'node:util'
import { composeId, createGenerator, decode, defineLayout, type Layout, layouts } from 'graupel'
import { connect } from 'graupel/client'
import { createUuidGenerator, decodeUuid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { startService } from '../server/support/in-process.ts'
import { caught } from '../support/engines.js'
import { writeSingles } from '../support/runs.ts'
import { shardedFields } from '../support/sharded.ts'

// Views of a client, whose ids have the tags that the program chooses.

const rows = defineLayout({
  name: 'rows',
  epochMs: Date.UTC(2024, 0),
  tickMs: 1,
  fields: shardedFields,
})
/** Fits a number, and has a tag in each half of 32 bits. */
const small = defineLayout({
  name: 'small',
  epochMs: Date.UTC(2026, 0),
  tickMs: 10,
  fields: [
    ['kind', 4, 'tag?'],
    ['timestamp', 34],
    ['worker', 5],
    ['shard', 2, 'tag?'],
    ['sequence', 8],
  ],
})
const { url } = await startService({ layouts: [rows, small, layouts.twitter] as readonly Layout[] })

/** The id with all tags 0, which is the slot. */
function slotOf(id: bigint): bigint {
  const { timestampMs, node, sequence } = decode(id, rows)
  return composeId({ timestampMs, node, sequence, tags: { shard: 0 } }, rows)
}

describe('a view of a client', () => {
  it('refuses a BigInt64Array for a tag in the sign bit, before it takes an id, as a generator does', async () => {
    const layout = defineLayout({
      name: 'signed',
      unsigned: true,
      epochMs: Date.UTC(2024, 0),
      tickMs: 1,
      fields: [
        ['urgent', 1, 'tag?'],
        ['timestamp', 41],
        ['worker', 10],
        ['sequence', 12],
      ],
    })
    const { url } = await startService({ layouts: [layout] as readonly Layout[] })
    using client = await connect({ url, layout, count: 100 })
    using generator = createGenerator({ node: 1, layout, namespace: `client ${Math.random()}` })
    for (const ids of [client, generator]) {
      const view = ids.with({ urgent: 1 })
      expect(caught(() => view.fill(new BigInt64Array(5)))).toMatchObject({ code: 'ERR_ARRAY_INVALID' })
      await expect(view.fillAsync(new BigInt64Array(5))).rejects.toMatchObject({ code: 'ERR_ARRAY_INVALID' })
      expect(ids.stats().issued).toBe(0)
      for (const id of view.fill(new BigUint64Array(5))) expect(id >> 63n).toBe(1n)
      for (const id of ids.with({ urgent: 0 }).fill(new BigInt64Array(5))) expect(id >> 62n).toBe(0n)
    }
  })

  it('adds its tags to the part of an array that it fills, and to no more', async () => {
    using client = await connect({ url, layout: small, count: 100 })
    const around = new BigUint64Array(12)
    const array = new BigUint64Array(around.buffer, 8, 10)
    const view = client.with({ kind: 5, shard: 2 })
    expect(view.fill(array)).toBe(array)
    for (const id of array) expect(decode(id, small).tags).toEqual({ kind: 5, shard: 2 })
    expect([around[0], around[11]]).toEqual([0n, 0n])
    expect([...array]).toEqual([...new Set(array)].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('has all calls of a client, and its tags in each id', async () => {
    using client = await connect({ url, layout: rows, count: 100 })
    const view = client.with({ shard: 5 })
    const { next, nextString, take } = view
    const made = [next(), BigInt(nextString()), await view.nextAsync(), ...take(20)]
    made.push(...view.fill(new BigUint64Array(30)), ...(await view.fillAsync(new BigInt64Array(2000))))
    for (const id of view) {
      made.push(id)
      if (made.length === 2100) break
    }
    expect(made).toEqual([...new Set(made)].sort((a, b) => (a < b ? -1 : 1)))
    for (const id of made) expect(view.decode(id).tags).toEqual({ shard: 5 })
    expect(view.tags).toEqual({ shard: 5 })
    expect(Object.isFrozen(view.tags)).toBe(true)
    expect(inspect(view, { breakLength: Infinity })).toBe(
      `IdClient { urls: [ '${url}' ], layout: 'rows', tags: { shard: 5 } }`,
    )
    expect(view.stats()).toEqual(client.stats())
    expect(client.stats().issued).toBe(2100)
  })

  it('shares batches and requests with all others, so their ids differ even without tags', async () => {
    using client = await connect({ url, layout: rows, count: 1000, prefetchAt: 1 })
    const views = Array.from({ length: 64 }, (_, shard) => client.with({ shard }))
    const made = views.flatMap((view) => view.take(10))
    expect(client.stats()).toMatchObject({ requests: 1, issued: 640, left: 360 })
    const more = await Promise.all(views.map((view) => view.fillAsync(new BigUint64Array(50))))
    const all = [...made, ...more.flatMap((ids) => [...ids])]
    expect(new Set(all.map(slotOf)).size).toBe(64 * 60)
    for (const [shard, ids] of more.entries()) for (const id of ids) expect(decode(id, rows).tags.shard).toBe(shard)
  })

  it('has tags with a default that are 0, and numbers', async () => {
    using client = await connect({ url, layout: small, count: 10 })
    expect(client.decode(client.next()).tags).toEqual({ kind: 0, shard: 0 })
    const view = client.with({ kind: 15 }).with({ kind: 9, shard: 3 })
    const id = view.nextNumber()
    expect(Number.isSafeInteger(id)).toBe(true)
    expect(decode(id, small).tags).toEqual({ kind: 9, shard: 3 })
  })

  it('observes ids for all views', async () => {
    using client = await connect({ url, layout: rows, count: 100 })
    const [one, two] = [1, 63].map((shard) => client.with({ shard }))
    const seen = composeId({ timestampMs: Date.now() + 400, node: 200, tags: { shard: 40 } }, rows)
    expect(one?.observe(seen)).toBe(seen)
    for (const view of [one, two]) expect(await view?.nextAsync()).toBeGreaterThan(seen)
  })

  it('is a source of UUIDs', async () => {
    using client = await connect({ url, layout: rows, count: 100 })
    const uuids = createUuidGenerator({ ids: client.with({ shard: 7 }) })
    const made = [uuids.next(), await uuids.nextAsync(), ...uuids.take(20)]
    for (const uuid of made) expect(decodeUuid(uuid, rows).tags).toEqual({ shard: 7 })
    expect(made).toEqual([...new Set(made)].sort())
    const other = uuids.observe(made[3] as string)
    expect((await uuids.nextAsync()) > other).toBe(true)
  })

  it('is closed alone, or with its client', async () => {
    const client = await connect({ url, layout: rows })
    const [one, two] = [client.with({ shard: 1 }), client.with({ shard: 2 })]
    one.close()
    expect(caught(() => one.next()).code).toBe('ERR_CLOSED')
    expect(caught(() => one.with({ shard: 1 })).code).toBe('ERR_CLOSED')
    two.next()
    const three = client.with({ shard: 3 })
    three.next()
    three.close()
    for (const call of [three.next, three.nextString, () => three.take(1), () => [...three].length]) {
      expect(caught(call).code).toBe('ERR_CLOSED')
    }
    expect(decode(two.next(), rows).tags.shard).toBe(2)
    client.close()
    expect(caught(() => two.take(5000)).code).toBe('ERR_CLOSED')
    expect(caught(() => two.observe(1n)).code).toBe('ERR_CLOSED')
    expect(caught(() => two.with({ shard: 1 })).code).toBe('ERR_CLOSED')
    await expect(two.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('refuses wrong tags by their names, as a generator does', async () => {
    using client = await connect({ url, layout: rows })
    const { with: viewOf } = client as unknown as { with(tags: unknown): unknown }
    for (const [tags, option, message] of [
      [{}, 'shard', /^the tag 'shard' of the view is missing/],
      [{ shard: 64 }, 'shard', /^the tag 'shard' is 64; layout 'rows' gives it 6 bits/],
      [{ shard: '5' }, 'shard', /^the tag 'shard' is '5' \(string\)/],
      [{ shard: 1, kind: 1 }, 'kind', /^there is no tag 'kind'/],
      [7, 'tags', /^the tags of the view are 7/],
    ] as const) {
      const error = caught(() => viewOf(tags))
      expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option })
      expect(error.message).toMatch(message)
    }
    using orders = await connect({ url, segment: 'orders' })
    const { with: ofNumbers } = orders as unknown as typeof client
    expect(caught(() => ofNumbers({ shard: 1 })).code).toBe('ERR_OPTION_INVALID')
  })
})

it('a client whose tag has to be chosen hands out ids by its views alone', async () => {
  const client = await connect({ url, layout: rows })
  const { next, nextAsync, take } = client as unknown as ReturnType<typeof client.with>
  for (const call of [next, () => take(1)]) {
    expect(caught(call)).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'shard' })
  }
  await expect(nextAsync()).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  client.close()
})

it('an answer whose tags are not 0 is not used', async () => {
  const headers = {
    'content-type': 'application/vnd.graupel.runs',
    'graupel-byte-order': 'little-endian',
    'graupel-layout': 'rows',
  }
  const asked: string[] = []
  const id = composeId({ timestampMs: Date.now(), node: 1, tags: { shard: 3 } }, rows)
  const fetch = async (path: string) => {
    asked.push(path)
    return new Response(writeSingles([id]), { headers })
  }
  const connecting = connect({ url: 'http://service', layout: rows, count: 1, retries: 0, fetch: fetch as never })
  await expect(connecting).rejects.toMatchObject({
    code: 'ERR_SERVICE_INVALID',
    message: expect.stringContaining(`has a run from ${id}, whose tags are not 0`),
  })
  expect(asked).toEqual(['http://service/v1/ids?count=1&layout=rows&tag.shard=0'])
})

it('close() of a view rejects its calls that wait for a batch, and those of the client go on', async () => {
  let hold: Promise<void> | undefined
  let release = () => {}
  const slow: typeof fetch = async (...words) => {
    await hold
    return fetch(...words)
  }
  using client = await connect({ url, layout: rows, count: 4, maxCount: 4, fetch: slow })
  const [view, other] = [client.with({ shard: 5 }), client.with({ shard: 6 })]
  hold = new Promise((resolve) => {
    release = resolve
  })
  view.take(client.stats().left)
  const waiting = [view.nextAsync(), view.fillAsync(new BigUint64Array(2))]
  const outcomes = Promise.allSettled(waiting)
  const others = other.nextAsync()
  view.close()
  release()
  const closed = { status: 'rejected', reason: expect.objectContaining({ code: 'ERR_CLOSED' }) }
  expect(await outcomes).toEqual([closed, closed])
  expect(decode(await others, rows).tags).toEqual({ shard: 6 })
  await expect(view.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
})
