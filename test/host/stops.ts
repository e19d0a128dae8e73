import { join } from 'node:path'
import { type ExpectStatic, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { descentsIn, duplicatesAmong, total } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { type Plan, said, sleep, start, stateFolder } from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { readIds, recordsOf } from '../support/records.ts'
import { stopProcess } from '../support/stop-process.ts'
import { until } from '../support/until.ts'

interface Stops {
  /** The number of short stops before the long stop. */
  readonly stops: number
  readonly longMs: number
}

/** Tests of a process that SIGSTOP interrupts at any point, and that goes on later. */
export function proveStops(stops: Stops): void {
  describeWith(
    ['native', 'linux'],
    `a process that is stopped ${stops.stops} times, and then for ${stops.longMs} ms`,
    () => {
      const timeout = 120_000

      it.concurrent('makes no id that other processes have made meanwhile, on host state', { timeout }, ({ expect }) =>
        stopAndGo('host', stops, expect),
      )
      it.concurrent('makes no id that other processes have made meanwhile, on file state', { timeout }, ({ expect }) =>
        stopAndGo('file', stops, expect),
      )
    },
  )
}

async function stopAndGo(place: 'host' | 'file', { stops, longMs }: Stops, expect: ExpectStatic): Promise<void> {
  const { folder, state } = stateFolder()
  const file = join(folder, 'record')
  const plan: Plan = {
    node: 1,
    namespace: freshNamespace(),
    // Other processes must wait while the stopped process has the lock.
    ...(place === 'file' && { state, reserveMs: 200, maxWaitMs: 60_000, openTimeoutMs: 60_000 }),
  }
  const random = seededRandom(`stopped on ${place} state`)
  // The processes differ in speed; the first process is stopped.
  const paces = [0, 0, 1, 7]
  const all = paces.map((pauseMs) => start('record.js', { plan, file, batch: 64, pauseMs }))
  await Promise.all(all.map((one) => said(one, 'i')))
  const [victim] = all
  const stopFor = async (ms: number) => {
    victim?.child.kill('SIGSTOP')
    await sleep(ms)
    victim?.child.kill('SIGCONT')
    await sleep(random() * 8)
  }
  for (let i = 0; i < stops; i++) await stopFor(random() * 20)
  const own = join(folder, `record.${victim?.child.pid}.0`)
  await stopProcess(victim?.child.pid as number)
  const before = readIds(own).length
  const ofAll = total(recordsOf(file))
  await sleep(longMs)
  // The first process was stopped. The others go on unless it has the lock.
  if (place === 'host') await until(() => total(recordsOf(file)) > ofAll + longMs * 10)
  expect(readIds(own).length).toBe(before)
  victim?.child.kill('SIGCONT')
  await until(() => readIds(own).length > before)
  await Promise.all(all.map(({ kill }) => kill()))
  for (const { ended } of all) expect(await ended).toMatchObject({ signal: 'SIGKILL', errors: '' })
  const records = recordsOf(file)
  expect(records).toHaveLength(paces.length)
  expect(records.map(descentsIn)).toEqual(Array(paces.length).fill(0))
  expect(duplicatesAmong(records)).toBe(0)
}
