import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plain } from '../../src/cli/output.js'
import { readState } from '../../src/cli/state/read.js'
import { listed } from '../../src/cli/state.js'
import { composeId, layouts } from '../../src/index.js'
import { graupel, lines, spawnLines } from '../support/cli.js'
import { type Bytes, bytesOf, sealed, slotAt, sonyflake, sonyflakeKey } from '../support/state-bytes.js'

const isLinux = process.platform === 'linux'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'graupel-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
const freshPath = () => join(folder, `${count++}.state`)

const { epochMs, fields } = layouts.sonyflake
const timestampMs = epochMs + 12_345_678_900
const slot = slotAt(timestampMs) + 42n

function write(bytes: Bytes): string {
  const path = freshPath()
  writeFileSync(path, bytesOf(bytes))
  return path
}

const text = async (path: string) => `${(await lines(['state', path])).join('\n')}\n`
const json = async (path: string) => {
  const [line, ...rest] = await lines(['state', path, '--json'])
  expect(rest).toEqual([])
  return JSON.parse(line as string)
}

describe('graupel state', () => {
  it.runIf(isLinux)('shows a state file that was closed cleanly', async () => {
    const path = write({
      at: (bytes) => {
        bytes.write('another start', 4112)
        // A clean close makes both equal to the word, and only the word is read.
        bytes.writeBigUInt64LE(slot + 512n, 4152)
        bytes.writeBigUInt64LE(slot + 256n, 4160)
      },
    })
    expect((await text(path)).replaceAll(path, 'PATH').replace(/, \d+ years? ago/, ', … ago')).toMatchInlineSnapshot(`
      "  file        PATH
        format      1
        layout      sonyflake (epoch 2014-09-01T00:00:00.000Z, tick 10 ms)
        fields      timestamp 39, sequence 8, machine 16
        node        7 (0 to 65,535)
        namespace   orders
        last id     20712612159946759
        time        2015-01-21T21:21:18.900Z, … ago
        local time  2015-01-21 21:21:18.900 +00:00 UTC
        closed      cleanly, with the exact last id
        memory      gone: this system has restarted since, or it is another system
        next start  after the last id
        open by     no process
      "
    `)
    expect(await json(path)).toEqual({
      path,
      kind: 'file',
      format: 1,
      layout: {
        name: 'sonyflake',
        fields: fields.map(([field, bits]) => ({ name: field, bits })),
        unsigned: false,
        tickMs: 10,
        epochMs,
        epoch: new Date(epochMs).toISOString(),
      },
      node: 7,
      fields: { machine: 7 },
      namespace: 'orders',
      lastId: String(composeId({ timestampMs, node: 7, sequence: 42 }, layouts.sonyflake)),
      timestamp: new Date(timestampMs).toISOString(),
      timestampMs,
      intended: { timestamp: new Date(timestampMs + 20).toISOString(), timestampMs: timestampMs + 20 },
      durable: { timestamp: new Date(timestampMs + 10).toISOString(), timestampMs: timestampMs + 10 },
      isClean: true,
      isLive: false,
      isSameBoot: false,
      page: null,
      lineage: '0'.repeat(32),
      bootId: 'another start',
      openBy: [],
    })
  })

  it('shows the ceilings of a state file that was not closed, if its page is gone', async () => {
    const intended = slot + 256n * 100n
    const path = write({
      at: (bytes) => {
        bytes.write('another start', 4112)
        bytes.writeBigUInt64LE(intended, 4152)
        bytes.writeUInt32LE(0, 4176)
      },
    })
    const at = (ms: number) => new Date(timestampMs + ms).toISOString()
    const shown = await text(path)
    expect(shown).toMatch(/^ {2}last id +not known$/m)
    expect(shown).toMatch(new RegExp(`^  intended +ids before ${at(1000)}, \\d+ years? ago$`, 'm'))
    expect(shown).toMatch(new RegExp(`^  durable +ids before ${at(0)}, \\d+ years? ago$`, 'm'))
    expect(shown).toMatch(new RegExp(`^  next start .*not before ${at(1000)}, \\d+ years? ago$`, 'm'))
    expect(await json(path)).toMatchObject({
      lastId: null,
      timestamp: null,
      intended: { timestampMs: timestampMs + 1000 },
      durable: { timestampMs },
      isClean: false,
    })
  })

  it.each<[string, Bytes, RegExp, object]>([
    ['a page', { kind: 'page' }, /^ {2}last id +\d+$/m, { timestampMs, isSealed: false, hasHistory: false }],
    ['a page that is new', { kind: 'page', word: 0n }, /^ {2}last id +none yet$/m, { lastId: null, timestamp: null }],
    ['a sealed page', { kind: 'page', word: sealed }, /^ {2}sealed +yes: /m, { lastId: null, isSealed: true }],
    [
      'a page with a history',
      { kind: 'page', at: (bytes) => bytes.writeBigInt64LE(128n, 3984) },
      /^ {2}history +yes/m,
      { hasHistory: true },
    ],
    [
      'a page of an injected clock',
      { kind: 'page', key: `injected ${sonyflakeKey}` },
      /^ {2}clock +injected/m,
      { clock: 'injected' },
    ],
    ['a new state file', { word: 0n }, /^ {2}memory +none yet$/m, { lastId: null, intended: null, isLive: false }],
    [
      'a layout whose name was too long to keep',
      { description: sonyflake.replace('"sonyflake"', '""') },
      /^ {2}layout +of a very long name /m,
      { layout: { name: '' } },
    ],
    [
      'a namespace with spaces',
      { key: `${epochMs} 10 39 24 8 16 7  a  b ` },
      /^ {2}namespace +a {2}b$/m,
      { namespace: ' a  b ' },
    ],
    [
      'an epoch before 1970, and ids of 64 bits',
      {
        kind: 'page',
        key: 'real -1000 1 42 22 10 0 4190208 x',
        description:
          '{"name":"old","epochMs":-1000,"tickMs":1,"fields":[["timestamp",42],["node",12],["sequence",10]],"unsigned":true}',
        word: 2n ** 52n - 1024n,
      },
      /^ {2}last id +18446744073705354239$/m,
      { node: 4092, timestampMs: 2 ** 42 - 1002, lastId: '18446744073705354239' },
    ],
  ])('shows %s', async (_what, bytes, shown, object) => {
    const path = write(bytes)
    expect(await text(path)).toMatch(shown)
    expect(await json(path)).toMatchObject(object)
  })

  it('lets no control character of a name reach the terminal', async () => {
    const namespace = 'a\x1b[31m\nb\x9b\u2028c\u202ed\x7f'
    const layout = sonyflake.replace('"sonyflake"', JSON.stringify('\x1b]0;\x07x\x85'))
    const path = write({ key: `${epochMs} 10 39 24 8 16 7 ${namespace}`, description: layout })
    for (const words of [[], ['--json']]) {
      const { stdout } = await graupel(['state', path, ...words])
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]/)
    }
    expect(await text(path)).toContain('a\\u001b[31m\\u000ab\\u009b\\u2028c\\u202ed\\u007f\n')
    expect(await json(path)).toMatchObject({ namespace, layout: { name: '\x1b]0;\x07x\x85' } })
  })
})

