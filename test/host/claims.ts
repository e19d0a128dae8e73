import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { claims } from '../../src/host/claim.js'
import { latestLink } from '../../src/host/claim-chain.js'
import { nameOf, pagesFolder } from '../../src/host/folder.js'
import { pageAt } from '../../src/host/format.js'
import { sleeper } from '../support/sleeper.ts'
import { bytesOf } from '../support/state-bytes.ts'

// Claims of this process and of another process. inFrontOf() puts an action of the other process between two
// system calls of this one.

const root = mkdtempSync(join(tmpdir(), 'graupel-claim-'))
export const pages = join(root, basename(pagesFolder()))
/** A running process. */
export const other = sleeper()
/** The pid of a process that has ended. */
export const gone = { pid: 2 ** 22 + 1 }

beforeAll(() => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', root)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})
/** The actions of {@link inFrontOf} that no call has run yet. */
const waiting = new Set<() => void>()
afterEach(() => {
  vi.restoreAllMocks()
  const left = [...waiting].map(String)
  waiting.clear()
  if (left.length > 0) throw new Error(`the other process has not acted, because no such call came: ${left}`)
})

export const clock = {
  nowSlot: () => 1000n,
  slotAfter: (tick: number) => BigInt(Math.max(tick, 1000) + 1),
  ceilingFrom: (floor: bigint) => (floor > 1001n ? floor : 1000n) + 500n,
  endSlot: 1_000_000n,
  maxTick: 999_999,
}
const description = JSON.stringify({ name: 'tiny' })
let count = 0

/** Makes a new key, its claimant, and the path of its claim. */
export function claimant() {
  count += 1
  const key = `real 0 1 41 22 12 0 ${count} test`
  const place = join(pages, `${nameOf(key)}.claim`)
  return { key, description, owner: 'ours', place, held: { link: 0, word: 0n, ceiling: 0n } }
}
export type Own = ReturnType<typeof claimant>

/** Takes a claim, and keeps its link like the js engine. Adds the number of the link. */
export function take(own: Own) {
  const claimed = claims.take(own, clock, own.held, 0n)
  own.held.link = claimed.link
  return { number: latestOf(own)?.number, ...claimed }
}

/** Writes a link of the other process. By default its token is `a` and its number. */
export function writeLink({ key, place }: Own, name: string, more: object = {}): void {
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

/** Writes a chain whose latest link is number 5. */
export function writeChain(own: Own, latest: object): void {
  writeLink(own, '4.a3', gone)
  writeLink(own, '5.a4', latest)
}
export const numbersOf = ({ place }: Own) =>
  readdirSync(place)
    .map((name) => Number(name.split('.')[0]))
    .sort((a, b) => a - b)
export const latestOf = ({ place }: Own) => latestLink(place)
export const remove = ({ place }: Own) => rmSync(place, { recursive: true })
export const isThere = ({ place }: Own) => existsSync(place)

/**
 * Runs an action before the next link(), before the rename() that makes the first link, or, if there is no
 * link yet, before the page beside the claim is opened.
 */
export function inFrontOf(call: 'linkSync' | 'renameSync' | 'openSync', act: () => void): void {
  const real = fs[call] as (...words: unknown[]) => never
  waiting.add(act)
  vi.spyOn(fs, call).mockImplementationOnce((...words: unknown[]) => {
    waiting.delete(act)
    act()
    return real(...words)
  })
}

/** Writes a page beside a claim, with an entry for a process. */
export function writePage({ key, place }: Own, word: bigint, last: bigint, pid = 0): string {
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
