import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, type EngineKind, layouts } from 'graupel'
import { afterAll, describe, expect, test } from 'vitest'
import { engines, freshNamespace } from '../support/engines.ts'
import { describeWith, libfaketime } from '../support/needs.ts'
import { hangMs } from '../support/until.ts'

// Other tests inject a clock. In these tests the system's clock steps for the real code: libfaketime stands
// between a process and the C library. The monotonic clock is not faked, because a real step does not move it
// either.

const program = fileURLToPath(new URL('programs/stepped-clock.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-clock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const secondMs = 1000
const hourMs = 3600 * secondMs
const startMs = Date.UTC(2026, 5, 1, 12)
const backSteps = [1, 50, 5 * secondMs, hourMs]
const forwardSteps = [50, hourMs]

interface Outcome {
  ids: bigint[]
  error?: { code: string; message: string; rollbackMs?: number; retryAfterMs?: number; filled?: number }
}

describeWith(['faketime'], 'the steps of the real clock', () => {
  describe.each(engines)('on the %s engine', (engine) => {
    describe.each(['throw', 'wait', 'advance', 'reuse'])("with onRollback '%s'", (onRollback) => {
      test.each(forwardSteps)('a step of %i ms forward is followed', (stepMs) => {
        const outcomes = stand(engine, { onRollback }, [startMs, startMs + stepMs, startMs + stepMs + 1])
        expect(outcomes.flatMap(timesOf)).toEqual(times(startMs, startMs + stepMs, startMs + stepMs + 1))
        expectDistinct(outcomes, true)
      })
    })

    describe.each(backSteps)('a step of %i ms back', (stepMs) => {
      // The clock stands still, steps back, and is corrected to a time a little later than before the step.
      const path = [startMs, startMs - stepMs, startMs + 7]

      test("is refused by 'throw', until the clock is put right", () => {
        const outcomes = stand(engine, { onRollback: 'throw' }, path)
        expectRefusal(outcomes[1], stepMs, stepMs)
        expectResumed(outcomes)
      })

      test("is refused by 'wait' if the clock does not reach the last id", () => {
        const outcomes = stand(engine, { onRollback: 'wait', maxWaitMs: 20 }, path)
        expectRefusal(outcomes[1], stepMs, stepMs)
        expect(outcomes[1]?.error?.message).toMatch(stepMs <= 20 ? /the clock stood still/ : /would have to wait/)
        expectResumed(outcomes)
      })

      test("is bridged by 'advance', the default, as far as maxAheadMs", () => {
        const outcomes = stand(engine, {}, path)
        if (stepMs <= 1000) expect(timesOf(outcomes[1])).toEqual(times(startMs))
        else expectRefusal(outcomes[1], stepMs, stepMs - 1000)
        expectResumed(outcomes)
      })

      test("is bridged by 'advance' however far, if maxAheadMs allows it", () => {
        const outcomes = stand(engine, { maxAheadMs: 2 * hourMs }, path)
        expect(outcomes.flatMap(timesOf)).toEqual(times(startMs, startMs, startMs + 7))
        expectDistinct(outcomes, true)
      })

      test("is filled by 'reuse' with the unused slots of the past, and only once", () => {
        const lateMs = startMs + 2 * hourMs
        const backMs = lateMs - stepMs
        const outcomes = stand(engine, { onRollback: 'reuse' }, [
          startMs,
          lateMs,
          backMs,
          lateMs,
          backMs,
          startMs,
          lateMs + 7,
        ])
        expectDistinct(outcomes, false)
        for (const outcome of outcomes) {
          if (outcome.error !== undefined) expect(outcome.error.code).toBe('ERR_CLOCK_ROLLBACK')
        }
        expect(timesOf(outcomes[2])).toEqual(times(backMs))
        expect(timesOf(outcomes[4])).toEqual(times(backMs))
        expect(timesOf(outcomes[6])).toEqual(times(lateMs + 7))
      })

      test("has no effect with clock 'steady'", () => {
        const outcomes = stand(engine, { clock: 'steady', onRollback: 'throw' }, path)
        expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined, undefined])
        expect(Math.min(...timesOf(outcomes[1]))).toBeGreaterThanOrEqual(startMs)
        expectDistinct(outcomes, true)
      })
    })

    test.each(forwardSteps)("a step of %i ms forward is followed by clock 'steady'", (stepMs) => {
      const outcomes = stand(engine, { clock: 'steady', onRollback: 'throw' }, [startMs, startMs + stepMs])
      expect(Math.min(...timesOf(outcomes[1]))).toBeGreaterThanOrEqual(startMs + stepMs)
      expectDistinct(outcomes, true)
    })

    test("'wait' waits for a clock that goes on after it stepped back", () => {
      const outcomes = walk(engine, { onRollback: 'wait', maxWaitMs: 1000 }, [0, -1, -50, 0])
      expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined])
      expectDistinct(outcomes, true)
    })

    test.each([
      ['advance', { maxAheadMs: 3 * hourMs }],
      ['advance', { clock: 'steady', onOverflow: 'advance' }],
      ['reuse', { maxWaitMs: 0 }],
      ['throw', {}],
    ])('a clock that steps to and fro never leads to two equal ids: %s %o', (onRollback, options) => {
      // The clock steps through all pairs of times.
      const all = [...backSteps.map((ms) => -ms), 0, ...forwardSteps]
      const offsets = all.flatMap((one) => all.flatMap((other) => [one, other]))
      const outcomes = walk(engine, { onRollback, ...options }, offsets)
      expectDistinct(outcomes, onRollback !== 'reuse')
      const codes = new Set(outcomes.map(({ error }) => error?.code))
      expect([...codes].filter((code) => code !== undefined)).toEqual(
        onRollback === 'advance' ? [] : ['ERR_CLOCK_ROLLBACK'],
      )
    })
  })
})

