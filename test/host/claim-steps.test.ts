import { execFileSync } from 'node:child_process'
import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { forgetClaim, giveToPage, isClaimHeld, releaseClaim, takeClaim } from '../../src/host/claim.js'
import { latestStep } from '../../src/host/claim-steps.js'
import { pagesFolder } from '../../src/host/folder.js'
import { pageAt } from '../../src/host/format.js'
import { nameOf } from '../../src/host/name.js'
import { caught } from '../support/engines.ts'
import { sleeper } from '../support/sleeper.ts'
import { bytesOf } from '../support/state-bytes.ts'

// The steps of a claim, with another process between any two calls of this one: its actions are done in front of the call to
// the system that comes next.

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
  endSlot: 1_000_000n,
  maxTick: 999_999,
}
const description = JSON.stringify({ name: 'tiny' })
let count = 0

function claimant() {
  count += 1
  const key = `real 0 1 41 22 12 0 ${count} test`
  const place = join(pages, `${nameOf(key)}.claim`)
  return { key, description, owner: 'ours', place, held: { step: 0, word: 0n } }
}
type Own = ReturnType<typeof claimant>

/** Takes a claim, and remembers its step as the js engine does. */
function take(own: Own) {
  const claimed = takeClaim(own, clock, own.held)
  own.held.step = claimed.step
  return claimed
}

/** A step as another process writes it. Its token is `a` and its number, unless `more` says otherwise. */
function writeStep({ key, place }: Own, name: string, more: object = {}): void {
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const running = { pid: other.pid, pidNamespace: ownNamespace(), startTime: 0, bootId: '' }
  const token = `a${name.split('.')[0]}`
  const says = {
    format: 1,
    key,
    description,
    owner: 'theirs',
    token,
    ceiling: '2000',
    use: 'counts',
    ...running,
    ...more,
  }
  writeFileSync(join(place, name), JSON.stringify(says), { mode: 0o600 })
}

function ownNamespace(): number {
  return process.platform === 'linux' ? Number(/\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0]) : 0
}

const gone = { pid: 2 ** 22 + 1 }
/** A chain whose latest step is number 5. */
function writeChain(own: Own, latest: object): void {
  writeStep(own, '4.a3', gone)
  writeStep(own, '5.a4', latest)
}
const numbersOf = ({ place }: Own) =>
  readdirSync(place)
    .map((name) => Number(name.split('.')[0]))
    .sort((a, b) => a - b)
const latestOf = ({ place }: Own) => latestStep(place)
const remove = ({ place }: Own) => rmSync(place, { recursive: true })
const isThere = ({ place }: Own) => existsSync(place)

/** Does something in front of the next link(), or of the rename() that makes the first step. */
function inFrontOf(call: 'linkSync' | 'renameSync', act: () => void): void {
  const real = fs[call]
  vi.spyOn(fs, call).mockImplementationOnce((from, to) => {
    act()
    real(from, to)
  })
}

