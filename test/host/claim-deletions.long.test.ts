import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { removeChain } from '../../src/host/claim-chain.js'
import { pagesFolder } from '../../src/host/folder.js'
import { tryTo } from '../../src/host/system.js'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong, total } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { claimsOf } from '../support/pages.ts'
import { cleanUp, js, opened, type Plan, said, sleep, start, stateFolder, testClock } from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { recordsOf } from '../support/records.ts'
import { repetitions } from '../support/short.ts'

// Claims are deleted while their processes make ids, on the js engine. A deletion forgets the ids that are
// ahead of the clock, so these processes wait for the clock instead of making such ids.

afterEach(cleanUp)

const plan = (): Plan => ({ node: 7, namespace: freshNamespace(), onRollback: 'wait', maxWaitMs: 2000 })

/** Removes a folder at once: a chain of which the latest link alone is missing says less than no chain. */
function isRemoved(path: string): boolean {
  const isDone = tryTo(() => {
    removeChain(path)
    return true
  })
  return isDone === true
}

/** Each function returns whether there was anything to delete. */
const deletions = {
  'the claim': ({ namespace = '' }: Plan) => claimsOf(namespace).filter(isRemoved).length > 0,
  'the folder of all claims': () => isRemoved(pagesFolder()),
} satisfies Record<string, (own: Plan) => boolean>

describe.each(Object.entries(deletions))('while %s is deleted again and again', (what, deleteNow) => {
  it.each([
    ['', undefined, false],
    [', each of which is terminated and replaced,', 50, false],
    [', one of which is killed and replaced now and then,', undefined, true],
  ])('two processes of three threads%s make different ids', async (_, terminateMs, kills) => {
    const random = seededRandom(`deletions of ${what}`)
    const { folder } = stateFolder()
    for (let round = 0; round < repetitions(6, 1); round++) {
      const own = plan()
      const file = join(folder, `record-${round}`)
      const startOne = () => start('contend.js', { plan: own, file, threads: 3, terminateMs }, js)
      const alive = [startOne(), startOne()]
      await Promise.any(alive.map((one) => said(one, 'i')))
      // On a busy machine it takes longer until claims were deleted, several threads have made ids, and other
      // threads have replaced some.
      const threads = 2 * 3 + (kills || terminateMs !== undefined ? 1 : 0)
      let deleted = 0
      const isDone = () => {
        const records = recordsOf(file)
        return deleted > 10 && records.length >= threads && records.filter(({ length }) => length > 0).length > 1
      }
      for (let i = 0; i < repetitions(150, 60) || !isDone(); i++) {
        await sleep(20 * random())
        if (random() < 0.7 && deleteNow(own)) deleted++
        if (kills && (i === 30 || random() < 0.03)) {
          await alive.shift()?.kill()
          alive.push(startOne())
        }
      }
      for (const { child } of alive) expect(child.exitCode).toBeNull()
      await Promise.all(alive.map(({ kill }) => kill()))
      const records = recordsOf(file)
      const equal = duplicatesAmong(records)
      console.info(`${deleted} deletions, ${total(records)} ids of ${records.length} threads, ${equal} of them equal`)
      expect(equal).toBe(0)
    }
  })
})

describeWith(['linux', 'faketime'], 'a claim that is deleted after the clock was set back by 0.9 s', () => {
  it('is made again with a ceiling above the ids of its process, above which the next process begins', async () => {
    // A layout of few ids in a second, so that processes make nearly all of them.
    const layout = 'sonyflake'
    for (let round = 0; round < repetitions(8, 2); round++) {
      const own: Plan = { node: 7, namespace: freshNamespace(), layout }
      const { env, setBack } = testClock()
      const first = await opened(own, { env: { ...js.env, ...env } })
      const before = await first.issue({ count: 20_000, pauseMs: 0 })
      await setBack(0.9, first)
      expect(deletions['the claim'](own)).toBe(true)
      const after = await first.issue({ count: 2_000, pauseMs: 0 })
      await first.kill()
      const second = await opened({ ...own, maxAheadMs: 5000 }, { env: { ...js.env, ...env } })
      const next = BigUint64Array.from(await second.take(40_000))
      await second.kill()
      const equal = duplicatesAmong([before.ids, after.ids, next])
      console.info(`${before.ids.length} + ${after.ids.length} + ${next.length} ids, ${equal} of them equal`)
      expect(after.ids.length).toBeGreaterThan(0)
      expect(equal).toBe(0)
    }
  })
})