describe('a state that is refused', () => {
  const set32 = (value: number, offset: number) => (bytes: Buffer) => void bytes.writeUInt32LE(value, offset)
  const set64 = (value: bigint, offset: number) => (bytes: Buffer) => void bytes.writeBigUInt64LE(value, offset)
  const flip = (offset: number) => (bytes: Buffer) => void bytes.writeUInt8((bytes[offset] as number) ^ 1, offset)
  const beyond = (2n ** 39n + 1n) * 256n

  it.each<[string, RegExp, Bytes]>([
    ['another beginning', /does not begin as a page or a state file/, { damage: flip(3) }],
    ['no bytes at all', /does not begin as/, { damage: () => Buffer.alloc(0) }],
    ['90 bytes', /it has only 90 bytes/, { damage: (bytes) => bytes.subarray(0, 90) }],
    ['a page that is too short', /it has 16383 of 16384 bytes/, { kind: 'page', damage: (b) => b.subarray(0, -1) }],
    ['a file that is too short', /it has 4096 of 8192 bytes/, { damage: (bytes) => bytes.subarray(0, 4096) }],
    ['a file that is too long', /it has more than 8192 bytes/, { damage: (b) => Buffer.concat([b, Buffer.alloc(1)]) }],
    ['a page that is too long', /it has more than 16384 bytes/, { kind: 'page', damage: (b) => Buffer.concat([b, b]) }],
    ['another kind', /its kind is 3/, { at: set32(3, 12) }],
    ['another key', /checksum of its first part/, { damage: flip(100) }],
    ['another lineage', /checksum of its first part/, { kind: 'page', damage: flip(16) }],
    ['another length of its texts', /checksum of its first part/, { damage: set32(2 ** 32 - 1, 76) }],
    ['texts that reach beyond their room', /checksum of its first part/, { description: sonyflake.padEnd(2976) }],
    ['another ceiling', /checksum of its record/, { damage: flip(4152) }],
    ['a durable ceiling above the intended one', /contradict each other/, { at: set64(slot + 2n, 4160) }],
    ['a third way of being closed', /contradict each other/, { at: set32(2, 4176) }],
    ['a word that its layout cannot have', /numbers that its layout/, { kind: 'page', word: beyond }],
    ['a tick that its layout cannot have', /numbers that its layout/, { kind: 'page', at: set64(2n ** 39n, 3976) }],
    ['a ceiling that its layout cannot have', /numbers that its layout/, { at: set64(beyond, 4152) }],
    ['a history elsewhere', /history has the wrong offset 136/, { kind: 'page', at: set64(136n, 3984) }],
    ['a key of a page in a file', /key and its layout contradict/, { key: `real ${sonyflakeKey}` }],
    ['a key of a file in a page', /key and its layout contradict/, { kind: 'page', key: sonyflakeKey }],
    ['another epoch in its key', /key and its layout contradict/, { key: sonyflakeKey.replace('1409', '1408') }],
    ['a node that is too wide', /numbers that its layout/, { key: sonyflakeKey.replace(' 7 ', ` ${2n ** 63n} `) }],
    ['no key', /does not say which ids/, { key: 'nonsense' }],
    ['no layout', /does not say which ids/, { description: '{"name":' }],
    ['a layout that cannot be', /does not say which ids/, { description: sonyflake.replace('39', '60') }],
  ])('for %s is named ERR_STATE_CORRUPT', async (_what, message, bytes) => {
    const path = write(bytes)
    const { status, stdout, stderr } = await graupel(['state', path])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]* \(ERR_STATE_CORRUPT\)\n$/)
    expect(stderr).toMatch(message)
    expect(stderr).toContain(path)
  })

  it('for its format has the code ERR_STATE_MISMATCH, and names both formats', async () => {
    const { status, stderr } = await graupel(['state', write({ at: set32(2, 8), damage: (b) => b.subarray(0, 5000) })])
    expect(status).toBe(2)
    expect(stderr).toMatch(/has format 2, and this version of graupel reads format 1; .* \(ERR_STATE_MISMATCH\)\n$/)
  })

  it('because it does not exist is named with the reason of the system, and is not created', async () => {
    const path = freshPath()
    expect(await graupel(['state', path])).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /cannot be read: ENOENT: no such file or directory; .* \(ERR_STATE_UNAVAILABLE\)\n$/,
      ),
    })
    expect(readdirSync(folder)).not.toContain(path)
    expect((await graupel(['state', join(write({}), 'x')])).stderr).toMatch(/ENOTDIR|ENOENT/)
  })

  it('because it is a folder has the code ERR_STATE_UNSAFE', async () => {
    expect(await graupel(['state', folder])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/is a folder; .* \(ERR_STATE_UNSAFE\)\n$/),
    })
  })
})

