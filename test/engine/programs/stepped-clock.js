// Runs under libfaketime: steps the clock of this process by its order, and makes ids in between. The order
// and the results are JSON; clock-step.long.test.ts judges the results.
import { renameSync, writeFileSync } from 'node:fs'
import { createGenerator } from 'graupel'

const file = process.env['FAKETIME_TIMESTAMP_FILE'] ?? ''
const { options, steps } = JSON.parse(process.argv[2] ?? '')
const ids = open()

const outcomes = steps.map((/** @type {{ clock: string, count: number }} */ { clock, count }) => {
  setClock(clock)
  const made = []
  try {
    for (let i = 0; i < count / 2; i++) made.push(ids.next())
    made.push(...ids.take(count - made.length))
  } catch (error) {
    const { code, message, rollbackMs, retryAfterMs, filled } = /** @type {Record<string, unknown>} */ (error)
    return { ids: made.map(String), error: { code, message, rollbackMs, retryAfterMs, filled } }
  }
  return { ids: made.map(String) }
})
console.log(JSON.stringify(outcomes))

/** A new page or claim begins with the next tick, which the clock has not shown before the first step. */
function open() {
  for (;;) {
    try {
      createGenerator({ ...options, openTimeoutMs: 0 }).close()
      return createGenerator(options)
    } catch (error) {
      const { retryAfterMs } = /** @type {{ retryAfterMs?: number }} */ (error)
      if (retryAfterMs === undefined) throw error
      setClock(steps[0].clock)
    }
  }
}

/** @param {string} clock - The time in the format of libfaketime. */
function setClock(clock) {
  // The file is replaced in one step, because an empty file would be no valid time.
  writeFileSync(`${file}.new`, clock)
  renameSync(`${file}.new`, file)
  // The native engine may use its last reading for 33 microseconds.
  const steppedAt = performance.now()
  while (performance.now() - steppedAt < 1);
}
