import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freshNamespace } from '../engines.ts'
import { deletePages, pagesOf } from './clean-pages.ts'
import { descentsIn, mendEnd, readIds, seededRandom } from './ids.ts'
import { describeWith } from './needs.ts'
import { opened, type Plan, said, sleep, start, stateFolder } from './processes.ts'

/** On each kind of state: 500 in all. */
const whileIssuing = 250
const whileOpening = 30
const dayMs = 86_400_000

// One process after the other on one state, each killed at a random instant, and each with a clock that stands anywhere
// within some seconds: so it is never the time that has passed meanwhile that keeps their ids apart. All of them append
// to one file, which ascends strictly exactly if nobody has issued anything at or below what was seen before.
describeWith(['native'], 'after SIGKILL at a random instant', () => {
  const timeout = 240_000

  it.concurrent('nothing is issued again by the next process, on host state', { timeout }, async () => {
    const { issued, ascends } = await chain({ purpose: 'killed on host state', place: 'host', forgets: false })
    expect(issued).toBe(whileIssuing)
    expect(ascends).toBe(true)
  })

  it.concurrent('nothing is issued again by the next process, on a state file whose page is lost half of the times', {
    timeout,
  }, async () => {
    const { issued, ascends } = await chain({ purpose: 'killed on file state', place: 'file', forgets: true })
    expect(issued).toBe(whileIssuing)
    expect(ascends).toBe(true)
  })
})

describeWith(['native', 'linux'], 'after SIGKILL, with all defaults', () => {
  it('a state file that has just been made is opened again at once, though the memory is lost, too', async () => {
    const own: Plan = { node: 1, namespace: freshNamespace(), state: stateFolder().state }
    const first = await opened(own)
    const before = await first.take(3)
    await first.kill()
    expect(deletePages(own.namespace ?? '')).toBe(1)
    const second = await opened(own)
    const after = await second.take(3)
    expect((after[0] ?? 0n) > (before[2] ?? 0n)).toBe(true)
    await second.close()
  })
})

async function chain({ purpose, place, forgets }: { purpose: string; place: 'host' | 'file'; forgets: boolean }) {
  const random = seededRandom(purpose)
  const { folder, state } = stateFolder()
  const file = join(folder, 'record')
  const namespace = freshNamespace()
  const plan: Plan = {
    node: 1,
    namespace,
    state: place === 'host' ? 'host' : state,
    // Short, so that most are killed near a sync.
    windowMs: 10,
    maxAheadMs: dayMs,
    maxWaitMs: 1000,
  }
  let issued = 0
  let seen = 0
  let page: string | undefined
  const openings = new Set(Array.from({ length: whileOpening }, () => Math.floor(random() * whileIssuing)))
  while (issued < whileIssuing) {
    const isOpening = openings.delete(issued)
    const order = { plan: { ...plan, clockOffsetMs: Math.floor(random() * 4000) - 2000 }, file, exact: true, batch: 16 }
    const one = start('record.js', order)
    await said(one, isOpening ? 'o' : 'i')
    // Instants between the ticks of the timer, too.
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
    if (forgets && random() < 0.5) {
      // The name of a page is made of what it is for, so it is always the same.
      page ??= pagesOf(namespace)[0]
      if (page !== undefined) rmSync(page, { force: true })
    }
  }
  return { issued, ascends: descentsIn(readIds(file)) === 0 }
}
