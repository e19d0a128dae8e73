import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { pagesFolder } from '../../src/host/folder.js'
import { decode, layouts } from '../../src/index.js'
import { graupel, holder, lines, spawnGraupel, spawnLines } from '../support/cli.js'
import { sleeper } from '../support/sleeper.js'
import { bytesOf, slotAt, sonyflake, sonyflakeKey } from '../support/state-bytes.js'

// Claims of the js engine on the command line; docs/state-proof.md, section "Claims", describes them.

const isLinux = process.platform === 'linux'
const dayMs = 24 * 3_600_000

let root: string
let folder: string
const other = sleeper()

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'graupel-claims-'))
  // Processes that the tests start inherit it.
  vi.stubEnv('GRAUPEL_STATE_FOLDER', root)
  folder = pagesFolder()
  mkdirSync(folder, { mode: 0o700 })
  return () => {
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true })
  }
})

const ownNamespace = isLinux ? Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]) : 0
const running = () => ({ pid: other.pid })
/** A process that cannot exist, because its pid is above the highest pid. */
const gone = { pid: 2 ** 22 + 1 }
/** A process of another container. */
const unknown = { pid: 12, pidNamespace: ownNamespace + 1 }
const released = { use: 'released' }

const ceilingAt = (timeMs: number) => ({ ceiling: String(slotAt(timeMs)) })
const ago = (ms: number) => ceilingAt(Date.now() - ms)
const in2040 = Date.UTC(2040, 0, 1)

/** A claim whose latest link is number 3. */
function add(name: string, ...says: object[]): string {
  const path = join(folder, name)
  mkdirSync(path, { mode: 0o700 })
  const common = { format: 1, key: `real ${sonyflakeKey}`, description: sonyflake, owner: 'theirs', use: 'counts' }
  const whose = { pidNamespace: ownNamespace, startTime: 0, bootId: '' }
  const write = (link: string, ...more: object[]) =>
    writeFileSync(join(path, link), JSON.stringify(Object.assign({ ...common, ...whose }, ...more)), { mode: 0o600 })
  write('2.a1', { token: 'a2', ceiling: '0' }, gone)
  write('3.a2', { token: 'a3' }, ...says)
  return path
}

function addDamaged(name: string): string {
  const path = add(name, gone, { ceiling: '0' })
  writeFileSync(join(path, '4.a3'), 'nonsense')
  return path
}

const objects = async (...words: string[]) =>
  (await lines(['state', ...words, '--json'])).map((line) => JSON.parse(line))

async function refused(path: string, code: string, message: RegExp): Promise<void> {
  const { status, stdout, stderr } = await graupel(['state', '--clean', path])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.endsWith(` (${code})\n`)).toBe(true)
  expect(existsSync(path)).toBe(true)
}

