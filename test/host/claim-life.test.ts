import { mkdirSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { claims, forgetClaim } from '../../src/host/claim.js'
import type { latestLink } from '../../src/host/claim-chain.js'
import { caught } from '../support/engines.ts'
import {
  claimant,
  clock,
  gone,
  inFrontOf,
  isThere,
  latestOf,
  numbersOf,
  type Own,
  other,
  pages,
  remove,
  take,
  writeChain,
  writeLink,
  writePage,
} from './claims.ts'

describe('a claim', () => {
  it('is made if there was none, and begins with the next tick', () => {
    const own = claimant()
    expect(take(own)).toMatchObject({ number: 1, isOwn: false, floor: 1001n, ceiling: 1500n })
    expect(numbersOf(own)).toEqual([1])
    expect(claims.isHeld(own, own.held.link)).toBe(true)
  })

  it('is raised above the word once, even if several threads find its ceiling too low', () => {
    const own = claimant()
    take(own)
    for (const word of [1400n, 1400n, 1500n, 900n]) {
      Object.assign(own.held, { word })
      const { ceiling } = take(own)
      expect(ceiling).toBe(word === 900n ? 2000n : word + 500n)
    }
  })

  it('is raised by the next link, which keeps its predecessor', () => {
    const own = claimant()
    const first = take(own)
    Object.assign(own.held, { word: 1500n })
    expect(take(own)).toMatchObject({ from: first.link, number: 2, isOwn: true, floor: 1500n, ceiling: 2000n })
    expect(numbersOf(own)).toEqual([1, 2])
    expect(take(own)).toMatchObject({ number: 3, floor: 2000n })
    expect(numbersOf(own)).toEqual([2, 3])
    expect(claims.isHeld(own, first.link)).toBe(false)
    expect(claims.isHeld(own, own.held.link)).toBe(true)
  })

  it('of a process that is gone is continued at its ceiling', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '9000' })
    expect(take(own)).toMatchObject({ number: 6, isOwn: false, floor: 9000n, ceiling: 9500n })
  })

  it('that was given back is continued at its word', () => {
    const own = claimant()
    claims.release(own, take(own).link, 1234n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'released', ceiling: '1234' })
    expect(take({ ...own, owner: 'another' })).toMatchObject({ number: 3, isOwn: false, floor: 1234n })
  })

  it('of a process that runs is refused, and stays as it is', () => {
    const own = claimant()
    writeChain(own, {})
    expect(caught(() => take(own))).toMatchObject({
      code: 'ERR_STATE_UNREACHABLE',
      message: expect.stringContaining(`process ${other.pid}`),
    })
    expect(numbersOf(own)).toEqual([4, 5])
  })

  it('is not given back by a process that has lost it', () => {
    const own = claimant()
    const { link } = take(own)
    remove(own)
    writeLink(own, '1.b')
    claims.release(own, link, 5000n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', owner: 'theirs' })
  })

  it('is not given back if another thread has made the next link meanwhile', () => {
    const own = claimant()
    const { link } = take(own)
    Object.assign(own.held, { word: 1500n })
    take(own)
    claims.release(own, link, 1234n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', ceiling: '2000' })
  })

  it('is lost if another process has begun it again, with the same number', () => {
    const own = claimant()
    const { link } = take(own)
    expect(claims.isHeld(own, link)).toBe(true)
    remove(own)
    writeLink(own, '1.b')
    expect(claims.isHeld(own, link)).toBe(false)
  })

  it.each([
    ['has a word', 7000n, 0n, 7000n],
    ['was not begun', 0n, 7000n, 7000n],
    ['is sealed', 2n ** 64n - 1n, 7000n, 7001n],
  ])('begins at the page beside it that %s', (_, word, last, floor) => {
    const own = claimant()
    writePage(own, word, last)
    expect(take(own)).toMatchObject({ number: 1, floor })
  })

  it.each([
    ['runs', () => other.pid],
    ['was killed', () => gone.pid],
  ])('is not made beside a page that has the entry of a process that %s', (_, pid) => {
    const own = claimant()
    const path = writePage(own, 7000n, 0n, pid())
    const error = caught(() => take(own))
    expect(error).toMatchObject({
      code: 'ERR_STATE_UNREACHABLE',
      message: expect.stringContaining(`process ${pid()} `),
    })
    expect(error.message).toContain(`'graupel state ${path} --clean'`)
    expect(isThere(own)).toBe(false)
  })

  it('is left to the page if its process finds a native process in the page after its link', () => {
    const own = claimant()
    inFrontOf('renameSync', () => writePage(own, 7000n, 0n, other.pid))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 2, says: { use: 'page', ceiling: '0' } })
  })
})

describe('a claim that leaves its key to a page', () => {
  it('makes a link for the page, which begins at its ceiling', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    const given = claims.giveToPage(own.place, own, clock)
    expect(latestOf(own)).toMatchObject({ number: 6, name: given?.claimLink, says: { use: 'page', pid: process.pid } })
    expect(given).toEqual({
      claimLink: '6.a5',
      claimNext: `7.${latestOf(own)?.says.token}`,
      claimFloor: 7000n,
    })
    // Later processes get the same link.
    expect(claims.giveToPage(own.place, own, clock)).toEqual(given)
  })

  it('is taken at its ceiling, and not before the next tick if the page is gone', () => {
    const [low, high] = [claimant(), claimant()]
    writeChain(low, { use: 'page', ceiling: '900' })
    writeChain(high, { use: 'page', ceiling: '7000' })
    expect(take(low)).toMatchObject({ number: 6, floor: 1001n })
    expect(take(high)).toMatchObject({ number: 6, floor: 7000n })
  })

  it('is refused while its process runs, and does nothing if it was removed', () => {
    const [held, removed] = [claimant(), claimant()]
    writeChain(held, {})
    expect(caught(() => claims.giveToPage(held.place, held, clock)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(claims.giveToPage(removed.place, removed, clock)).toBeUndefined()
    // Even an empty folder prevents the use of the page.
    mkdirSync(removed.place, { mode: 0o700 })
    expect(claims.giveToPage(removed.place, removed, clock)).toBeUndefined()
    expect(isThere(removed)).toBe(false)
  })
})

describe('a claim that is forgotten', () => {
  const forget = (own: Own) => forgetClaim(own.place, latestOf(own) as NonNullable<ReturnType<typeof latestLink>>)

  it('is gone, and a later claim has no floor', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    expect(forget(own)).toBe(true)
    expect(isThere(own)).toBe(false)
    expect(readdirSync(pages).filter((name) => name.endsWith('.new'))).toEqual([])
    expect(take(own)).toMatchObject({ number: 1, floor: 1001n })
  })

  it('stays if another process takes it up at this moment', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => writeLink(own, '6.a5'))
    expect(forget(own)).toBe(false)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', owner: 'theirs' })
  })

  it('is no floor for a process that had read it, and slept', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    inFrontOf('linkSync', () => forget(own))
    expect(take(own)).toMatchObject({ number: 1, floor: 1001n })
    expect(numbersOf(own)).toEqual([1])
  })

  it('begins with the next tick for a process that takes it before it is removed', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    inFrontOf('renameSync', () => expect(take(own)).toMatchObject({ number: 7, floor: 1001n }))
    expect(forget(own)).toBe(true)
    expect(claims.isHeld(own, own.held.link)).toBe(false)
  })

  it('has been forgotten by another process if its folder is gone', () => {
    const own = claimant()
    writeChain(own, gone)
    const latest = latestOf(own)
    remove(own)
    expect(latest !== undefined && forgetClaim(own.place, latest)).toBe(false)
  })
})
