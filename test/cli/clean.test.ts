import {
  type BigIntStats,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { plain } from '../../src/cli/output.js'
import { Mappings } from '../../src/cli/state/users.js'
import { cleanedFolder, cleanedPage } from '../../src/cli/state.js'
import { pagesFolder } from '../../src/host/folder.js'
import { layouts } from '../../src/index.js'
import { graupel, holder, lines, removePages, shownPages, spawnGraupel, spawnLines } from '../support/cli.js'
import { engines, freshNamespace } from '../support/engines.js'
import { type Bytes, bytesOf, sealed, slotAt, sonyflakeKey } from '../support/state-bytes.js'

const isLinux = process.platform === 'linux'
const seesUsers = isLinux && engines.includes('native')
const dayMs = 24 * 3_600_000

const made: string[] = []
const namespaces: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true })
  namespaces.forEach(removePages)
})

/** Makes a folder of pages below a GRAUPEL_STATE_FOLDER of its own, which is in `parent`. */
function freshFolder(parent = tmpdir()) {
  const chosen = mkdtempSync(join(parent, 'graupel-clean-'))
  made.push(chosen)
  vi.stubEnv('GRAUPEL_STATE_FOLDER', chosen)
  const folder = pagesFolder()
  vi.unstubAllEnvs()
  mkdirSync(folder)
  return {
    folder,
    variables: { GRAUPEL_STATE_FOLDER: chosen },
    add(name: string, bytes: Bytes): string {
      writeFileSync(join(folder, name), bytesOf({ kind: 'page', ...bytes }))
      return join(folder, name)
    },
  }
}

const wordBefore = (ms: number) => slotAt(Date.now() - ms) + 1n
const hexName = (digit: string) => `${digit.repeat(32)}.page`
const is2040 = slotAt(Date.UTC(2040, 0, 1)) + 1n

describe('graupel state --clean', () => {
  it('removes pages that are more than a day old, empty or left over, and says why it keeps the rest', async () => {
    const { folder, variables, add } = freshFolder()
    add('old.page', { word: wordBefore(2 * dayMs) })
    add('empty.page', { word: 0n })
    add('recent.page', { word: wordBefore(dayMs - 60_000) })
    add('future.page', { word: is2040 })
    add('sealed.page', { word: sealed })
    add('scripted.page', { key: `injected ${sonyflakeKey}`, word: wordBefore(2 * dayMs) })
    add('damaged.page', { word: wordBefore(2 * dayMs), damage: (bytes) => void bytes.writeUInt8(0, 96) })
    add('later.page', { at: (bytes) => void bytes.writeUInt32LE(2, 8) })
    add('file.page', { kind: 'file' })
    mkdirSync(join(folder, 'folder.page'))
    add('other.txt', {})
    const hourAgo = (Date.now() - 3_601_000) / 1000
    utimesSync(add('.left.page.12.new', {}), hourAgo, hourAgo)
    add('.young.page.13.new', {})

    const rows = (await lines(['state', '--clean', '--json'], variables)).map((line) => JSON.parse(line))
    const fates = rows.map(({ path, isRemoved, reason }) => [path.slice(folder.length + 1), isRemoved, reason])
    expect(Object.fromEntries(fates.map(([name, ...fate]) => [name, fate]))).toEqual({
      'damaged.page': [false, 'damaged'],
      'empty.page': isLinux ? [true, 'no id'] : [false, 'no id, perhaps open'],
      'file.page': [false, 'a state file'],
      'folder.page': [false, 'ERR_STATE_UNSAFE'],
      'future.page': [false, 'ahead of the clock'],
      'later.page': [false, 'ERR_STATE_MISMATCH'],
      'old.page': [true, 'more than a day old'],
      'recent.page': [false, 'not a day old'],
      'scripted.page': [false, 'injected clock'],
      'sealed.page': [false, 'sealed'],
      '.left.page.12.new': [true, 'left over'],
      '.young.page.13.new': [false, 'being made'],
    })
    const kept = fates.filter(([, isRemoved]) => !isRemoved).map(([name]) => name)
    expect(readdirSync(folder).sort()).toEqual([...kept, 'other.txt'].sort())
    const old = rows.find(({ path }) => path.endsWith('old.page'))
    expect(old).toMatchObject({ layout: { name: 'sonyflake' }, node: 7, namespace: 'orders' })
    expect(old.aheadMs).toBeLessThanOrEqual(-2 * dayMs)
  })

  it('lists what it removed and kept as a table', async () => {
    const { folder, variables, add } = freshFolder()
    add('a.page', { word: wordBefore(3 * dayMs) })
    add('b.page', { word: wordBefore(0) })
    const [head, ...rows] = await lines(['state', '--clean'], variables)
    expect(head).toMatch(/^ +because +layout +node +namespace +time of the last id +path$/)
    expect(rows[0]).toMatch(/^removed +more than a day old +sonyflake +7 +orders +\S+Z, 3 days ago +\S+a\.page$/)
    expect(rows[1]).toMatch(/^kept +not a day old +sonyflake +7 +orders +\S+Z, \d+ \w+ ago +\S+b\.page$/)
    rmSync(join(folder, 'b.page'))
    expect(await lines(['state', '--clean'], variables)).toEqual([
      `There is no page and no claim in ${folder}: nothing to remove.`,
    ])
    rmSync(folder, { recursive: true })
    expect(await lines(['state', '--clean'], variables)).toEqual([
      `There is no page and no claim in ${folder}: nothing to remove.`,
    ])
    expect(await lines(['state', '--clean', '--json'], variables)).toEqual([])
  })

  it.runIf(seesUsers)('keeps a page that a process has open, however old its last id is', async () => {
    const { folder, variables } = freshFolder('/dev/shm')
    const one = await pageHolder()
    const page = join(folder, 'open.page')
    linkSync(one.page, page)
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE((BigInt(Date.now() - 2 * dayMs - layouts.twitter.epochMs) << 12n) + 1n)
    const file = openSync(page, 'r+')
    writeSync(file, bytes, 0, 8, 3968)
    closeSync(file)
    const fate = async () => (await lines(['state', '--clean', '--json'], variables)).map((line) => JSON.parse(line))
    expect(await fate()).toMatchObject([{ path: page, isRemoved: false, reason: `open by ${one.pid}` }])
    await one.end()
    expect(await fate()).toMatchObject([{ path: page, isRemoved: true, reason: 'more than a day old' }])
    expect(existsSync(page)).toBe(false)
  })
})