describe('graupel state', () => {
  it('lists claims among the pages, with the time and the holder of their latest links', async () => {
    add('a.claim', running(), ceilingAt(in2040))
    add('b.claim', gone, ceilingAt(in2040 - dayMs))
    writeFileSync(join(folder, 'c.page'), bytesOf({ kind: 'page', word: slotAt(in2040 - 2 * dayMs) + 1n }))
    add('d.claim', unknown, ceilingAt(in2040 - 3 * dayMs))
    add('e.claim', running(), released, { ceiling: String(slotAt(in2040 - 4 * dayMs) + 6n) })
    add('f.claim', running(), released, { ceiling: '0' })
    add('h.claim', gone, { use: 'page' }, ceilingAt(in2040 - 5 * dayMs))
    writeFileSync(join(add('i.claim', running(), ceilingAt(in2040 - 6 * dayMs)), '9999999999999999999999'), '')
    addDamaged('g.claim')
    mkdirSync(join(folder, 'empty.claim'))
    const [head, ...rows] = await lines(['state'])
    expect(head).toMatch(/^layout +node +namespace +time of the last id +path$/)
    const times = rows.map((row) => row.replace(/, in \d+ years/, ', in …').split(/ {2,}/))
    const at = (day: number) => new Date(in2040 - day * dayMs).toISOString()
    const path = (name: string) => join(folder, name)
    const ids = ['sonyflake', '7', 'orders']
    expect(times).toEqual([
      [...ids, `before ${at(0)}, in …, process ${other.pid}`, path('a.claim')],
      [...ids, `before ${at(1)}, in …, gone`, path('b.claim')],
      [...ids, `${at(2)}, in …`, path('c.page')],
      [...ids, `before ${at(3)}, in …, another container`, path('d.claim')],
      [...ids, `${at(4)}, in …`, path('e.claim')],
      [...ids, 'in its page', path('h.claim')],
      [...ids, `before ${at(6)}, in …, process ${other.pid}`, path('i.claim')],
      [...ids, 'none', path('f.claim')],
      ['?', 'ERR_STATE_CORRUPT', path('g.claim')],
    ])
  })

  it('lists claims as JSON objects', async () => {
    const a = add('a.claim', running(), ceilingAt(in2040))
    const b = add('b.claim', gone, released, ceilingAt(in2040 - dayMs))
    const c = addDamaged('c.claim')
    const listed = await objects()
    expect(listed).toMatchObject([
      { path: a, kind: 'claim', lastId: null, timestampMs: null, ceiling: { timestampMs: in2040 } },
      { path: b, use: 'released', ceiling: null, heldBy: null, timestampMs: in2040 - dayMs - 10 },
      { path: c, error: { code: 'ERR_STATE_CORRUPT' } },
    ])
    expect(listed[0]).toMatchObject({ heldBy: { pid: other.pid, fate: 'running' }, use: 'counts', link: 3, format: 1 })
    expect(listed[0]).toMatchObject({ layout: { name: 'sonyflake' }, node: 7, namespace: 'orders', clock: 'real' })
    expect(await objects(a)).toEqual([listed[0]])
    expect(await objects(b)).toEqual([listed[1]])
  })

  it('shows the claim of a running process, and its exact last id after the process has ended', async () => {
    const one = await holder({ node: 5, namespace: 'shown', engine: 'js' })
    const [name = '', ...others] = readdirSync(folder)
    expect(others).toEqual([])
    const path = join(folder, name)
    const shown = async () => (await lines(['state', path])).join('\n')
    const counting = await shown()
    expect(counting).toMatch(new RegExp(`^ {2}held by +${one.pid}\\b`, 'm'))
    expect(counting).toMatch(/^ {2}last id +not known$/m)
    expect(counting).toMatch(/^ {2}ceiling +ids before \S+Z, /m)
    expect(counting).toMatch(/^ {2}node +5 /m)
    await one.end()
    expect(await shown()).toMatch(/^ {2}held by +no process: it was released$/m)
    expect(await shown()).toMatch(new RegExp(`^ {2}last id +${one.id}$`, 'm'))
    expect(await shown()).not.toMatch(/^ {2}ceiling/m)
    const { timestampMs } = decode(BigInt(one.id), layouts.twitter)
    expect(await objects(path)).toMatchObject([{ kind: 'claim', lastId: one.id, timestampMs, use: 'released' }])
  })

  it.each<[string, () => object, RegExp]>([
    ['of a process that is gone', () => gone, /^ {2}held by +no process: 4194305 is gone$/m],
    ['of another container', () => unknown, /^ {2}held by +12, in another container, /m],
    [
      'that leaves the ids to a page',
      () => ({ ...gone, use: 'page' }),
      /^ {2}held by +no process: the page beside it /m,
    ],
    ['without an id', () => ({ ...gone, ceiling: '0' }), /^ {2}last id +none yet$/m],
    ['of an injected clock', () => ({ ...gone, key: `injected ${sonyflakeKey}` }), /^ {2}clock +injected, /m],
  ])('shows one %s', async (_, says, expected) => {
    const path = add('a.claim', ceilingAt(in2040), says())
    expect((await lines(['state', path])).join('\n')).toMatch(expected)
  })

  it.each<[string, object]>([
    ['another layout than its key', { description: sonyflake.replace('39', '38') }],
    ['a ceiling that its layout cannot have', { ceiling: String(2n ** 60n) }],
    ['no key', { key: undefined }],
    ['another format', { format: 2 }],
  ])('refuses one that says %s', async (_, says) => {
    const path = add('a.claim', gone, ceilingAt(0), says)
    expect(await graupel(['state', path])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/ \(ERR_STATE_CORRUPT\)\n$/),
    })
  })

  it('refuses a folder that is no claim, or has no link', async () => {
    const empty = join(folder, 'a.claim')
    mkdirSync(empty)
    expect((await graupel(['state', empty])).stderr).toMatch(/a\.claim has no link, .* \(ERR_STATE_UNAVAILABLE\)\n$/)
    writeFileSync(join(folder, 'b.claim'), '')
    expect((await graupel(['state', join(folder, 'b.claim')])).stderr).toMatch(/does not begin as a page/)
    expect(await objects()).toMatchObject([{ path: join(folder, 'b.claim'), error: { code: 'ERR_STATE_UNSAFE' } }])
  })
})

