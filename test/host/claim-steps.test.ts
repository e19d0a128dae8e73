import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { GraupelError } from '../../dist/errors.js'
import { claimExists, forgetClaim, handOver, isClaimHeld, releaseClaim, takeClaim } from '../../dist/host/claim.js'
import { latestStep } from '../../dist/host/claim-steps.js'
import { pagesFolder } from '../../dist/host/folder.js'
import { nameOf } from '../../dist/host/name.js'
import { caught } from '../support/engines.ts'
import { sleeper } from '../support/sleeper.ts'

// The steps of a claim, with another process between any two calls of this one: what it does is done in front of the call
// to the system that comes next.

const root = mkdtempSync(join(tmpdir(), 'graupel-claim-'))
const pages = join(root, basename(pagesFolder()))
const other = sleeper()

beforeAll(() => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', root)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const clock = {
  nowSlot: () => 1000n,
  slotAfter: (tick: number) => BigInt(Math.max(tick, 1000) + 1),
  ceilingFrom: (floor: bigint) => (floor > 1000n ? floor : 1000n) + 500n,
}
const description = JSON.stringify({ name: 'tiny' })
let count = 0

function claimant() {
  count += 1
  const key = `real 0 1 41 22 12 0 ${count} test`
  const place = join(pages, `${nameOf(key)}.claim`)
  return { key, description, token: 'ours', place }
}

/** A step as another process writes it. */
function writeStep(place: string, number: number, more: object): void {
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const running = { pid: other.pid, pidNamespace: ownNamespace(), startTime: 0, bootId: '' }
  const says = { format: 1, key: '', description, token: 'theirs', ceiling: '2000', use: 'counts', ...running, ...more }
  writeFileSync(join(place, String(number)), JSON.stringify(says), { mode: 0o600 })
}

function ownNamespace(): number {
  return process.platform === 'linux' ? Number(/\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0]) : 0
}

const gone = { pid: 2 ** 22 + 1 }
const stepsOf = (place: string) => readdirSync(place).sort()
const saysOf = (place: string, number: number) => JSON.parse(readFileSync(join(place, String(number)), 'utf8'))

/** Does something in front of the next link(). */
function beforeLink(act: () => void): void {
  const link = fs.linkSync
  vi.spyOn(fs, 'linkSync').mockImplementationOnce((from, to) => {
    act()
    link(from, to)
  })
}