describe('reading', () => {
  /** Runs as a user whose access is checked. The access of root is not. */
  async function asUser<T>(read: () => Promise<T>): Promise<T> {
    if (process.getuid?.() !== 0) return await read()
    process.seteuid?.(65534)
    try {
      return await read()
    } finally {
      process.seteuid?.(0)
    }
  }

  it.skipIf(process.platform === 'win32')('needs leave to read, and not to write', async () => {
    chmodSync(folder, 0o755)
    const path = write({})
    const before = readFileSync(path)
    if (process.getuid?.() === 0) chownSync(path, 65534, 65534)
    chmodSync(path, 0o400)
    expect((await asUser(() => readState(path))).ids).toMatchObject({ node: 7, namespace: 'orders' })
    chmodSync(path, 0)
    await expect(asUser(() => readState(path))).rejects.toMatchObject({
      code: 'ERR_STATE_UNAVAILABLE',
      message: expect.stringContaining('EACCES: permission denied'),
      cause: { code: 'EACCES' },
    })
    chmodSync(path, 0o400)
    expect(readFileSync(path)).toEqual(before)
  })

  it('reads a file again that another process may be writing, but not for ever', async () => {
    const whole = bytesOf({})
    const torn = bytesOf({ damage: (bytes) => void bytes.writeUInt32LE(0, 4156) })
    const stats = statSync(write({}), { bigint: true })
    const reads = [torn, torn, whole, torn]
    const read = () => ({ bytes: reads.shift() as Buffer, stats })
    expect((await readState('a', read)).stored).toMatchObject({ isClean: true })
    expect(reads.length).toBe(1)
    let attempts = 0
    await expect(
      readState('a', () => {
        attempts++
        return { bytes: torn, stats }
      }),
    ).rejects.toMatchObject({ code: 'ERR_STATE_CORRUPT' })
    expect(attempts).toBe(5)
  })

  it.each([{ GRAUPEL_ENGINE: 'js' }, { NODE_OPTIONS: '--no-addons' }])('needs no binary (%j)', (variables) => {
    const path = write({})
    expect(spawnLines(['state', path], variables)).toEqual(spawnLines(['state', path]))
  })
})

