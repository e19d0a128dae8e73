import { execFileSync } from 'node:child_process'
import { decode, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { program } from '../support/cli.ts'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { deletePages } from '../support/pages.ts'
import { type Failure, type Issued, Obedient, opened, type Plan, stateFolder, testClock } from '../support/processes.ts'

// A restart after the system's clock was set back. libfaketime stands between the process and the C library,
// and the clock stands still, so the results do not depend on speed.

const secondMs = 1000
const hourMs = 3600 * secondMs
const startMs = Date.UTC(2026, 5, 1, 12)
const reserveMs = 900

/** The way in which the first process ends, and whether its memory is lost. */
const ends = [
  ['host', 'closes'],
  ['host', 'is killed'],
  ['file', 'closes'],
  ['file', 'is killed'],
  ['file', 'closes, and the memory is lost'],
  ['file', 'is killed, and the memory is lost'],
] as const

/**
 * Starts a process whose clock stands at a time. A new page begins with the next tick, so the clock first
 * stands a tick earlier.
 */
async function at(ms: number, plan: Plan): Promise<Obedient> {
  const { env, set } = testClock()
  // The clock stands in the middle of a millisecond, because libfaketime computes in floating point.
  const stand = (ms: number) => set(`${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')}5`)
  stand(ms - 1)
  const process = new Obedient({ env })
  const early = await process.open({ openTimeoutMs: 50, ...plan }).catch((error: Failure) => error)
  stand(ms)
  if (early instanceof Error) {
    expect(early).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', retryAfterMs: expect.any(Number) })
    await process.open(plan)
  }
  return process
}

const timesOf = ({ ids }: Issued) => [...ids].map((id) => decode(id, layouts.twitter).timestampMs)

async function restart(place: 'host' | 'file', end: string, stepMs: number, policy: Plan) {
  const { state } = stateFolder()
  const plan: Plan = { node: 7, namespace: freshNamespace(), state: place === 'host' ? 'host' : state, ...policy }
  const first = await at(startMs, plan)
  const before = await first.issue({ count: 1 })
  await (end.startsWith('closes') ? first.close() : first.kill())
  await first.kill()
  if (end.endsWith('lost')) deletePages(plan.namespace ?? '')
  const second = await at(startMs - stepMs, plan)
  const after = await second.issue({ count: 20 })
  await second.close()
  await second.kill()
  // The clock is corrected, and has gone on meanwhile.
  const third = await at(startMs + 10 * secondMs, plan)
  const last = await third.issue({ count: 1 })
  await third.close()
  await third.kill()
  expect(timesOf(before)).toEqual([startMs])
  expect(timesOf(last)).toEqual([startMs + 10 * secondMs])
  const ids = [...before.ids, ...after.ids, ...last.ids]
  expect(new Set(ids).size).toBe(ids.length)
  // The second process knows that the last id is not later than this time.
  const knownMs = end === 'is killed, and the memory is lost' ? startMs + reserveMs : startMs
  return { after, knownMs }
}

describeWith(['native', 'linux', 'faketime'], 'a restart with the clock set back', () => {
  describe.each(ends)('on %s state, after a process that %s', (place, end) => {
    describe.each([5 * secondMs, hourMs])('by %i ms', (stepMs) => {
      it.concurrent.each(['throw', 'wait'])("is refused by '%s', until the clock is put right", async (onRollback) => {
        const { after, knownMs } = await restart(place, end, stepMs, { onRollback })
        expect(after.ids).toHaveLength(0)
        expect(after.error?.code).toBe('ERR_CLOCK_ROLLBACK')
        expect(after.error?.rollbackMs).toBe(knownMs - startMs + stepMs)
        expect(after.error?.retryAfterMs).toBeGreaterThanOrEqual(knownMs - startMs + stepMs)
      })

      it.concurrent("is bridged by 'advance' if maxAheadMs allows it", async () => {
        const { after, knownMs } = await restart(place, end, stepMs, { maxAheadMs: 2 * hourMs })
        expect(after.error).toBeUndefined()
        expect(after.ids).toHaveLength(20)
        // A ceiling is the end of its tick.
        expect(Math.min(...timesOf(after))).toBe(knownMs === startMs ? startMs : knownMs + 1)
      })

      it.concurrent("is filled by 'reuse' with slots that are known to be unused, and no others", async () => {
        const { after } = await restart(place, end, stepMs, { onRollback: 'reuse' })
        // Marks begin with the first process. Earlier ticks are unknown, so none of their slots is reused.
        expect(after.ids).toHaveLength(0)
        expect(after.error?.code).toBe('ERR_CLOCK_ROLLBACK')
      })
    })
  })

  it.each([
    ['host', 'is killed', 5 * secondMs],
    ['file', 'closes, and the memory is lost', 5 * secondMs],
  ] as const)(
    "on %s state, after one that %s, is not counted over by 'advance' beyond maxAheadMs",
    async (place, end, stepMs) => {
      const { after } = await restart(place, end, stepMs, {})
      expect(after.ids).toHaveLength(0)
      expect(after.error).toMatchObject({
        code: 'ERR_CLOCK_ROLLBACK',
        rollbackMs: stepMs,
        retryAfterMs: stepMs - 1000,
      })
    },
  )

  it("'reuse' fills the slots that a killed process has skipped, because the marks are in the page", async () => {
    const plan: Plan = { node: 7, namespace: freshNamespace(), state: 'host', onRollback: 'reuse' }
    const one = await at(startMs, plan)
    const first = await one.issue({ count: 1 })
    await one.kill()
    const two = await at(startMs + hourMs, plan)
    const second = await two.issue({ count: 1 })
    await two.kill()
    const backMs = startMs + hourMs - 5
    const three = await at(backMs, plan)
    const third = await three.issue({ count: 20 })
    await three.kill()
    const four = await at(backMs, plan)
    const fourth = await four.issue({ count: 20 })
    await four.kill()
    for (const issued of [third, fourth]) {
      expect(issued.error).toBeUndefined()
      expect(new Set(timesOf(issued))).toEqual(new Set([backMs]))
    }
    const ids = [first, second, third, fourth].flatMap((issued) => [...issued.ids])
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describeWith(['native', 'linux', 'faketime'], 'a clock that was wrong by years', () => {
  it.each(['native', 'js'])('leaves a state that the error of the %s engine says how to forget', async (engine) => {
    const plan: Plan = { node: 7, namespace: freshNamespace(), engine }
    const wrong = await at(Date.UTC(2040, 0, 1), plan)
    await wrong.issue({ count: 1 })
    await wrong.kill()
    const right = await opened(plan)
    const { error } = await right.issue({ count: 1 })
    await right.kill()
    expect(error?.code).toBe('ERR_CLOCK_ROLLBACK')
    const [, command = '', path = ''] =
      /ids of 2040-.*'npx graupel (state --clean (\/\S+))'/.exec(error?.message ?? '') ?? []
    expect(path).toMatch(engine === 'js' ? /\.claim$/ : /\.page$/)
    const said = execFileSync(process.execPath, [program, ...command.split(' ')], { encoding: 'utf8' })
    expect(said).toMatch(/^Removed .*\nForgotten: ids .*2040-/)
    const again = await opened(plan)
    expect((await again.issue({ count: 1 })).error).toBeUndefined()
  })
})
