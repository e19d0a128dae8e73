import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createGenerator, layouts } from 'graupel'
import { afterAll, describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { seededRandom } from '../support/random.js'

// Threads that end in the middle of any call. They run in a process of their own, because a fault would end
// the process.

const program = fileURLToPath(new URL('programs/terminating.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-terminate-'))
const random = seededRandom('when threads end')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Milliseconds that a worker needs to load the package, and then to use some generators. */
const loadingMs = 80
const workingMs = 12

/**
 * @param count - The number of terminated workers in each of the first two cases; the other cases have fewer.
 */
export function proveTerminations(count: number): void {
  describe.runIf(engines.includes('native'))('on the native engine', () => {
    it.each([1, 3])(
      `${count} workers, %i at once, are terminated at any moment and leave nothing behind`,
      async (workers) => {
        const outcome = await run({ rounds: rounds(Math.ceil(count / workers), workers), isFirst: true })
        expect(outcome).toEqual({ ids: expect.any(Number), isAfter: true, duplicates: 0 })
        expect(outcome.ids).toBeGreaterThan(count * 15)
      },
    )

    it('leave no state behind if the main thread imports the package after their start', async () => {
      const outcome = await run({ rounds: rounds(Math.ceil(count / 5), 3), isFirst: false })
      expect(outcome).toEqual({ ids: expect.any(Number), isAfter: true, duplicates: 0 })
      expect(outcome.ids).toBeGreaterThan(count * 3)
    })

    it('process.exit() ends the process while its workers make ids, and the next process goes on after their ids', async () => {
      for (let i = 0; i < count / 5; i++) {
        const namespace = freshNamespace()
        // The process exits when the first worker ends, which has made ids before.
        const { last = '0' } = await run({ namespace, rounds: rounds(1, 3, 0), isFirst: i % 2 === 0, exits: true })
        expect(BigInt(last)).toBeGreaterThan(0n)
        const ids = createGenerator({
          node: 1,
          namespace,
          layout: layouts.wide,
          onOverflow: 'advance',
          maxAheadMs: 600_000,
        })
        expect(ids.next()).toBeGreaterThan(BigInt(last))
        ids.close()
      }
    })
  })
}

interface Outcome {
  ids: number
  isAfter: boolean
  duplicates: number
  last?: string
}

/** @param loading - The share of workers that end while they load. */
function rounds(count: number, workers: number, loading = 1 / 3) {
  return Array.from({ length: count }, (_, round) =>
    Array.from({ length: workers }, (_, index) => {
      const isLoading = (round * workers + index) % 3 < loading * 3
      return { isLoading, afterMs: Math.floor(random() * (isLoading ? loadingMs : workingMs)) }
    }),
  )
}

async function run(order: {
  namespace?: string
  rounds: ReturnType<typeof rounds>
  isFirst: boolean
  exits?: boolean
}): Promise<Outcome> {
  const namespace = order.namespace ?? freshNamespace()
  const states = ['host', 'process', join(folder, `${encodeURIComponent(namespace)}.state`)]
  const child = spawn(process.execPath, [program, JSON.stringify({ ...order, namespace, states })], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  const [said, errors, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  expect({ end, errors }).toEqual({ end: { code: 0, signal: null }, errors: '' })
  return JSON.parse(said)
}
