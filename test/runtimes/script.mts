import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { createGenerator, type GraupelError, layouts } from 'graupel'

/**
 * Makes ids by one script of clock readings, and returns a digest of the ids and errors. Both engines have
 * the same digest. A process has one engine, so each process computes one of them.
 */
export function digestOfScript(engine: 'native' | 'js'): string {
  let state = 1
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
  let now = 1_700_000_000_000
  const generator = createGenerator({
    node: 3,
    engine,
    clock: () => now,
    layout: layouts.js53,
    maxAheadMs: 20,
    maxWaitMs: 0,
    namespace: `script ${engine}`,
    onRollback: 'advance',
    onOverflow: 'throw',
  })
  const lines = []
  for (let i = 0; i < 20_000; i++) {
    now += [0, 0, 0, 1, 2, -1, -30, 40][random(8)] as number
    try {
      lines.push(random(3) === 0 ? generator.take(random(60)).join() : generator.nextString())
    } catch (error) {
      lines.push((error as GraupelError).code)
    }
  }
  generator.close()
  for (const code of ['ERR_CLOCK_ROLLBACK', 'ERR_SEQUENCE_OVERFLOW']) assert(lines.includes(code), code)
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
