import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { descentsIn, duplicatesAmong, total } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { pagesOf } from '../support/pages.ts'
import { cleanUp, type Plan, said, sleep, start, stateFolder } from '../support/processes.ts'
import { recordsOf } from '../support/records.ts'
import { until } from '../support/until.ts'

const batch = 128
const sizeOf = (file: string) => statSync(file).size

/** Tests of a page that is deleted or replaced again and again while processes use it. */
export function proveReplacements(times: number): void {
  afterEach(cleanUp)

  describeWith(['native', 'linux'], 'while processes issue', () => {
    it.each(['is deleted', 'is deleted and put back by an older one'])(
      `a page that %s ${times} times leads to no duplicate, with processes that come and go meanwhile`,
      async (what) => {
        const { folder } = stateFolder()
        const file = join(folder, 'record')
        const own: Plan = { node: 1, namespace: freshNamespace() }
        const startOne = () => start('record.js', { plan: own, file, batch, pauseMs: 1 })
        const alive = [startOne(), startOne(), startOne()]
        await Promise.all(alive.map((one) => said(one, 'i')))
        // The page has the same name each time it is made.
        const [page = ''] = pagesOf(own.namespace ?? '')
        let attacks = 0
        for (let i = 0; i < times; i++) {
          const isTimeForOne = i % 4 === 0
          const next = isTimeForOne ? startOne() : undefined
          const isIssuing = next && said(next, 'i')
          if (next !== undefined) alive.push(next)
          if (what === 'is deleted') {
            // The page is deleted repeatedly while the process opens it, so some deletions are in the same
            // tick as the opening.
            if (next !== undefined) await said(next, 'o')
            for (let n = 0; n < (isTimeForOne ? 60 : 1); n++) {
              if (existsSync(page)) attacks++
              rmSync(page, { force: true })
              if (isTimeForOne) await sleep(0)
            }
          } else if (existsSync(page)) {
            // The page is not replaced while a process opens it: a process without another word would trust
            // the older word.
            await isIssuing
            // The page is replaced in one step, so no process reads half of a page.
            copyFileSync(page, `${page}.older`)
            await sleep(3)
            renameSync(`${page}.older`, page)
            attacks++
            // The next copy waits for all of them: a process that knows neither page would trust that copy's
            // word. The first batch after the replacement may be an older one.
            const followed = alive.map(({ child }) => sizeOf(`${file}.${child.pid}.0`) + 3 * batch * 8)
            await until(() =>
              alive.every(({ child }, j) => sizeOf(`${file}.${child.pid}.0`) >= (followed[j] as number)),
            )
          }
          await isIssuing
          if (next !== undefined) await alive.shift()?.kill()
          // Ids are made between two deletions.
          const before = alive.map(({ child }) => sizeOf(`${file}.${child.pid}.0`))
          await until(() =>
            alive.every(({ child }, j) => sizeOf(`${file}.${child.pid}.0`) >= (before[j] as number) + 2 * batch * 8),
          )
        }
        await Promise.all(alive.map(({ kill }) => kill()))
        for (const { ended } of alive) expect(await ended).toMatchObject({ signal: 'SIGKILL', errors: '' })
        expect(attacks).toBeGreaterThan(times / 2)
        const records = recordsOf(file)
        expect(total(records)).toBeGreaterThan(times * 400)
        expect(records.map(descentsIn)).toEqual(Array(records.length).fill(0))
        expect(duplicatesAmong(records)).toBe(0)
      },
    )
  })
}
