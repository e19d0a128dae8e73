import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { hangMs } from '../support/until.ts'

const program = fileURLToPath(new URL('./programs/ends.js', import.meta.url))
/** Returns the output of a process that has to end on its own. */
async function outputOf(which: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, which], { timeout: hangMs })
  return stdout.trim()
}

describe('a process', () => {
  it.concurrent.each([
    ['has a generator that is not closed', 'idle', 'done'],
    ['has lent its handle to a thread', 'shared', '100\ndone'],
    ['has a fetch that will be tried again', 'retry', 'done'],
    ['has a fetch that hangs', 'hanging', 'done'],
  ])('ends on its own if it %s', async (_, which, output) => {
    expect(await outputOf(which)).toBe(output)
  })

  it.concurrent.each([
    ['for a store that hangs', 'waiting', 'ERR_EMPTY ERR_STORE_UNAVAILABLE\ndone'],
    ['for a fetch that had begun before', 'waitingLate', 'ERR_EMPTY ERR_STORE_UNAVAILABLE\ndone'],
    ['for the next attempt', 'waitingForRetry', '11n\ndone'],
  ])('stays alive while nextAsync waits %s', async (_, which, output) => {
    expect(await outputOf(which)).toBe(output)
  })
})