describe('graupel state PATH --clean', () => {
  it.runIf(isLinux)('removes a page whose last id is from 2040, and says which ids are forgotten', async () => {
    const { variables, add } = freshFolder()
    const page = add(hexName('a'), { word: is2040 })
    const [removed, forgotten, ...rest] = await lines(['state', page, '--clean'], variables)
    expect(removed).toBe(`Removed ${page} of layout sonyflake, node 7, namespace orders.`)
    expect(forgotten).toMatch(/^Forgotten: ids up to 2040-01-01T00:00:00\.000Z, \d+ years ahead of the clock\.$/)
    expect(rest).toEqual([])
    expect(existsSync(page)).toBe(false)
    add(hexName('a'), { word: is2040 })
    const fate = JSON.parse((await lines(['state', page, '--clean', '--json'], variables)).join('\n'))
    expect(fate).toMatchObject({ path: page, isRemoved: true, reason: 'asked for', timestampMs: Date.UTC(2040, 0, 1) })
    expect(fate.aheadMs).toBeGreaterThan(13 * 365 * dayMs - (Date.now() - Date.UTC(2026, 0, 1)))
  })

  it.runIf(isLinux)(
    'says how far behind the clock the last id was, or that there was no id, or that it is not known',
    async () => {
      const { variables, add } = freshFolder()
      const forgottenBy = async (bytes: Bytes, truncated?: number) => {
        const page = add(hexName('b'), bytes)
        if (truncated !== undefined) truncateSync(page, truncated)
        return (await lines(['state', page, '--clean'], variables))[1]
      }
      expect(await forgottenBy({ word: wordBefore(7_200_000) })).toMatch(
        /^Forgotten: ids up to \S+Z, 2 hours behind the clock\.$/,
      )
      expect(await forgottenBy({ word: 0n })).toBe('Forgotten: nothing, because it has no id.')
      expect(await forgottenBy({ word: sealed })).toBe('Forgotten: that its ids are counted in another page.')
      const unknown = 'Forgotten: its last id, which is not known, because the file is damaged or of another version.'
      expect(await forgottenBy({ damage: (bytes) => void bytes.writeUInt8(0, 96) })).toBe(unknown)
      expect(await forgottenBy({}, 0)).toBe(unknown)
      expect(await forgottenBy({ at: (bytes) => void bytes.writeUInt32LE(2, 8) })).toBe(unknown)
    },
  )

  it.runIf(seesUsers)('refuses while a process has the page open, and names the process', async () => {
    const one = await pageHolder()
    const { status, stdout, stderr } = spawnGraupel(['state', one.page, '--clean'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: \S+\.page is open by \d+ \(\S*node .*\); stop them first \(ERR_STATE_UNSAFE\)\n$/)
    expect(stderr).toContain(` ${one.pid} (`)
    expect(existsSync(one.page)).toBe(true)
    await one.end()
    expect(spawnLines(['state', one.page, '--clean'])[1]).toMatch(
      /^Forgotten: ids up to \S+Z, \d+ \w+ (behind|ahead of) /,
    )
    expect(existsSync(one.page)).toBe(false)
  })

  it('refuses a path that is no page, and changes nothing', async () => {
    const { folder, variables, add } = freshFolder()
    const refused = async (path: string, code: string, message: RegExp) => {
      const { status, stdout, stderr } = await graupel(['state', path, '--clean'], variables)
      expect({ path, status, stdout }).toEqual({ path, status: 2, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr.endsWith(` (${code})\n`)).toBe(true)
    }
    const page = add(hexName('c'), { word: wordBefore(2 * dayMs) })
    const link = join(folder, hexName('d'))
    symlinkSync(page, link)
    const other = join(folder, 'other.txt')
    writeFileSync(other, 'other')
    const damagedElsewhere = join(folder, '..', hexName('e'))
    writeFileSync(damagedElsewhere, bytesOf({ kind: 'page', damage: (bytes) => bytes.subarray(0, 200) }))
    await refused(
      add('ids.state', { kind: 'file' }),
      'ERR_STATE_UNSAFE',
      /is a state file, and only pages are removed; /,
    )
    await refused(link, 'ERR_STATE_UNSAFE', /is a symbolic link; give the path of the page itself/)
    await refused(other, 'ERR_STATE_CORRUPT', /does not begin as a page/)
    await refused(damagedElsewhere, 'ERR_STATE_CORRUPT', /is damaged/)
    await refused(folder, 'ERR_STATE_UNSAFE', /is a folder/)
    await refused(join(folder, 'none'), 'ERR_STATE_UNAVAILABLE', /cannot be read: ENOENT/)
    expect(readdirSync(folder).sort()).toEqual([hexName('c'), hexName('d'), 'ids.state', 'other.txt'].sort())
    expect(existsSync(damagedElsewhere)).toBe(true)
  })
})

describe('if the system does not tell which processes have a page open', () => {
  /** Calls a function as on a system that does not list open files. */
  async function unseen<T>(call: () => Promise<T>): Promise<T> {
    const { platform } = process
    Object.defineProperty(process, 'platform', { value: 'freebsd' })
    try {
      return await call()
    } finally {
      Object.defineProperty(process, 'platform', { value: platform })
    }
  }

  it('removes only pages that are a day old', async () => {
    const { folder, add } = freshFolder()
    const [old, empty] = [add('a.page', { word: wordBefore(2 * dayMs) }), add('b.page', { word: 0n })]
    const text = await unseen(() => cleanedFolder(folder, true, plain))
    const fates = text.split('\n').slice(0, -1)
    expect(fates.map((line) => JSON.parse(line))).toMatchObject([
      { path: old, isRemoved: true, reason: 'more than a day old' },
      { path: empty, isRemoved: false, reason: 'no id, perhaps open' },
    ])
  })

  it('removes a page that was named if it is a day old, and refuses otherwise', async () => {
    const { add } = freshFolder()
    const old = add(hexName('a'), { word: wordBefore(2 * dayMs) })
    expect(await unseen(() => cleanedPage(old, false))).toContain('Removed ')
    for (const word of [is2040, wordBefore(0), 0n]) {
      const page = add(hexName('b'), { word })
      await expect(unseen(() => cleanedPage(page, false))).rejects.toMatchObject({
        code: 'ERR_STATE_UNSAFE',
        message: expect.stringMatching(
          /^this system does not tell which processes have .* open, .*; stop all processes/,
        ),
      })
      expect(existsSync(page)).toBe(true)
    }
  })
})

/** Starts a process that has a page open. */
async function pageHolder() {
  const namespace = freshNamespace()
  namespaces.push(namespace)
  return { ...(await holder({ node: 1, namespace })), page: shownPages(namespace)[0]?.path as string }
}

it.runIf(process.platform === 'linux')(
  'a mapped file is found by its path if its device is another one, as on btrfs',
  () => {
    const program = realpathSync(process.execPath)
    const stats = statSync(program, { bigint: true })
    const mappings = new Mappings([process.pid])
    const found = (path: string, changed: object) =>
      mappings.of(path, { ...stats, ...changed } as BigIntStats).map(({ pid }) => pid)
    expect(found(program, {})).toEqual([process.pid])
    expect(found(program, { dev: 0n })).toEqual([process.pid])
    expect(found('/dev/null', { dev: 0n })).toEqual([])
    expect(found(program, { dev: 0n, ino: 1n })).toEqual([])
  },
)
