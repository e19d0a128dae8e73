import { createGenerator, defineLayout } from 'graupel'
import { afterEach, describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { deletePages } from '../support/pages.ts'
import { cleanUp, failure, Obedient, type Plan, testClock } from '../support/processes.ts'

// A new page and a new claim begin with the next tick. createGenerator waits for that tick, for at most
// openTimeoutMs.

afterEach(cleanUp)

describe.each(engines)('on the %s engine', (engine) => {
  it('a tick that begins later than openTimeoutMs is not waited for', () => {
    const hours = defineLayout({
      name: 'hours',
      // The next tick begins in half an hour.
      epochMs: Date.now() - 5_400_000,
      tickMs: 3_600_000,
      fields: [
        ['timestamp', 20],
        ['worker', 10],
        ['sequence', 20],
      ],
    })
    const options = { engine, layout: hours, node: 1, namespace: freshNamespace() }
    // createGenerator waits for a tick that begins within these milliseconds.
    for (const openTimeoutMs of [0, 5]) {
      const error = caught(() => createGenerator({ ...options, openTimeoutMs }))
      expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', message: expect.stringContaining('openTimeoutMs') })
      expect(error.retryAfterMs).toBeGreaterThan(openTimeoutMs)
      expect(error.retryAfterMs).toBeLessThanOrEqual(3_600_001)
    }
    using ids = createGenerator({ ...options, namespace: freshNamespace(), state: 'process' })
    expect(ids.next()).toBeGreaterThan(0n)
  })

  it('a tick with more nanoseconds than 64 bits hold is not waited for', () => {
    const tickMs = 1.2e13
    const layout = defineLayout({
      name: 'centuries',
      epochMs: 0,
      tickMs,
      fields: [
        ['timestamp', 8],
        ['worker', 10],
        ['sequence', 20],
      ],
    })
    const error = caught(() => createGenerator({ engine, layout, node: 1, namespace: freshNamespace() }))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
    expect(error.retryAfterMs).toBeGreaterThan(tickMs - Date.now() - 60_000)
    expect(error.retryAfterMs).toBeLessThanOrEqual(tickMs - Date.now() + 60_000)
  })
})

describeWith(['linux', 'faketime'], 'a clock that stands still', () => {
  it.each(engines)(
    "gives a second process no id on the %s engine if the first one's memory was deleted",
    async (engine) => {
      const { env, set } = testClock()
      const own: Plan = { node: 1, namespace: freshNamespace(), engine, openTimeoutMs: 20 }
      const [first, second] = [new Obedient({ env }), new Obedient({ env })]
      await first.open(own)
      const made = [await first.take(100)]
      set(new Date(Date.now() + 1000).toISOString().slice(0, 19).replace('T', ' '))
      made.push(await first.take(100))
      deletePages(own.namespace ?? '')
      for (let i = 0; i < 2; i++) {
        const error = await failure(second.open(own))
        expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', retryAfterMs: expect.any(Number) })
        expect(error.message).toContain('(never, if the clock stands still)')
      }
      made.push(await first.take(100).catch(() => []))
      await first.kill()
      set('+2')
      const third = new Obedient({ env })
      await third.open(own)
      made.push(await third.take(100))
      expect(duplicatesAmong(made.map((ids) => BigUint64Array.from(ids)))).toBe(0)
    },
  )
})