describe('the list of pages', () => {
  it('has a line for each page, the latest first, and says which is damaged', async () => {
    const pages = mkdtempSync(join(folder, 'pages-'))
    const add = (file: string, bytes: Bytes) => writeFileSync(join(pages, file), bytesOf({ kind: 'page', ...bytes }))
    add('a.page', { word: 0n })
    add('a2.page', { word: sealed })
    add('b.page', { key: `injected ${sonyflakeKey.replace('orders', 'old\x1b')}`, word: slot - 25_600n })
    add('c.page', {})
    add('d.page', { damage: (bytes) => void bytes.writeUInt8(0, 96) })
    add('.e.page.1234.new', {})
    add('f.other', {})
    const [head, ...rows] = (await listed(pages, false, plain)).split('\n').slice(0, -1)
    expect(head).toMatch(/^layout +node +namespace +time of the last id +path$/)
    const time = (ms: number) => `${new Date(timestampMs + ms).toISOString()}, \\d+ years? ago`
    for (const [i, row] of [
      `^sonyflake +7  orders +${time(0)} +.*c.page$`,
      `^sonyflake +7  old\\\\u001b +${time(-1000)}, injected clock +.*b.page$`,
      '^sonyflake +7  orders +none +.*a.page$',
      '^sonyflake +7  orders +sealed +.*a2.page$',
      '^\\? +ERR_STATE_CORRUPT +.*d.page$',
    ].entries()) {
      expect(rows[i]).toMatch(new RegExp(row))
    }
    expect(rows.length).toBe(5)
    const objects = (await listed(pages, true, plain))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    expect(objects.map(({ path }) => path)).toEqual(
      ['c', 'b', 'a', 'a2', 'd'].map((file) => join(pages, `${file}.page`)),
    )
    expect(objects[0]).toMatchObject({ kind: 'page', timestampMs, namespace: 'orders' })
    expect(objects[4].error).toMatchObject({ code: 'ERR_STATE_CORRUPT', message: expect.stringContaining('checksum') })
  })

  it('says so if there is no page', async () => {
    const none = join(folder, 'none')
    expect(await listed(none, false, plain)).toMatch(
      /^There is no page and no claim in .*none: nothing on this host remembers/,
    )
    expect(await listed(none, true, plain)).toBe('')
    mkdirSync(none)
    expect(await listed(none, false, plain)).toMatch(/^There is no page/)
  })
})