describe('graupel state --clean', () => {
  it('removes claims that are a day old and have no holder, and says why it keeps the others', async () => {
    const old = ago(dayMs + 60_000)
    add('old-gone.claim', gone, old)
    add('old-page.claim', running(), old, { use: 'page' })
    add('recent-page.claim', gone, ago(dayMs - 60_000), { use: 'page' })
    add('old-released.claim', running(), released, old)
    add('none.claim', gone, released, { ceiling: '0' })
    add('old-running.claim', running(), old)
    add('old-unknown.claim', unknown, old)
    add('recent-gone.claim', gone, ago(dayMs - 60_000))
    add('recent-released.claim', gone, released, ago(dayMs - 60_000))
    add('future.claim', gone, ceilingAt(in2040))
    add('scripted.claim', gone, old, { key: `injected ${sonyflakeKey}` })
    addDamaged('damaged.claim')
    mkdirSync(join(folder, 'empty.claim'))
    const [left, fresh] = ['.4.left.new', '.4.fresh.new'].map((name) => join(folder, 'recent-gone.claim', name))
    for (const path of [left, fresh]) writeFileSync(path as string, '')
    const hourAgo = Date.now() / 1000 - 3601
    utimesSync(left as string, hourAgo, hourAgo)

    const fates = (await objects('--clean')).map(({ path, isRemoved, reason }) => [
      path.slice(folder.length + 1),
      isRemoved,
      reason,
    ])
    expect(Object.fromEntries(fates.map(([name, ...fate]) => [name, fate]))).toEqual({
      'damaged.claim': [false, 'damaged'],
      'empty.claim': [true, 'empty'],
      'future.claim': [false, 'ahead of the clock'],
      'none.claim': [true, 'no id'],
      'old-gone.claim': [true, 'more than a day old'],
      'old-page.claim': [true, 'more than a day old'],
      'recent-page.claim': [false, 'not a day old'],
      'old-released.claim': [true, 'more than a day old'],
      'old-running.claim': [false, `held by ${other.pid}`],
      'old-unknown.claim': [false, 'held in another container'],
      'recent-gone.claim': [false, 'not a day old'],
      [join('recent-gone.claim', '.4.fresh.new')]: [false, 'being made'],
      [join('recent-gone.claim', '.4.left.new')]: [true, 'left over'],
      'recent-released.claim': [false, 'not a day old'],
      'scripted.claim': [false, 'injected clock'],
    })
    const kept = fates.filter(([name, isRemoved]) => !isRemoved && /claim$/.test(name)).map(([name]) => name)
    expect(readdirSync(folder).sort()).toEqual(kept.sort())
    expect(readdirSync(join(folder, 'recent-gone.claim')).sort()).toEqual(['.4.fresh.new', '2.a1', '3.a2'])
  })

  it('lists what it removed and kept as a table', async () => {
    add('a.claim', gone, ago(3 * dayMs))
    add('b.claim', running(), ago(3 * dayMs))
    const [head, ...rows] = await lines(['state', '--clean'])
    expect(head).toMatch(/^ +because +layout +node +namespace +time of the last id +path$/)
    expect(rows[0]).toMatch(
      /^removed +more than a day old +sonyflake +7 +orders +before \S+Z, 3 days ago, gone +\S+a\.claim$/,
    )
    expect(rows[1]).toMatch(
      /^kept +held by \d+ +sonyflake +7 +orders +before \S+Z, 3 days ago, process \d+ +\S+b\.claim$/,
    )
  })
})

