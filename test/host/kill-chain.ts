import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { descentsIn } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { pagesOf } from '../support/pages.ts'
import { type Plan, said, sleep, start, stateFolder } from '../support/processes.ts'
import { seededRandom } from '../support/random.ts'
import { mendEnd, readIds } from '../support/records.ts'

const dayMs = 86_400_000

/**
 * Runs processes one after the other on one state, and kills each at a random instant. Each process has a
 * random clock within some seconds, so time does not separate their ids. All processes append to one file.
 * Its ids ascend strictly exactly if no process issues an id at or below an earlier id.
 *
 * @param kills - The number of kills on each kind of state.
 */
export function proveKills(kills: number, whileOpening: number): void {
  describeWith(['native'], `after each of ${kills} SIGKILLs at random instants`, () => {
    const timeout = 600_000

    it.concurrent('nothing is issued again by the next process, on host state', { timeout }, async () => {
      const { issued, ascends } = await chain({ place: 'host', kills, whileOpening, losesPage: false })
      expect(issued).toBe(kills)
      expect(ascends).toBe(true)
    })

    it.concurrent('nothing is issued again by the next process, on a state file whose page is lost half of the times', {
      timeout,
    }, async () => {
      const { issued, ascends } = await chain({ place: 'file', kills, whileOpening, losesPage: true })
      expect(issued).toBe(kills)
      expect(ascends).toBe(true)
    })
  })
}

interface Chain {
  readonly place: 'host' | 'file'
  /** The number of processes that are killed while they make ids. */
  readonly kills: number
  /** The number of further processes that are killed while they open their generator. */
  readonly whileOpening: number
  /** Whether half of the kills also lose the page. */
  readonly losesPage: boolean
}

async function chain({ place, kills, whileOpening, losesPage }: Chain) {
  const random = seededRandom(`killed on ${place} state`)
  const { folder, state } = stateFolder()
  const file = join(folder, 'record')
  const namespace = freshNamespace()
  const plan: Plan = {
    node: 1,
    namespace,
    state: place === 'host' ? 'host' : state,
    // `reserveMs` is short, so most kills are near a sync.
    reserveMs: 10,
    maxAheadMs: dayMs,
    maxWaitMs: 60_000,
    openTimeoutMs: 60_000,
  }
  let issued = 0
  let seen = 0
  let page: string | undefined
  const openings = new Set(Array.from({ length: whileOpening }, () => Math.floor(random() * kills)))
  while (issued < kills) {
    const isOpening = openings.delete(issued)
    const order = { plan: { ...plan, clockOffsetMs: Math.floor(random() * 4000) - 2000 }, file, exact: true, batch: 16 }
    const one = start('record.js', order)
    await said(one, isOpening ? 'o' : 'i')
    // A busy loop reaches instants between the ticks of the timer.
    const untilMs = performance.now() + random() * (isOpening ? 3 : 12)
    if (untilMs - performance.now() > 2) await sleep(untilMs - performance.now() - 1)
    while (performance.now() < untilMs);
    one.child.kill('SIGKILL')
    expect(await one.ended).toMatchObject({ signal: 'SIGKILL', errors: '' })
    if (!isOpening) {
      const now = mendEnd(file)
      expect(now, 'ids that were made before it was killed').toBeGreaterThan(seen)
      seen = now
      issued++
    } else if (statSync(file, { throwIfNoEntry: false }) !== undefined) {
      seen = mendEnd(file)
    }
    if (losesPage && random() < 0.5) {
      // The name of a page is derived from its key, so it never changes.
      page ??= pagesOf(namespace)[0]
      // A process that is killed while it opens its generator may have made no page. Each other process has.
      const hasPage = page !== undefined && existsSync(page)
      if (hasPage || !isOpening) rmSync(page ?? '')
    }
  }
  return { issued, ascends: descentsIn(readIds(file)) === 0 }
}