describe('a claim', () => {
  it('is made if there was none, and begins with the next tick', () => {
    const own = claimant()
    expect(take(own)).toEqual({ step: 1, isOwn: false, floor: 1001n, ceiling: 1500n })
    expect(numbersOf(own)).toEqual([1])
    expect(isClaimHeld(own, 1)).toBe(true)
  })

  it('is raised from the word, and not by each thread that finds its ceiling too low', () => {
    const own = claimant()
    take(own)
    for (const word of [1400n, 1400n, 1500n, 900n]) {
      const { ceiling } = takeClaim(own, clock, { step: latestOf(own)?.number ?? 0, word })
      expect(ceiling).toBe(word === 900n ? 2000n : word + 500n)
    }
  })

  it('is raised by the next step, which keeps its predecessor', () => {
    const own = claimant()
    take(own)
    Object.assign(own.held, { word: 1500n })
    expect(take(own)).toEqual({ step: 2, isOwn: true, floor: 1500n, ceiling: 2000n })
    expect(numbersOf(own)).toEqual([1, 2])
    expect(take(own)).toMatchObject({ step: 3, floor: 2000n })
    expect(numbersOf(own)).toEqual([2, 3])
    expect(isClaimHeld(own, 1)).toBe(false)
    expect(isClaimHeld(own, 3)).toBe(true)
  })

  it('whose step another thread has just made is raised when that thread has raised the floor', () => {
    const own = claimant()
    takeClaim(own, clock, { step: 0, word: 0n })
    const held = { step: 0, word: 1500n }
    const wait = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      held.step = wait.mock.calls.length < 3 ? 0 : 1
      return 'timed-out'
    })
    expect(takeClaim(own, clock, held)).toEqual({ step: 2, isOwn: true, floor: 1500n, ceiling: 2000n })
    expect(wait).toHaveBeenCalledTimes(3)
  })

  it('whose step a thread has made that was terminated then is continued at its ceiling', () => {
    const own = claimant()
    takeClaim(own, clock, { step: 0, word: 0n })
    vi.spyOn(Atomics, 'wait').mockReturnValue('timed-out')
    expect(take(own)).toEqual({ step: 2, isOwn: false, floor: 1500n, ceiling: 2000n })
  })

  it('of a process that is gone is continued at its ceiling', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '9000' })
    expect(take(own)).toEqual({ step: 6, isOwn: false, floor: 9000n, ceiling: 9500n })
  })

  it('that was given back is taken at its word', () => {
    const own = claimant()
    take(own)
    releaseClaim(own, 1, 1234n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'released', ceiling: '1234' })
    expect(take({ ...own, owner: 'another' })).toMatchObject({ step: 3, isOwn: false, floor: 1234n })
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
    take(own)
    remove(own)
    writeStep(own, '1.b')
    releaseClaim(own, 1, 5000n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', owner: 'theirs' })
  })

  it('is not given back if another thread has made the next step meanwhile', () => {
    const own = claimant()
    take(own)
    Object.assign(own.held, { word: 1500n })
    take(own)
    releaseClaim(own, 1, 1234n)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', ceiling: '2000' })
  })

  it('is lost if another process has begun it again, with the same number', () => {
    const own = claimant()
    take(own)
    expect(isClaimHeld(own, 1)).toBe(true)
    remove(own)
    writeStep(own, '1.b')
    expect(isClaimHeld(own, 1)).toBe(false)
  })

  it.each([
    ['has a word', 7000n, 0n, 7000n],
    ['was not begun', 0n, 7000n, 7000n],
    ['is sealed', 2n ** 64n - 1n, 7000n, 7001n],
  ])('begins at the page beside it that %s', (_, word, last, floor) => {
    const own = claimant()
    writePage(own, word, last)
    expect(take(own)).toMatchObject({ step: 1, floor })
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

  it('is left to the page by a process that finds a native one in the page after its step', () => {
    const own = claimant()
    inFrontOf('renameSync', () => writePage(own, 7000n, 0n, other.pid))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 2, says: { use: 'page', ceiling: '0' } })
  })
})

/** A page beside a claim, with the entry of a process. */
function writePage({ key, place }: Own, word: bigint, last: bigint, pid = 0): string {
  mkdirSync(pages, { recursive: true, mode: 0o700 })
  const at = (bytes: Buffer) => {
    bytes.writeBigUInt64LE(last, pageAt.last)
    bytes.writeUInt32LE(pid, pageAt.users)
    bytes.writeUInt32LE(pid === 0 ? 0 : ownNamespace(), pageAt.users + 4)
  }
  const path = place.replace(/claim$/, 'page')
  writeFileSync(path, bytesOf({ kind: 'page', key, description, word, at }), { mode: 0o600 })
  return path
}