/** A clock that stands still at each of these times, so the results do not depend on speed. */
function stand(engine: EngineKind, options: object, timesMs: number[]): Outcome[] {
  // The time is in the middle of a millisecond, because libfaketime computes in floating point.
  const textOf = (ms: number) => `${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')}5`
  return make(engine, options, timesMs.map(textOf), textOf((timesMs[0] ?? 0) - 1))
}

/** A running clock with an offset in milliseconds from the true time. */
function walk(engine: EngineKind, options: object, offsetsMs: number[]): Outcome[] {
  const texts = offsetsMs.map((ms) => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / secondMs).toFixed(3)}`)
  return make(engine, options, texts)
}

const idsPerStep = 8

/** @param first - The clock while the generator is made. */
function make(engine: EngineKind, options: object, clocks: string[], first = clocks[0] ?? ''): Outcome[] {
  const file = join(folder, 'clock')
  writeFileSync(file, first)
  const steps = clocks.map((clock) => ({ clock, count: idsPerStep }))
  const order = JSON.stringify({ options: { node: 7, engine, namespace: freshNamespace(), ...options }, steps })
  const done = spawnSync(process.execPath, [program, order], {
    encoding: 'utf8',
    timeout: hangMs,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      TZ: 'UTC',
      LD_PRELOAD: libfaketime(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  })
  if (done.status !== 0) throw new Error(`the program ended with ${done.signal ?? done.status}: ${done.stderr}`)
  const outcomes = JSON.parse(done.stdout) as { ids: string[]; error?: Outcome['error'] }[]
  return outcomes.map(({ ids, ...rest }) => ({ ...rest, ids: ids.map(BigInt) }) as Outcome)
}

function times(...ms: number[]): number[] {
  return ms.flatMap((one) => Array<number>(idsPerStep).fill(one))
}

function timesOf(outcome: Outcome | undefined): number[] {
  return (outcome?.ids ?? []).map((id) => decode(id, layouts.twitter).timestampMs)
}

function expectRefusal(outcome: Outcome | undefined, rollbackMs: number, retryAfterMs: number): void {
  expect(outcome).toMatchObject({ ids: [], error: { code: 'ERR_CLOCK_ROLLBACK', rollbackMs, retryAfterMs } })
}

function expectResumed(outcomes: Outcome[]): void {
  expect(timesOf(outcomes.at(-1))).toEqual(times(startMs + 7))
  expectDistinct(outcomes, true)
}

function expectDistinct(outcomes: Outcome[], isAscending: boolean): void {
  const ids = outcomes.flatMap((outcome) => outcome.ids)
  expect(new Set(ids).size).toBe(ids.length)
  if (isAscending) expect(ids.every((id, i) => i === 0 || id > (ids[i - 1] as bigint))).toBe(true)
}
