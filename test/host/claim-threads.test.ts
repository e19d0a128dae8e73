import { describe, expect, it, vi } from 'vitest'
import { claims } from '../../src/host/claim.js'
import { caught } from '../support/engines.ts'
import {
  claimant,
  clock,
  inFrontOf,
  latestOf,
  numbersOf,
  type Own,
  other,
  remove,
  take,
  writeLink,
  writePage,
} from './claims.ts'

/** Takes a claim like a thread that has not raised the floor yet: the other threads do not have the link. */
const takeInSecret = (own: Own) => claims.take(own, clock, own.held, 0n)
const looks = () => vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out')

describe('threads that take a claim at once', () => {
  it('have one link: the thread that is later finds the link of the other, and does not wait', () => {
    const own = claimant()
    const wait = looks()
    // After this thread has found no link.
    inFrontOf('openSync', () => take(own))
    expect(take(own)).toMatchObject({ number: 2, isOwn: true, floor: 1500n })
    expect(wait).not.toHaveBeenCalled()
  })

  it('wait for the floor of a link that another thread has just made', () => {
    const own = claimant()
    const { link } = takeInSecret(own)
    const wait = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      if (wait.mock.calls.length === 3) own.held.link = link
      return 'timed-out'
    })
    expect(take(own)).toMatchObject({ from: link, number: 2, isOwn: true, floor: 1500n })
    expect(wait).toHaveBeenCalledTimes(3)
  })

  it('wait for it also if the claim was deleted, and the link has the number of the last one', () => {
    const own = claimant()
    const { link } = take(own)
    remove(own)
    takeInSecret(own)
    const wait = looks()
    expect(take(own)).toMatchObject({ from: link, number: 2, isOwn: false, floor: 1500n })
    expect(wait).toHaveBeenCalled()
  })

  it('continue at the ceiling of a link whose thread was terminated', () => {
    const own = claimant()
    takeInSecret(own)
    looks()
    expect(take(own)).toMatchObject({ from: 0, number: 2, isOwn: false, floor: 1500n, ceiling: 2000n })
  })
})

describe('a claim that was deleted', () => {
  it('is looked for again by a process that was refused, because another had taken it', () => {
    const own = claimant()
    const { link } = take(own)
    remove(own)
    inFrontOf('renameSync', () => writeLink(own, '1.b'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(own.held.link).toBe(link)
    expect(claims.isHeld(own, link)).toBe(false)
    // As soon as the other process has given it back, the first one has it again.
    writeLink(own, '2.a1', { use: 'released', ceiling: '1800' })
    expect(take(own)).toMatchObject({ from: link, number: 3, isOwn: false, floor: 1800n })
  })

  it.each([
    ['word of its process', { word: 5000n }, 5500n],
    ['ceiling of its process, below which its threads make ids', { word: 5000n, ceiling: 7000n }, 7000n],
  ])('is made again with a ceiling that is not below the %s', (_, held, ceiling) => {
    const own = claimant()
    take(own)
    Object.assign(own.held, held)
    remove(own)
    expect(take(own)).toMatchObject({ number: 1, isOwn: false, floor: 1001n, ceiling })
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', ceiling: `${ceiling}` })
  })

  it('tells the page the word of its process if a native process has come', () => {
    const own = claimant()
    take(own)
    Object.assign(own.held, { word: 5000n })
    remove(own)
    inFrontOf('renameSync', () => writePage(own, 7000n, 0n, other.pid))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)?.says).toMatchObject({ use: 'page', ceiling: '5000' })
    expect(numbersOf(own)).toEqual([1, 2])
  })
})
