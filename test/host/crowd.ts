import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { descentsIn, duplicatesAmong, total } from '../support/ids.ts'
import { describeWith, folder } from '../support/needs.ts'
import { cleanUp, type Plan, type Started, said, sleep, start, stateFolder, wellEnded } from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { recordsOf } from '../support/records.ts'

interface Crowd {
  /** The number of ids of 8 processes with 2 threads each. */
  readonly byThreads: number
  /** The number of ids of 4 workers of node:cluster. */
  readonly byWorkers: number
  /** The number of killed processes, one every 50 ms. */
  readonly kills: number
}

/** Tests of many processes on one node, with default options. */
export function proveCrowd({ byThreads, byWorkers, kills }: Crowd): void {
  afterEach(cleanUp)

  describeWith(['native'], 'many processes on one node, with default options', () => {
    it(`8 processes with 2 threads each make ${byThreads} ids: no duplicate, and each thread sees them ascend`, async () => {
      const file = join(folder, 'threads')
      const plan: Plan = { node: 1, namespace: freshNamespace() }
      const each = byThreads / 16
      const started = Array.from({ length: 8 }, () => start('record.js', { plan, file, threads: 2, count: each }))
      await Promise.all(started.map(wellEnded))
      const records = recordsOf(file)
      expect(records.map(({ length }) => length)).toEqual(Array(16).fill(each))
      expect(records.map(descentsIn)).toEqual(Array(16).fill(0))
      expect(duplicatesAmong(records)).toBe(0)
    })

    it(`4 workers of node:cluster make ${byWorkers} ids: no duplicate`, async () => {
      const file = join(folder, 'cluster')
      const plan: Plan = { node: 1, namespace: freshNamespace() }
      await wellEnded(start('record.js', { plan, file, forks: 4, count: byWorkers / 4 }))
      const records = recordsOf(file)
      expect(records.map(({ length }) => length)).toEqual(Array(4).fill(byWorkers / 4))
      expect(records.map(descentsIn)).toEqual(Array(4).fill(0))
      expect(duplicatesAmong(records)).toBe(0)
    })

    it.each(['host', 'file'])(
      `killing ${kills}, one every 50 ms, and starting others leads to no duplicate, on %s state`,
      async (place) => {
        const { state, folder: own } = stateFolder()
        const file = join(own, 'record')
        const plan: Plan = {
          node: 1,
          namespace: freshNamespace(),
          state: place === 'host' ? 'host' : state,
          reserveMs: 100,
          maxWaitMs: 10_000,
          openTimeoutMs: 10_000,
        }
        const random = seededRandom(`killed on ${place} state`)
        const startOne = () => {
          const one = start('record.js', { plan, file, batch: 256 })
          const begun = said(one, 'i')
          // Some processes are killed earlier.
          begun.catch(() => {})
          return { ...one, begun }
        }
        const killed: Started['ended'][] = []
        const alive = Array.from({ length: 6 }, startOne)
        for (let i = 0; i < kills; i++) {
          await sleep(50)
          const index = Math.floor(random() * alive.length)
          const victim = alive[index] as ReturnType<typeof startOne>
          await victim.begun
          alive[index] = startOne()
          victim.child.kill('SIGKILL')
          killed.push(victim.ended)
        }
        await Promise.all(alive.map(({ kill }) => kill()))
        expect(await Promise.all(killed)).toEqual(Array(kills).fill({ code: null, signal: 'SIGKILL', errors: '' }))
        const records = recordsOf(file)
        expect(records.length).toBeGreaterThanOrEqual(kills)
        expect(total(records)).toBeGreaterThanOrEqual(kills * 256)
        expect(records.map(descentsIn)).toEqual(Array(records.length).fill(0))
        expect(duplicatesAmong(records)).toBe(0)
      },
    )
  })
}
