import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readState } from '../../src/cli/state/read.js'
import { claimIn, pageBeside, pagesFolder } from '../../src/host/folder.js'
import { headerAt, pageAt } from '../../src/host/format.js'
import { createGenerator, layouts } from '../../src/index.js'
import { describeLayout, makeKey } from '../../src/state/key.js'
import { caught, engines, freshNamespace } from '../support/engines.ts'
import { type Bytes, bytesOf } from '../support/state-bytes.ts'

// One table of pages that cannot be used, for both engines and the command line.

const root = mkdtempSync(join(tmpdir(), 'graupel-damaged-'))
beforeAll(() => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', root)
  mkdirSync(pagesFolder(), { mode: 0o700 })
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

const layout = layouts.twitter
const description = describeLayout(layout)
const keyOf = (namespace: string) => makeKey(layout, 1, namespace, 'real')
const endSlot = (BigInt(layout.maxTick) + 1n) << 12n
const u64 = (at: number, value: bigint) => (bytes: Buffer) => void bytes.writeBigUInt64LE(value, at)
const u32 = (at: number, value: number) => (bytes: Buffer) => void bytes.writeUInt32LE(value, at)

const wrongBytes: readonly [string, string, Bytes][] = [
  ['has nothing but zeros', 'ERR_STATE_CORRUPT', { damage: (bytes) => bytes.fill(0) }],
  ['begins as something else', 'ERR_STATE_CORRUPT', { at: (bytes) => void bytes.write('GRAUPEL\n') }],
  ['has another format', 'ERR_STATE_MISMATCH', { at: u32(headerAt.format, 2) }],
  [
    'has another format and another length',
    'ERR_STATE_MISMATCH',
    { at: u32(headerAt.format, 2), damage: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) },
  ],
  ['is a state file', 'ERR_STATE_CORRUPT', { at: u32(headerAt.kind, 2) }],
  ['is of no known kind', 'ERR_STATE_CORRUPT', { at: u32(headerAt.kind, 7) }],
  ['has a wrong byte in its header', 'ERR_STATE_CORRUPT', { damage: (bytes) => bytes.fill(1, 20, 21) }],
  ['has a wrong byte in its key', 'ERR_STATE_CORRUPT', { damage: (bytes) => bytes.fill(1, 97, 98) }],
  ['has texts longer than their place', 'ERR_STATE_CORRUPT', { damage: (bytes) => bytes.fill(255, 72, 76) }],
  ['is empty', 'ERR_STATE_CORRUPT', { damage: () => Buffer.alloc(0) }],
  ['is short by a byte', 'ERR_STATE_CORRUPT', { damage: (bytes) => bytes.subarray(0, -1) }],
  ['is long by a byte', 'ERR_STATE_CORRUPT', { damage: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) }],
  ['has its history elsewhere', 'ERR_STATE_CORRUPT', { at: u64(pageAt.historyAt, 64n) }],
  ['has a word that its layout cannot have', 'ERR_STATE_CORRUPT', { word: endSlot + 1n }],
  ['has a former word that its layout cannot have', 'ERR_STATE_CORRUPT', { at: u64(pageAt.last, endSlot + 1n) }],
  ['has a tick that its layout cannot have', 'ERR_STATE_CORRUPT', { at: u64(pageAt.highTick, endSlot >> 12n) }],
]

const wrongFiles: [string, (path: string, other: string) => unknown][] = [
  ['is a symbolic link', (path, other) => symlinkSync(other, path)],
  ['is a symbolic link that leads nowhere', (path) => symlinkSync(`${path}.none`, path)],
  ['has a second name', (path, other) => linkSync(other, path)],
  ['is a folder', (path) => mkdirSync(path, { mode: 0o700 })],
  ['is a pipe', (path) => execFileSync('mkfifo', ['-m', '600', path])],
  ['lets others read', (path, other) => put(path, other, 0o640)],
  ['lets others write', (path, other) => put(path, other, 0o602)],
]
if (process.geteuid?.() === 0) {
  wrongFiles.push(['belongs to another user', (path, other) => chownSync(put(path, other, 0o600), 65_534, 65_534)])
}

/** Copies a page and sets a mode. */
function put(path: string, other: string, mode: number): string {
  execFileSync('cp', [other, path])
  chmodSync(path, mode)
  return path
}

const pagePath = (namespace: string) => pageBeside(claimIn(pagesFolder(), keyOf(namespace)))

function writePage(path: string, key: string, bytes: Bytes): string {
  writeFileSync(path, bytesOf({ kind: 'page', key, description, word: 1000n, ...bytes }), { mode: 0o600 })
  return path
}

describe.each(engines)('on the %s engine, a page', (engine) => {
  const open = (namespace: string) => caught(() => createGenerator({ engine, node: 1, namespace }))

  it.each(wrongBytes)('that %s is refused: %s', (_, code, bytes) => {
    const namespace = freshNamespace()
    const path = writePage(pagePath(namespace), keyOf(namespace), bytes)
    expect(open(namespace)).toMatchObject({ code, message: expect.stringContaining(path) })
  })

  it.skipIf(process.platform === 'win32').each(wrongFiles)('that %s is refused as unsafe', (_, make) => {
    const namespace = freshNamespace()
    const path = pagePath(namespace)
    make(path, writePage(`${path}.other`, keyOf(namespace), {}))
    expect(open(namespace)).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringContaining(path) })
  })

  it('of other ids is refused with the names of both kinds of ids', () => {
    const namespace = freshNamespace()
    const path = writePage(pagePath(namespace), keyOf('another namespace'), {})
    const error = open(namespace)
    expect(error).toMatchObject({ code: 'ERR_STATE_MISMATCH', message: expect.stringContaining(path) })
    for (const part of ['another namespace', namespace]) expect(error.message).toContain(part)
  })

  it('of another format is refused with the number of its format', () => {
    const namespace = freshNamespace()
    const path = writePage(pagePath(namespace), keyOf(namespace), { at: u32(headerAt.format, 7) })
    expect(open(namespace)).toMatchObject({ message: expect.stringContaining(`${path} has format 7, `) })
  })

  it('without damage is continued', () => {
    const namespace = freshNamespace()
    const word = (BigInt(Date.now() - layout.epochMs) + 60_000n) << 12n
    writePage(pagePath(namespace), keyOf(namespace), { word })
    using ids = createGenerator({ engine, node: 1, namespace, maxAheadMs: 120_000, onOverflow: 'advance' })
    expect(ids.decode(ids.next()).timestampMs).toBe(Number(word >> 12n) + layout.epochMs)
  })
})

describe('for the command line, a page', () => {
  it.each(wrongBytes)('that %s is refused: %s', async (_, code, bytes) => {
    const namespace = freshNamespace()
    const path = writePage(pagePath(namespace), keyOf(namespace), bytes)
    // A state file in the place of a page has no record.
    await expect(readState(path)).rejects.toMatchObject({ code, message: expect.stringContaining(path) })
  })
})
