import { execFileSync } from 'node:child_process'
import fs, { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { claims } from '../../src/host/claim.js'
import { caught } from '../support/engines.ts'
import {
  claimant,
  clock,
  gone,
  inFrontOf,
  latestOf,
  numbersOf,
  pages,
  remove,
  take,
  writeChain,
  writeLink,
} from './claims.ts'

describe('a link', () => {
  it.each([
    ['whose predecessor is missing', '9.a8'],
    ['that names another predecessor', '5.b4'],
    ['that names a later predecessor than there is', '7.a5'],
    ['with the highest number there can be', `${'9'.repeat(15)}.a`],
  ])('%s is ignored', (_, name) => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '7000' })
    writeLink(own, name, { ...gone, ceiling: '3000', token: 'c' })
    expect(take(own)).toMatchObject({ number: 6, floor: 7000n })
    expect(take(own)).toMatchObject({ number: 7, isOwn: true })
  })

  it.each(['9999999999999999999999', '9999999999999999999999.a', '5', 'x.a', '6.x', '.6.a'])(
    'is no file with the name %s',
    (name) => {
      const own = claimant()
      writeChain(own, { ...gone, ceiling: '7000' })
      writeFileSync(join(own.place, name), 'nonsense')
      expect(take(own)).toMatchObject({ number: 6, floor: 7000n })
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
    ['whose process id is impossible', (text: string) => text.replace(/"pid":\d+/, '"pid":-1')],
    ['longer than any link', (text: string) => text.replace('{', `{${' '.repeat(65_536)}`)],
  ])('%s is damaged', (_, damage) => {
    const own = claimant()
    writeChain(own, gone)
    const latest = join(own.place, '5.a4')
    writeFileSync(latest, damage(readFileSync(latest, 'utf8')))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
    expect(caught(() => claims.giveToPage(own.place, own, clock)).code).toBe('ERR_STATE_CORRUPT')
  })

  it('without a predecessor in the folder is damage, because the issued slots are not known', () => {
    const own = claimant()
    writeLink(own, '9.a8', gone)
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
  })

  it.skipIf(process.platform === 'win32')('that is a pipe is damage, and is not read', () => {
    const own = claimant()
    writeChain(own, gone)
    execFileSync('mkfifo', ['-m', '600', join(own.place, '6.a5')])
    expect(caught(() => take(own)).code).toBe('ERR_STATE_CORRUPT')
    expect(caught(() => claims.giveToPage(own.place, own, clock)).code).toBe('ERR_STATE_CORRUPT')
  })

  it('that is listed but cannot be found is looked for again, up to a limit', () => {
    const own = claimant()
    writeChain(own, gone)
    fs.symlinkSync('nowhere', join(own.place, '6.a5'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNAVAILABLE')
  })
})

it.skipIf(process.platform === 'win32')('the first link that the system does not permit is no faster process', () => {
  const own = claimant()
  inFrontOf('renameSync', () => {
    throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' })
  })
  const { code, message } = caught(() => take(own))
  expect([code, message]).toEqual(['ERR_STATE_UNAVAILABLE', expect.stringContaining('operation not permitted')])
  expect(readdirSync(pages).filter((name) => name.endsWith('.new'))).toEqual([])
})

describe('if two processes take a claim at once', () => {
  it('the process that makes the first link later looks again, and is refused', () => {
    const own = claimant()
    inFrontOf('renameSync', () => writeLink(own, '1.b'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(readdirSync(pages).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  it('the process that links later looks again, and is refused', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => writeLink(own, '6.a5'))
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(numbersOf(own)).toEqual([4, 5, 6])
  })

  it('a process that slept until its number was long past is refused, and its link does not count', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => {
      writeLink(own, '7.a6')
      writeLink(own, '8.a7')
      for (const name of ['4.a3', '5.a4']) rmSync(join(own.place, name))
    })
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 8 })
  })

  it('a process that slept until the claim had the same number again is refused, and its link does not count', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => {
      remove(own)
      writeLink(own, '4.b3', { ...gone, token: 'b4' })
      writeLink(own, '5.b4', { token: 'b5' })
    })
    expect(caught(() => take(own)).code).toBe('ERR_STATE_UNREACHABLE')
    expect(latestOf(own)).toMatchObject({ number: 5, name: '5.b4' })
  })

  it('a process that slept looks again, even if another that slept has made a link with the name of its predecessor', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '3000' })
    inFrontOf('linkSync', () => {
      for (const name of ['4.a3', '5.a4']) rmSync(join(own.place, name))
      writeLink(own, '7.a6', gone)
      writeLink(own, '8.a7', { ...gone, ceiling: '8000' })
      // The other process that slept, after link 4.
      writeLink(own, '5.a4', { ...gone, ceiling: '4000', token: 'c' })
    })
    expect(take(own)).toMatchObject({ number: 9, floor: 8000n })
  })

  it('a process that slept, and was killed after its link, leaves a link that does not count', () => {
    const own = claimant()
    writeChain(own, { ...gone, ceiling: '3000' })
    inFrontOf('linkSync', () => {
      for (const name of ['4.a3', '5.a4']) rmSync(join(own.place, name))
      writeLink(own, '1.b', { ...gone, ceiling: '7000' })
      vi.spyOn(fs, 'openSync').mockImplementationOnce(() => {
        throw new Error('killed')
      })
    })
    expect(caught(() => take(own)).message).toContain('killed')
    expect(numbersOf(own)).toEqual([1, 6])
    expect(take({ ...own, owner: 'another' })).toMatchObject({ number: 2, floor: 7000n })
  })

  it('a process whose claim was removed makes it again', () => {
    const own = claimant()
    writeChain(own, gone)
    inFrontOf('linkSync', () => remove(own))
    expect(take(own)).toMatchObject({ number: 1, floor: 1001n })
  })
})