describe('a claim', () => {
  it('is made where there was none, and its floor is not known', () => {
    const own = claimant()
    expect(takeClaim(own, clock)).toEqual({ step: 1, isOwn: false, floor: undefined, ceiling: 1500n })
    expect(stepsOf(own.place)).toEqual(['1'])
    expect(isClaimHeld(own, 1)).toBe(true)
  })

  it('is raised by the next step, and the former one goes', () => {
    const own = claimant()
    takeClaim(own, clock)
    expect(takeClaim(own, clock)).toEqual({ step: 2, isOwn: true, floor: 1500n, ceiling: 2000n })
    expect(stepsOf(own.place)).toEqual(['2'])
    expect(isClaimHeld(own, 1)).toBe(false)
  })

  it('of a process that is gone is taken over at its ceiling', () => {
    const own = claimant()
    writeStep(own.place, 7, { ...gone, ceiling: '9000' })
    expect(takeClaim(own, clock)).toEqual({ step: 8, isOwn: false, floor: 9000n, ceiling: 9500n })
  })

  it('that was given back is taken at its word', () => {
    const own = claimant()
    takeClaim(own, clock)
    releaseClaim(own, 1, 1234n)
    expect(saysOf(own.place, 2)).toMatchObject({ use: 'released', ceiling: '1234' })
    expect(takeClaim({ ...own, token: 'another' }, clock)).toMatchObject({ step: 3, isOwn: false, floor: 1234n })
  })

  it('of a process that runs is refused, and stays as it is', () => {
    const own = claimant()
    writeStep(own.place, 3, {})
    expect(caught(() => takeClaim(own, clock))).toMatchObject({
      code: 'ERR_STATE_UNREACHABLE',
      message: expect.stringContaining(`process ${other.pid}`),
    })
    expect(stepsOf(own.place)).toEqual(['3'])
  })

  it('is not given back by a process that has lost it', () => {
    const own = claimant()
    takeClaim(own, clock)
    rmSync(own.place, { recursive: true })
    writeStep(own.place, 1, {})
    releaseClaim(own, 1, 5000n)
    expect(saysOf(own.place, 1)).toMatchObject({ use: 'counts', token: 'theirs' })
  })

  it('is not given back where another thread has made the next step meanwhile', () => {
    const own = claimant()
    takeClaim(own, clock)
    takeClaim(own, clock)
    releaseClaim(own, 1, 1234n)
    expect(saysOf(own.place, 2)).toMatchObject({ use: 'counts', ceiling: '2000' })
  })

  it('is lost where another process has begun it again, with the same number', () => {
    const own = claimant()
    takeClaim(own, clock)
    expect(isClaimHeld(own, 1)).toBe(true)
    rmSync(own.place, { recursive: true })
    writeStep(own.place, 1, {})
    expect(isClaimHeld(own, 1)).toBe(false)
  })

  it.each([
    ['was not begun', 0n, 7000n],
    ['is sealed', 2n ** 64n - 1n, 7001n],
  ])('begins where the page may that %s', (_, word, floor) => {
    const own = claimant()
    const page = Buffer.alloc(16_384)
    page.writeBigUInt64LE(word, 3968)
    page.writeBigUInt64LE(7000n, 3992)
    mkdirSync(pages, { recursive: true, mode: 0o700 })
    writeFileSync(own.place.replace(/claim$/, 'page'), page)
    expect(takeClaim(own, clock)).toMatchObject({ floor })
  })

  it.each([
    ['nothing', ''],
    ['another format', JSON.stringify({ format: 2 })],
    ['no ceiling', JSON.stringify({ format: 1, pid: 1, ceiling: '-1' })],
  ])('that says %s is refused, and stays as it is', (_, text) => {
    const own = claimant()
    mkdirSync(own.place, { recursive: true, mode: 0o700 })
    writeFileSync(join(own.place, '4'), text)
    expect(caught(() => takeClaim(own, clock)).code).toBe('ERR_STATE_CORRUPT')
    expect(stepsOf(own.place)).toEqual(['4'])
  })

  it('is another one for each layout, node and namespace', () => {
    const own = claimant()
    const another = claimant()
    takeClaim(own, clock)
    expect(claimExists(own.key)).toBe(true)
    expect(claimExists(another.key)).toBe(false)
  })
})