describe('a step', () => {
  it.each([
    ['whose predecessor is missing', '9.a8'],
    ['that names another predecessor', '5.b4'],
    ['that names a later predecessor than there is', '7.a5'],
    ['with the highest number there can be', `${'9'.repeat(15)}.a`],
  ])('%s is ignored', (_, name) => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    writeStep(own, name, { ...gone, ceiling: '3000', token: 'c' })
    expect(take(own)).toMatchObject({ step: 6, floor: 7000n })
    expect(take(own)).toMatchObject({ step: 7, isOwn: true })
  })

  it.each(['9999999999999999999999', '9999999999999999999999.a', '5', 'x.a', '6.x', '.6.a'])(
    'is no file with the name %s',
    (name) => {
      const own = claimant()
      writeChain(own, { ...gone, ceiling: '7000' })
      writeFileSync(join(own.place, name), 'nonsense')
      expect(take(own)).toMatchObject({ step: 6, floor: 7000n })
    },
  )

  it.each([
    ['that is no JSON', () => 'nonsense'],
    ['of another format', (text: string) => text.replace('"format":1', '"format":2')],
    ['of an unknown use', (text: string) => text.replace('"counts"', '"hands over"')],
    ['of another key', (text: string) => text.replace(/"key":"real/, '"key":"real 1')],
    ['with a ceiling of 65 bits', (text: string) => text.replace('"2000"', `"${2n ** 64n}"`)],
    ['with a ceiling that its layout cannot have', (text: string) => text.replace('"2000"', '"1000001"')],
    ['with a ceiling below 0', (text: string) => text.replace('"2000"', '"-1"')],
    ['without a token', (text: string) => text.replace('"token":"a5"', '"token":7')],
    ['whose token leads elsewhere', (text: string) => text.replace('"token":"a5"', '"token":"../../x"')],
    ['whose process cannot be', (text: string) => text.replace(/"pid":\d+/, '"pid":-1')],
    ['longer than any step', (text: string) => text.replace('{', `{${' '.repeat(65_536)}`)],
  ])('%s is damaged', (_, damage) => {
    const own = claimant()
    writeChain(own, gone)
    const latest = join(own.place, '5.a4')
    writeFileSync(latest, damage(readFileSync(latest, 'utf8')))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
    expect(caught(() => giveToPage(own.place, own, clock)).code).toBe('ERR_STATE_CORRUPT')
  })

  it('without any predecessor in the folder is damage, because it is not known what was issued', () => {
    const own = claimant()
    writeStep(own, '9.a8', gone)
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
  })

  it.skipIf(process.platform === 'win32')('that is a pipe is damage, and is not waited for', () => {
    const own = claimant()
    writeChain(own, gone)
    execFileSync('mkfifo', ['-m', '600', join(own.place, '6.a5')])
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
    expect(caught(() => giveToPage(own.place, own, clock)).code).toBe('ERR_STATE_CORRUPT')
  })

  it('that is listed and cannot be found is looked for again, and not for ever', () => {
    const own = claimant()
    writeChain(own, gone)
    fs.symlinkSync('nowhere', join(own.place, '6.a5'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNAVAILABLE')
  })
})

describe('of two processes at once', () => {
  it('the one that makes the first step later looks again, and is refused', () => {
    const own = claimant()
    inFrontOf('renameSync', () => writeStep(own, '1.b'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(readdirSync(pages).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  it('the one that links later looks again, and is refused', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => writeStep(own, '6.a5'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(numbersOf(own)).toEqual([4, 5, 6])
  })

  it('one that slept until its number was long past is refused, and its step does not count', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => {
      writeStep(own, '7.a6')
      writeStep(own, '8.a7')
      for (const name of ['4.a3', '5.a4']) rmSync(join(own.place, name))
    })
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 8 })
  })

  it('one that slept until the claim had come to the same number again is refused, and its step does not count', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => {
      remove(own)
      writeStep(own, '4.b3', { ...gone, token: 'b4' })
      writeStep(own, '5.b4', { token: 'b5' })
    })
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 5, name: '5.b4' })
  })

  it('one that slept, and was killed after its link, leaves a step that nobody believes', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '3000' })
    inFrontOf('linkSync', () => {
      for (const name of ['4.a3', '5.a4']) rmSync(join(own.place, name))
      writeStep(own, '1.b', { ...gone, ceiling: '7000' })
    })
    const stat = vi.spyOn(fs, 'statSync').mockImplementationOnce(() => {
      throw new Error('killed')
    })
    expect(caught(() => take(own)).message).toContain('killed')
    stat.mockRestore()
    expect(numbersOf(own)).toEqual([1, 6])
    expect(take({ ...own, owner: 'another' })).toMatchObject({ step: 2, floor: 7000n })
  })

  it('one whose claim went away makes it again', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => remove(own))
    expect(take(own)).toMatchObject({ step: 1, floor: 1001n })
  })
})

