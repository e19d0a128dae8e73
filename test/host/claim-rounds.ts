import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong, expectAscending, total } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { deletePages } from '../support/pages.ts'
import {
  cleanUp,
  js,
  native,
  Obedient,
  opened,
  type Plan,
  said,
  sleep,
  start,
  stateFolder,
} from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { recordsOf } from '../support/records.ts'
import { until } from '../support/until.ts'

/** Returns how much was written, and by how many processes. A name ends in `.<pid>.<thread>`. */
function writtenTo(file: string): { bytes: number; processes: number } {
  const files = readdirSync(dirname(file)).map((name) => ({ name, bytes: statSync(join(dirname(file), name)).size }))
  const used = files.filter(({ bytes }) => bytes > 0)
  const bytes = used.reduce((sum, { bytes }) => sum + bytes, 0)
  return { bytes, processes: new Set(used.map(({ name }) => name.split('.').at(-2))).size }
}

const plan = (): Plan => ({ node: 7, namespace: freshNamespace() })

/** Tests of processes that claim a node again and again, in turn and at once. */
export function proveClaims(rounds: number): void {
  afterEach(cleanUp)

  describe(`a node that processes on the js engine claim in ${rounds} rounds`, () => {
    it('is claimed again after its claim was deleted, by the first process that looks', async () => {
      for (let round = 0; round < rounds; round++) {
        const own = plan()
        const first = await opened(own, js)
        const second = new Obedient(js)
        const before = await first.take(100)
        deletePages(own.namespace ?? '')
        const attempts = await Promise.allSettled([first.take(100), second.open(own).then(() => second.take(100))])
        const after = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []))
        expect(after.length).toBeGreaterThan(0)
        expect(duplicatesAmong([BigUint64Array.from([...before, ...after])])).toBe(0)
        await Promise.all([first.kill(), second.kill()])
      }
    })

    it('is given to one of many processes that start at once, each time', async () => {
      const random = seededRandom('claims under way')
      const { folder } = stateFolder()
      const file = join(folder, 'record')
      const own = plan()
      for (let round = 0; round < rounds; round++) {
        const alive = Array.from({ length: 4 }, () =>
          start('record.js', { plan: own, file, batch: 256, pauseMs: 1 }, js),
        )
        await Promise.any(alive.map((one) => said(one, 'i')))
        await sleep(100 * random())
        await Promise.all(alive.map(({ kill }) => kill()))
      }
      const records = recordsOf(file)
      expect(records.length).toBeGreaterThan(rounds / 3)
      expect(total(records)).toBeGreaterThan(rounds * 100)
      expect(duplicatesAmong(records)).toBe(0)
    })

    it('goes from process to process, as their threads close the last generator and open others', async () => {
      const { folder } = stateFolder()
      const file = join(folder, 'record')
      const order = { plan: plan(), file, threads: 3, closesAfter: 5 }
      const alive = Array.from({ length: 3 }, () => start('contend.js', order, js))
      await until(() => {
        const { bytes, processes } = writtenTo(file)
        return bytes > rounds * 100_000 * 8 && processes > 1
      })
      await Promise.all(alive.map(({ kill }) => kill()))
      expect(duplicatesAmong(recordsOf(file))).toBe(0)
    })

    it('stays near the clock, however often its process is killed', async () => {
      const own = plan()
      const parts: bigint[][] = []
      for (let round = 0; round < rounds; round++) {
        const process = await opened(own, js)
        parts.push(await process.take(1))
        expect((await process.stats()).aheadMs).toBeLessThan(1000)
        await process.kill()
      }
      expectAscending(...parts)
    })
  })

  describeWith(['native'], `a node that processes on both engines claim in ${rounds} rounds`, () => {
    it('is opened by all native processes that start at once after one on the js engine was killed', async () => {
      for (let round = 0; round < rounds / 4; round++) {
        const own = plan()
        const first = await opened(own, js)
        await first.take(3)
        await first.kill()
        const others = Array.from({ length: 6 }, () => new Obedient(native))
        const parts = await Promise.all(others.map((other) => other.open(own).then(() => other.take(100))))
        expect(duplicatesAmong(parts.map((ids) => BigUint64Array.from(ids)))).toBe(0)
        await Promise.all(others.map((other) => other.kill()))
      }
    })

    it('is never counted by both engines, however often their processes start and end', async () => {
      const random = seededRandom('both engines')
      const { folder } = stateFolder()
      const file = join(folder, 'record')
      const own = plan()
      for (let round = 0; round < rounds; round++) {
        const alive = [js, native, js, native].map((engine) =>
          start('record.js', { plan: own, file, batch: 256, pauseMs: 1 }, engine),
        )
        await Promise.any(alive.map((one) => said(one, 'i')))
        await sleep(100 * random())
        await Promise.all(alive.map(({ kill }) => kill()))
      }
      const records = recordsOf(file)
      expect(total(records)).toBeGreaterThan(rounds * 100)
      expect(duplicatesAmong(records)).toBe(0)
    })
  })
}
