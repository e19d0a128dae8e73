import { composeId, createGenerator, defineLayout, layouts } from 'graupel'
import { connect } from 'graupel/client'
import { createUuidGenerator } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { Batches } from '../../src/client/batches.js'
import { connectBy } from '../../src/client/client.js'
import { Batch, Runs } from '../../src/client/runs.js'
import { platform } from '../../src/platform/node.js'
import { startService } from '../server/support/in-process.ts'
import { caught } from '../support/engines.js'
import { randomFrom, seededRandom } from '../support/random.ts'
import { writeRuns, writeSingles } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { VirtualTime } from '../support/virtual-time.ts'
import { type FakeService, fakeService, refuse } from './service.ts'

const sorted = ({ given }: FakeService) => [...given].sort((a, b) => (a < b ? -1 : 1))
/** An id of another host whose clock is ahead. */
const ahead = (ms: number, node = 9) => composeId({ timestampMs: Date.now() + ms, node }, layouts.twitter)

describe('observe of a client', () => {
  it('drops the fetched ids that are not larger, without a request', async () => {
    const service = await fakeService()
    using ids = await connect({ url: service.url, count: 10, prefetchAt: 1 })
    const first = ids.next()
    const all = sorted(service)
    expect(ids.observe(`${all[4]}`)).toBe(all[4])
    expect(ids.stats()).toMatchObject({ issued: 1, left: 5, dropped: 4 })
    expect(ids.next()).toBe(all[5])
    ids.observe(all[2] as bigint)
    expect(ids.take(4)).toEqual(all.slice(6))
    expect(first).toBe(all[0])
    expect(ids.stats()).toMatchObject({ issued: 6, left: 0, dropped: 4, requests: 1 })
  })

  it('asks for larger ids if none is left, at once and from then on', async () => {
    const service = await fakeService()
    using ids = await connect({ url: service.url, count: 10, prefetchAt: 0.5 })
    expect(service.asked[0]?.after).toBeNull()
    const seen = ids.observe(ahead(500))
    expect(ids.stats()).toMatchObject({ left: 0, dropped: 10 })
    await until(() => ids.stats().left > 0)
    for (let i = 0; i < 30; i++) expect(await ids.nextAsync()).toBeGreaterThan(seen)
    expect(service.asked.length).toBeGreaterThan(2)
    for (const { after } of service.asked.slice(1)) expect(after).toBe(`${seen}`)
  })

  it('drops the ids of a batch that was requested before, and then asks above the largest observed id', async () => {
    const service = await fakeService()
    using ids = await connect({ url: service.url, count: 10, prefetchAt: 1 })
    const answers: (() => void)[] = []
    service.script = (_, __, give) => answers.push(give)
    ids.take(10)
    const next = ids.nextAsync()
    await until(() => answers.length === 1)
    const seen = ahead(800)
    for (const id of [ahead(300), seen, ahead(400)]) ids.observe(id)
    answers[0]?.()
    await until(() => answers.length === 2)
    answers[1]?.()
    expect(await next).toBeGreaterThan(seen)
    expect(service.asked.map(({ after }) => after)).toEqual([null, null, `${seen}`])
    expect(ids.stats().dropped).toBe(service.asked[1]?.count)
  })

  it('asks for larger ids in each attempt, at each server', async () => {
    const one = await fakeService({ node: 1 })
    const two = await fakeService({ node: 2 })
    using ids = await connect({ urls: [one.url, two.url], count: 5, prefetchAt: 1 })
    const waiting: (() => void)[] = []
    for (const service of [one, two]) {
      service.asked.splice(0)
      service.script = ({ after }, response, give) =>
        waiting.push(() => (after === `${last}` ? give() : refuse(response, 503, 'no lease')))
    }
    const first = ahead(300)
    const last = ahead(600)
    ids.observe(first)
    const next = ids.nextAsync()
    await until(() => waiting.length === 1)
    ids.observe(last)
    waiting[0]?.()
    await until(() => waiting.length === 2)
    waiting[1]?.()
    expect(await next).toBeGreaterThan(last)
    expect([...one.asked, ...two.asked].map(({ after }) => after).sort()).toEqual([`${first}`, `${last}`].sort())
    expect([one.asked.length, two.asked.length]).toEqual([1, 1])
  })

  it('keeps the order over two servers whose clocks differ by a second, which is lost without it', async () => {
    const slow = await fakeService({ node: 1, clock: () => Date.now() - 500 })
    const fast = await fakeService({ node: 2, clock: () => Date.now() + 500 })
    for (const isObserved of [true, false]) {
      using asker = await connect({ url: fast.url, count: 3 })
      using answerer = await connect({ url: slow.url, count: 3 })
      let inversions = 0
      for (let i = 0; i < 100; i++) {
        const question = await asker.nextAsync()
        if (isObserved) answerer.observe(question)
        if ((await answerer.nextAsync()) <= question) inversions++
      }
      expect(inversions === 0).toBe(isObserved)
    }
  })

  it('refuses an answer with ids that are not larger', async () => {
    const service = await fakeService()
    using ids = await connect({ url: service.url, count: 10, retries: 0 })
    const made = createGenerator({ node: 3, namespace: `client ${Math.random()}` })
    service.script = (_, __, give) => give({ body: (bytes) => Buffer.from(writeSingles(made.take(bytes.length / 16))) })
    const seen = ids.observe(ahead(500))
    const error = await ids.nextAsync().catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID' })
    expect(error.message).toContain(`, and ids above ${seen} were asked for; nothing of it is used`)
  })

  it('refuses all that is no id of the layout, a closed client, and numbers', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url })
    for (const id of [-1n, 2n ** 64n, '-1', ' 1', '01', '', 'id', '1.0', 7, null, undefined]) {
      expect(caught(() => ids.observe(id as never)).code, String(id)).toBe('ERR_ID_INVALID')
    }
    expect(ids.stats()).toMatchObject({ left: 1000, dropped: 0 })
    const { observe } = ids
    ids.close()
    expect(caught(() => observe(1n)).code).toBe('ERR_CLOSED')
    using narrow = await connect({ url: (await fakeService({ layout: layouts.js53 })).url, layout: layouts.js53 })
    expect(narrow.observe(7)).toBe(7n)
    expect(caught(() => narrow.observe(2n ** 53n)).code).toBe('ERR_ID_INVALID')
    using orders = await connect({ url: service.url, segment: 'orders' })
    const { observe: ofNumbers } = orders as unknown as typeof ids
    expect(caught(() => ofNumbers(1n))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
    const fields = [
      ['node', 4],
      ['timestamp', 41],
      ['sequence', 8],
    ] as const
    const layout = defineLayout({ name: 'node first', epochMs: layouts.twitter.epochMs, tickMs: 1, fields })
    using others = await connect({ url: (await fakeService({ layout })).url, layout })
    expect(caught(() => others.observe(1n))).toMatchObject({ name: 'RangeError', code: 'ERR_LAYOUT_INVALID' })
  })

  it('refuses an id more than a second ahead of the clock of the service, whatever the host shows', async () => {
    const time = new VirtualTime()
    let serviceMs = Date.UTC(2026, 0)
    const made = createGenerator({ node: 1, namespace: `client ${Math.random()}`, clock: () => serviceMs })
    const fetch = async (url: string) => {
      const { searchParams } = new URL(url)
      const after = searchParams.get('after')
      if (after !== null) made.observe(after)
      const headers = {
        'content-type': 'application/vnd.graupel.runs',
        'graupel-byte-order': 'little-endian',
        'graupel-layout': 'twitter',
      }
      return new Response(writeSingles(made.take(Number(searchParams.get('count')))), { headers })
    }
    const clocks = {
      monotonicMs: () => time.monotonicMs(),
      // The clock of this host is years behind.
      wallMs: () => time.monotonicMs(),
      later: (callback: () => void, ms: number) => time.later(callback, ms),
      background: (callback: () => void, ms: number) => time.later(callback, ms),
      random: randomFrom(1),
    }
    const ids = await time.until(connectBy({ url: 'http://service', fetch: fetch as never }, clocks))
    const at = (timestampMs: number) => composeId({ timestampMs, node: 0 }, layouts.twitter)
    const left = ids.stats().left
    const error = caught(() => ids.observe(at(serviceMs + 1001)))
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOCK_SKEW', retryAfterMs: 1 })
    expect(error.message).toBe(
      `the id ${at(serviceMs + 1001)} of node 0 has the time 2026-01-01T00:00:01.001Z, and the clock of the service shows at most 2026-01-01T00:00:00.000Z; its ids run ahead by up to 1000 ms. Compare the clocks of the hosts, and observe only ids that you trust`,
    )
    expect(ids.stats().left).toBe(left)
    await time.until(time.sleep(1))
    serviceMs += 1
    const seen = ids.observe(at(serviceMs + 1000))
    expect(await time.until(ids.nextAsync())).toBeGreaterThan(seen)
    ids.close()
  })

  it('takes an observed id again, also after an answer of a server with a slower clock', async () => {
    const fast = await fakeService({ node: 1, clock: () => Date.now() + 2000 })
    const slow = await fakeService({ node: 2 })
    let url = fast.url
    const fetchOf = (path: string) => fetch(path.replace('http://service', url))
    using ids = await connect({ url: 'http://service', count: 10, prefetchAt: 1, fetch: fetchOf as never })
    url = slow.url
    const answers: (() => void)[] = []
    slow.script = (_, __, give) => answers.push(give)
    ids.take(10)
    const next = ids.nextAsync()
    await until(() => answers.length === 1)
    const seen = ids.observe(ahead(2500))
    answers[0]?.()
    await until(() => ids.stats().dropped > 0)
    expect(ids.observe(seen)).toBe(seen)
    expect(caught(() => ids.observe(seen + (1n << 22n))).code).toBe('ERR_CLOCK_SKEW')
    ids.close()
    await expect(next).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('reports an id that the service refuses to the calls that wait for it, and forgets it then', async () => {
    const { url } = await startService()
    let stepMs = 0
    // A host whose clock steps an hour ahead takes that for the time of the service.
    const clocks = { ...platform, wallMs: () => Date.now() + stepMs, random: () => 0 }
    const ids = await connectBy({ url, count: 10, retries: 2, maxAgeMs: Infinity }, clocks)
    const seen = ids.observe(ahead(200))
    expect(await ids.nextAsync()).toBeGreaterThan(seen)
    stepMs = 3_600_000
    const far = ids.observe(ahead(1_800_000))
    const { failures } = ids.stats()
    const waiting = await Promise.allSettled([ids.nextAsync(), ids.nextAsync()])
    for (const outcome of waiting) {
      const { reason } = outcome as PromiseRejectedResult
      expect(reason).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOCK_SKEW' })
      expect(reason.message).toMatch(/^http:.* answered 503: after: the id \d+ of node 9 has the time /)
      expect(reason.retryAfterMs).toBe(30_000)
    }
    expect(ids.stats().failures).toBe(failures + 3)
    for (let i = 0; i < 30; i++) {
      const id = await ids.nextAsync()
      expect(id).toBeGreaterThan(seen)
      expect(id).toBeLessThan(far)
    }
    // The answers have the time of the service.
    expect(caught(() => ids.observe(far)).code).toBe('ERR_CLOCK_SKEW')
    ids.close()
  })

  it('reports such an id to a call that does not wait, too, and keeps it until then', async () => {
    const { url } = await startService()
    let stepMs = 0
    const clocks = { ...platform, wallMs: () => Date.now() + stepMs, random: () => 0 }
    const ids = await connectBy({ url, count: 10, retries: 0, maxAgeMs: Infinity }, clocks)
    stepMs = 3_600_000
    const far = ids.observe(ahead(1_800_000))
    await until(() => ids.stats().failure.includes(`the id ${far} of node 9`))
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_SKEW', retryAfterMs: 30_000 })
    await until(() => ids.stats().left > 0)
    expect(ids.next()).toBeLessThan(far)
    ids.close()
  })

  it('keeps a larger id that was observed after the service had refused one', async () => {
    const service = await fakeService()
    using ids = await connect({ url: service.url, count: 1, prefetchAt: 1, retries: 0 })
    const refused = '{"code":"ERR_CLOCK_SKEW","detail":"too far ahead"}'
    service.script = (_, response) => response.writeHead(503).end(refused)
    ids.observe(ahead(500))
    await until(() => ids.stats().failure.includes('too far ahead'))
    service.script = (_, __, give) => give()
    const seen = ids.observe(ahead(900))
    // This error is about the former id.
    expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_SKEW')
    expect(await ids.nextAsync()).toBeGreaterThan(seen)
  })

  it('is the observe of its UUIDs', async () => {
    const service = await fakeService()
    using uuids = createUuidGenerator({ ids: await connect({ url: service.url, count: 100 }) })
    const clock = () => Date.now() + 500
    const others = [0, 1023].map((node) => createUuidGenerator({ node, clock, namespace: `client ${Math.random()}` }))
    for (const other of others) {
      const [, seen = ''] = other.take(2)
      expect(uuids.observe(seen)).toBe(seen)
      expect((await uuids.nextAsync()) > seen).toBe(true)
    }
    const far = createUuidGenerator({ node: 1, clock: () => Date.now() + 60_000, namespace: `client ${Math.random()}` })
    const refused = caught(() => uuids.observe(far.next()))
    expect(refused).toMatchObject({ code: 'ERR_CLOCK_SKEW' })
    expect(refused).not.toHaveProperty('option')
    expect(caught(() => uuids.observe('f81d4fae-7dec-41d0-a765-00a0c91e6bf6')).code).toBe('ERR_ID_INVALID')
  })

  it('leaves out a batch of a slower server behind a batch of larger ids', () => {
    const clock = { monotonicMs: () => 0, wallMs: () => 0, background: () => () => {} } as never
    for (const isEarly of [true, false]) {
      const options = { count: 4, prefetchAt: 0.5, maxAgeMs: Infinity, layout: layouts.twitter }
      const batches = new Batches(options, clock, () => {})
      const add = (first: bigint) =>
        batches.add(new Batch(new Runs(writeRuns([{ first, count: 4, stride: 1 }])), 4, 0, 0, batches.generation()), 0)
      add(100n)
      if (isEarly) batches.observe(50n)
      add(10n)
      batches.observe(50n)
      expect([batches.left, batches.dropped, batches.hasRoom]).toEqual([4, 4, true])
      expect(batches.fill(new BigUint64Array(9), 0, 9)).toBe(4)
      expect(batches.refill()).toBe('none')
      expect([batches.left, batches.taken]).toEqual([0, 4])
    }
  })

  it('leaves each id out that was observed or is below, and loses no other, in runs of any form', () => {
    const random = seededRandom('runs and observed ids')
    const below = (end: number) => Math.floor(random() * end)
    for (let round = 0; round < 300; round++) {
      const options = { count: 10, prefetchAt: random(), maxAgeMs: Infinity, layout: layouts.twitter }
      const clock = { ...new VirtualTime(), monotonicMs: () => round, wallMs: () => round } as never
      const batches = new Batches(options, clock, () => {})
      const handed: bigint[] = []
      const all: bigint[] = []
      let last = 2n ** 60n
      let observed = -1n
      const add = () => {
        const runs = Array.from({ length: 1 + below(5) }, () => {
          const run = { first: last + 1n + BigInt(below(3)), count: 1 + below(6), stride: 1 + below(3) }
          for (let i = 0; i < run.count; i++) all.push(run.first + BigInt(i * run.stride))
          last = all.at(-1) as bigint
          return run
        })
        const count = runs.reduce((sum, run) => sum + run.count, 0)
        batches.add(new Batch(new Runs(writeRuns(runs)), count, 0, 0, batches.generation()), 0)
      }
      const expected: bigint[] = []
      const isLeft = (id: bigint) => id > observed && id > (expected.at(-1) ?? -1n)
      for (let step = 0; step < 40; step++) {
        const choice = below(4)
        if (choice === 0 && batches.hasRoom) add()
        if (choice === 1) {
          const id = all[below(all.length)] ?? 5n
          const seen = id - BigInt(below(2))
          batches.observe(seen)
          if (seen > observed) observed = seen
        }
        if (choice === 2 && (batches.takeOne() === 0 || (batches.refill() !== 'none' && batches.takeOne() === 0))) {
          handed.push(batches.id)
          expected.push(all.find(isLeft) as bigint)
        }
        if (choice === 3) {
          const array = new BigUint64Array(below(5))
          batches.refill()
          const count = batches.fill(array, 0, array.length)
          for (const id of array.subarray(0, count)) {
            handed.push(id)
            expected.push(all.find(isLeft) as bigint)
          }
        }
        expect(handed).toEqual(expected)
        expect(batches.left).toBe(all.filter(isLeft).length)
        expect(batches.taken).toBe(handed.length)
        expect(batches.taken + batches.left + batches.dropped).toBe(all.length)
      }
    }
  })
})
