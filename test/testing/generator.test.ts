import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createGenerator, decode, defineLayout, GraupelError, type Layout, layouts } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'

const startMs = Date.UTC(2026, 0, 1)
const taggedFields = [
  ['timestamp', 41],
  ['shard', 4, 'tag?'],
  ['sequence', 8],
] as const
const firstId = 2006515713438646272n

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe('a test generator', () => {
  it('frees its memory when it is reset, or no longer used', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const use = () => {
      for (const ids of Array.from({ length: 3000 }, () => testGenerator())) {
        ids.next()
        ids.reset()
      }
      collect()
      return process.memoryUsage().heapUsed
    }
    // 6 000 states that stay in memory, each with half a kilobyte, would need 3 MB.
    expect(use() - use()).toBeGreaterThan(-1e6)
  })

  it('begins with the same id each time, whatever other generators have made', () => {
    expect(testGenerator().take(2)).toEqual([firstId, firstId + 1n])
    expect(testGenerator().take(2)).toEqual([firstId, firstId + 1n])
    expect(decode(firstId, layouts.twitter)).toMatchObject({ timestampMs: startMs, node: 0, sequence: 0 })
  })

  it.each(engines)('makes the ids that createGenerator makes at that moment on the %s engine', (engine) => {
    for (const layout of [layouts.twitter, layouts.sonyflake, layouts.js53, layouts.discord] as Layout[]) {
      const ids = testGenerator({ layout, node: 3 })
      const real = createGenerator({ engine, layout, node: 3, clock: () => startMs, namespace: freshNamespace() })
      const count = 2 ** layout.sequence.bits
      expect(ids.take(count)).toEqual(real.take(count))
    }
  })

  it('counts on without a wait if a tick is full', () => {
    const ids = testGenerator()
    const made = ids.take(4096 * 3)
    expect(new Set(made).size).toBe(4096 * 3)
    expect(made.at(-1)).toBe(firstId + (2n << 22n) + 4095n)
    expect(ids.stats()).toMatchObject({ waits: 0, waitedMs: 0 })
  })

  it('begins again after reset, even for functions that were passed on', async () => {
    const { next, nextString, nextAsync, reset } = testGenerator()
    const made = () => Promise.all([next(), nextString(), nextAsync()])
    const first = await made()
    expect(first).toEqual([firstId, `${firstId + 1n}`, firstId + 2n])
    reset()
    expect(await made()).toEqual(first)
  })

  it('counts and publishes an overflow again after each reset, also of a view', () => {
    const ids = testGenerator({ layout: defineLayout({ ...layouts.js53, name: 'tagged', fields: taggedFields }) })
    const view = ids.with({ shard: 1 })
    let published = 0
    const count = () => void published++
    subscribe('graupel:overflow', count)
    for (const [round, { take }] of [ids, ids, view, view].entries()) {
      take(257)
      expect([published, ids.stats().overflows + view.stats().overflows]).toEqual([round + 1, round + 1])
      ids.reset()
    }
    unsubscribe('graupel:overflow', count)
  })

  it('follows a clock, and counts on if the clock goes back, until it is reset', () => {
    let now = startMs + 5
    const ids = testGenerator({ node: 1023, clock: () => now })
    const time = () => ids.decode(ids.next()).timestampMs
    expect(time()).toBe(startMs + 5)
    now += 3_600_000
    expect(time()).toBe(startMs + 3_600_005)
    now = startMs
    expect(time()).toBe(startMs + 3_600_005)
    ids.reset()
    expect(time()).toBe(startMs)
  })

  it('makes ids by a clock that jitters', () => {
    let readings = 0
    const ids = testGenerator({ clock: () => startMs + (readings++ % 2) })
    expect(new Set([ids.next(), ids.next(), ids.next(), ids.next()]).size).toBe(4)
  })

  it('follows the fake clock of a test runner', () => {
    const ids = testGenerator({ clock: () => Date.now() })
    vi.useFakeTimers({ now: Date.UTC(2040, 0, 1) })
    ids.reset()
    expect(ids.decode(ids.next()).timestampMs).toBe(Date.UTC(2040, 0, 1))
    vi.advanceTimersByTime(7)
    expect(ids.decode(ids.next()).timestampMs).toBe(Date.UTC(2040, 0, 1) + 7)
  })

  it('is the same if the test has replaced time, timers and random numbers', () => {
    vi.useFakeTimers({ now: 0 })
    vi.spyOn(crypto, 'randomUUID').mockReturnValue('00000000-0000-4000-8000-000000000000')
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => array)
    expect([testGenerator().next(), testGenerator().next()]).toEqual([firstId, firstId])
  })

  it('ignores the environment', () => {
    vi.stubEnv('GRAUPEL_NODE', '9')
    vi.stubEnv('GRAUPEL_ENGINE', 'native')
    const ids = testGenerator()
    expect(ids.next()).toBe(firstId)
    expect(ids.engine).toBe('js')
  })

  it('begins at the epoch of a younger layout, and does not change how other layouts begin', () => {
    const epochMs = Date.UTC(2026, 5, 1)
    const young = defineLayout({
      name: 'young',
      epochMs,
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['node', 10],
        ['sequence', 12],
      ],
    })
    expect(decode(testGenerator({ layout: young }).next(), young).timestampMs).toBe(epochMs)
    const own = testGenerator({ epoch: new Date(epochMs) })
    expect(own.decode(own.next()).timestampMs).toBe(epochMs)
    expect(testGenerator().next()).toBe(firstId)
  })

  it('accepts a node as a number or as fields, and closes like other generators', () => {
    const byFields = testGenerator({ node: { datacenter: 1, worker: 2 } })
    expect(byFields.node).toBe(34)
    expect(testGenerator({ node: 34 }).next()).toBe(byFields.next())
    byFields.close()
    byFields.reset()
    expect(caught(() => byFields.next()).code).toBe('ERR_CLOSED')
  })

  it('shares nothing with a generator of createGenerator', () => {
    const real = createGenerator({ node: 0, clock: () => startMs, namespace: 'graupel/testing 1' })
    expect(real.next()).toBe(firstId)
    expect(testGenerator().next()).toBe(firstId)
  })
})

describe('a wrong argument', () => {
  it.each<[string, unknown, string, RegExp]>([
    [
      'an unknown option',
      { startMs: 0 },
      'ERR_OPTION_UNKNOWN',
      /there is no option 'startMs'; .*node, layout, epoch, clock/,
    ],
    ['no object', 7, 'ERR_OPTION_INVALID', /the options are 7/],
    ['a real clock', { clock: 'wall' }, 'ERR_OPTION_INVALID', /clock is 'wall'; pass a function/],
    ['a clock that shows no number', { clock: () => '7' }, 'ERR_CLOCK_INVALID', /the clock returned '7'/],
    [
      'a clock before the epoch',
      { clock: () => 0 },
      'ERR_CLOCK_BEFORE_EPOCH',
      /the clock shows 1970-.*; set the clock/,
    ],
    ['a layout that is over', { layout: layouts.baidu }, 'ERR_LAYOUT_EXPIRED', /baidu/],
    ['a node that does not fit', { node: 1024 }, 'ERR_NODE_INVALID', /1024/],
  ])('%s', (_, options, code, message) => {
    const error = caught(() => testGenerator(options as never))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
  })

  it('is refused with an error of graupel', () => {
    let error: unknown
    try {
      testGenerator({ layout: layouts.baidu })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(GraupelError)
  })
})