describe('graupel state --clean PATH', () => {
  it('removes a claim with a time in 2040, and says which ids are forgotten', async () => {
    const remove = async (...says: object[]) => {
      const path = add('a.claim', ...says)
      const said = await lines(['state', '--clean', path])
      expect(existsSync(path)).toBe(false)
      expect(said[0]).toBe(`Removed ${path} of layout sonyflake, node 7, namespace orders.`)
      return said.slice(1)
    }
    const ahead = /, \d+ years ahead of the clock\.$/
    const exact = { ceiling: String(slotAt(in2040) + 1n) }
    const [ceiling, ...rest] = await remove(gone, ceilingAt(in2040))
    expect(ceiling).toMatch(/^Forgotten: ids before 2040-01-01T00:00:00\.000Z, /)
    expect(ceiling).toMatch(ahead)
    expect(rest).toEqual([])
    expect((await remove(running(), released, exact))[0]).toMatch(/^Forgotten: ids up to 2040-01-01T00:00:00\.000Z, /)
    expect(await remove(gone, released, { ceiling: '0' })).toEqual(['Forgotten: nothing, because it has no id.'])
    expect((await remove(unknown, ago(2 * dayMs)))[0]).toMatch(/^Forgotten: ids before .*, 2 days behind the clock\.$/)
    const path = add('a.claim', gone, ceilingAt(in2040))
    expect(await objects('--clean', path)).toMatchObject([
      { path, isRemoved: true, reason: 'asked for', kind: 'claim' },
    ])
  })

  it('names the page beside the claim, which still remembers ids', async () => {
    const path = add('a.claim', gone, ceilingAt(in2040))
    const page = join(folder, 'a.page')
    writeFileSync(page, bytesOf({ kind: 'page', word: slotAt(in2040) + 1n }))
    expect((await lines(['state', '--clean', path]))[2]).toBe(
      `Still remembered: ids up to 2040-01-01T00:00:00.000Z, by ${page}.`,
    )
    expect(existsSync(page)).toBe(true)
  })

  it('lets the js engine use the node again, as the error of the engine says', async () => {
    const options = { node: 5, namespace: 'spoilt', engine: 'js' }
    const one = await holder(options)
    const [name = ''] = readdirSync(folder)
    const path = join(folder, name)
    await refused(
      path,
      'ERR_STATE_UNSAFE',
      new RegExp(`^graupel: .*\\.claim is held by ${one.pid}\\b.*; stop it first `),
    )
    await one.end('SIGKILL')
    const [link = ''] = readdirSync(path)
    const says = JSON.parse(readFileSync(join(path, link), 'utf8'))
    const ceiling = String(BigInt(in2040 - layouts.twitter.epochMs) << 12n)
    writeFileSync(join(path, link), JSON.stringify({ ...says, ceiling }))
    const words = ['next', '--engine', 'js', '--node', '5', '--namespace', 'spoilt']
    expect(spawnGraupel(words).stderr).toContain(`npx graupel state --clean ${path}`)
    await lines(['state', '--clean', path])
    expect(spawnLines(words)).toHaveLength(1)
  })

  it('refuses a claim of another container, and a damaged claim', async () => {
    await refused(add('a.claim', unknown, ago(0)), 'ERR_STATE_UNSAFE', /process 12 of another container, .*; stop all/)
    await refused(
      addDamaged('b.claim'),
      'ERR_STATE_CORRUPT',
      /the claim \S+\/b\.claim is damaged: its link 4\.a3 .*; delete it once /,
    )
  })
})

it('graupel next refuses a node that the js engine of another process uses, as its help says', async () => {
  const one = await holder({ node: 5, engine: 'js' })
  const { status, stderr } = spawnGraupel(['next', '--engine', 'js', '--node', '5'])
  expect(status).toBe(2)
  expect(stderr).toMatch(new RegExp(`process ${one.pid}\\b.* \\(ERR_STATE_UNREACHABLE\\)\\n$`))
  expect((await lines(['next', '--help'])).join(' ')).toMatch(/With --engine js the second +one is refused/)
  await one.end()
})