describe('a claim that leaves its key to a page', () => {
  it('says so in its next step, from which the page begins', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    const given = giveToPage(own.place, own, clock)
    expect(latestOf(own)).toMatchObject({ number: 6, name: given?.name, says: { use: 'page', pid: process.pid } })
    expect(given).toEqual({ name: '6.a5', next: `7.${latestOf(own)?.says.token}`, floor: 7000n })
    // For each process that comes later, too.
    expect(giveToPage(own.place, own, clock)).toEqual(given)
  })

  it('is taken at its ceiling, and not before the next tick if the page is gone', () => {
    const [low, high] = [claimant(), claimant()]
    writeChain(low, { use: 'page', ceiling: '900' })
    writeChain(high, { use: 'page', ceiling: '7000' })
    expect(take(low)).toMatchObject({ step: 6, floor: 1001n })
    expect(take(high)).toMatchObject({ step: 6, floor: 7000n })
  })

  it('is refused while its process runs, and is none if it has been removed', () => {
    const [held, removed] = [claimant(), claimant()]
    writeChain(held, {})
    expect(caught(() => giveToPage(held.place, held, clock)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(giveToPage(removed.place, removed, clock)).toBeUndefined()
    // Its folder, if it is empty, would keep the page from being used.
    mkdirSync(removed.place, { mode: 0o700 })
    expect(giveToPage(removed.place, removed, clock)).toBeUndefined()
    expect(isThere(removed)).toBe(false)
  })
})

describe('a claim that is forgotten', () => {
  const forget = (own: Own) => forgetClaim(own.place, latestOf(own) as NonNullable<ReturnType<typeof latestStep>>)

  it('is gone, and one that is made afterwards knows no floor', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    expect(forget(own)).toBe(true)
    expect(isThere(own)).toBe(false)
    expect(readdirSync(pages).filter((name) => name.endsWith('.new'))).toEqual([])
    expect(take(own)).toMatchObject({ step: 1, floor: 1001n })
  })

  it('stays if another process takes it up at this moment', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => writeStep(own, '6.a5'))
    expect(forget(own)).toBe(false)
    expect(latestOf(own)?.says).toMatchObject({ use: 'counts', owner: 'theirs' })
  })

  it('is no floor to a process that had read it, and slept', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    inFrontOf('linkSync', () => forget(own))
    expect(take(own)).toMatchObject({ step: 1, floor: 1001n })
    expect(numbersOf(own)).toEqual([1])
  })

  it('begins with the next tick for a process that takes it before it is removed', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    inFrontOf('renameSync', () => expect(take(own)).toMatchObject({ step: 7, floor: 1001n }))
    expect(forget(own)).toBe(true)
    expect(isClaimHeld(own, 7)).toBe(false)
  })

  it('has been forgotten by another process if its folder is gone', () => {
    const own = claimant()
    writeChain(own, gone)
    const latest = latestOf(own)
    remove(own)
    expect(latest !== undefined && forgetClaim(own.place, latest)).toBe(false)
  })
})