describe('of two processes at once', () => {
  it('the one that links later looks again, and is refused', () => {
    const own = claimant()
    writeStep(own.place, 1, gone)
    beforeLink(() => writeStep(own.place, 2, {}))
    expect(caught(() => takeClaim(own, clock)).code).toBe('ERR_STATE_UNREACHABLE')
  })

  it('one that slept until its number was long past does not count, and takes its step away', () => {
    const own = claimant()
    writeStep(own.place, 1, gone)
    beforeLink(() => {
      writeStep(own.place, 3, {})
      rmSync(join(own.place, '1'))
    })
    expect(caught(() => takeClaim(own, clock)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(stepsOf(own.place)).toEqual(['3'])
  })

  it('one that slept until the claim had begun again does not count', () => {
    const own = claimant()
    writeStep(own.place, 8, gone)
    beforeLink(() => {
      rmSync(join(own.place, '8'))
      writeStep(own.place, 1, {})
    })
    expect(caught(() => takeClaim(own, clock)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(stepsOf(own.place)).toEqual(['1'])
  })

  it('one that slept until the claim had come to the same number again does not count', () => {
    const own = claimant()
    writeStep(own.place, 1, gone)
    beforeLink(() => {
      rmSync(join(own.place, '1'))
      writeStep(own.place, 1, { ceiling: '5000' })
    })
    expect(caught(() => takeClaim(own, clock)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(stepsOf(own.place)).toEqual(['1'])
    expect(saysOf(own.place, 1)).toMatchObject({ token: 'theirs', ceiling: '5000' })
  })

  it('one whose folder went away makes it again', () => {
    const own = claimant()
    writeStep(own.place, 8, gone)
    beforeLink(() => rmSync(own.place, { recursive: true }))
    expect(takeClaim(own, clock)).toMatchObject({ step: 1, floor: undefined })
  })

  it('one waits while the other makes a page of the claim', () => {
    const own = claimant()
    writeStep(own.place, 1, { use: 'hands over' })
    const wait = vi.spyOn(Atomics, 'wait').mockImplementationOnce(() => {
      rmSync(own.place, { recursive: true })
      return 'timed-out'
    })
    expect(takeClaim(own, clock)).toMatchObject({ step: 1 })
    expect(wait).toHaveBeenCalledOnce()
  })
})

describe('a claim that is handed over', () => {
  it('is gone when the page is there, which begins at its ceiling', () => {
    const own = claimant()
    writeStep(own.place, 5, { ...gone, ceiling: '7000' })
    const opened = handOver(own, clock, (floor: bigint) => {
      expect(saysOf(own.place, 6)).toMatchObject({ use: 'hands over', pid: process.pid })
      return floor
    })
    expect(opened).toBe(7000n)
    expect(claimExists(own.key)).toBe(false)
  })

  it('says again what it said where the page cannot be opened', () => {
    const own = claimant()
    writeStep(own.place, 5, { ...gone, ceiling: '7000' })
    const fail = () => {
      throw new GraupelError('ERR_STATE_UNSAFE', 'no page')
    }
    expect(caught(() => handOver(own, clock, fail)).message).toBe('no page')
    expect(takeClaim(own, clock)).toMatchObject({ floor: 7000n })
  })
})

describe('a claim that is forgotten', () => {
  const forget = (place: string) => forgetClaim(place, latestStep(place) as NonNullable<ReturnType<typeof latestStep>>)

  it('is gone, and one that is made afterwards knows no floor', () => {
    const own = claimant()
    writeStep(own.place, 5, { ...gone, ceiling: '7000' })
    expect(forget(own.place)).toBe(true)
    expect(claimExists(own.key)).toBe(false)
    expect(takeClaim(own, clock)).toMatchObject({ step: 1, floor: undefined })
  })

  it('belongs to the process that forgets it until the last step goes', () => {
    const own = claimant()
    writeStep(own.place, 4, gone)
    writeStep(own.place, 5, gone)
    const unlink = fs.unlinkSync
    const seen: unknown[] = []
    vi.spyOn(fs, 'unlinkSync').mockImplementation((path) => {
      const { number, says } = latestStep(own.place) ?? {}
      seen.push([number, says?.use, says?.pid === process.pid])
      unlink(path)
    })
    expect(forget(own.place)).toBe(true)
    // The file under its first name, and then the steps 4, 5 and 6.
    expect(seen).toEqual(Array(4).fill([6, 'hands over', true]))
  })

  it('stays where another process takes it up at this moment', () => {
    const own = claimant()
    writeStep(own.place, 5, gone)
    beforeLink(() => writeStep(own.place, 6, {}))
    expect(forget(own.place)).toBe(false)
    expect(saysOf(own.place, 6)).toMatchObject({ use: 'counts', token: 'theirs' })
  })

  it('stays where it has begun again, by the same number, since it was read', () => {
    const own = claimant()
    writeStep(own.place, 1, gone)
    beforeLink(() => {
      rmSync(join(own.place, '1'))
      writeStep(own.place, 1, {})
    })
    expect(forget(own.place)).toBe(false)
    expect(stepsOf(own.place)).toEqual(['1'])
  })

  it('is no floor to a process that had read it, and slept', () => {
    const own = claimant()
    writeStep(own.place, 5, { ...gone, ceiling: '7000' })
    beforeLink(() => forget(own.place))
    expect(takeClaim(own, clock)).toMatchObject({ step: 1, floor: undefined })
    expect(stepsOf(own.place)).toEqual(['1'])
  })

  it('has been forgotten by another process, where its folder is gone', () => {
    const own = claimant()
    writeStep(own.place, 5, gone)
    const latest = latestStep(own.place)
    rmSync(own.place, { recursive: true })
    expect(latest !== undefined && forgetClaim(own.place, latest)).toBe(false)
  })
})
