import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { createGenerator, decode, type GeneratorOptions, layouts } from 'graupel'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { holder, removePages, shownPages, spawnLines } from '../support/cli.js'
import { engines, freshNamespace } from '../support/engines.js'

const isNative = engines.includes('native')
const isLinux = process.platform === 'linux'
/** Systems that tell the time of their start without the native engine. */
const knowsStart = isLinux || process.platform === 'darwin'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'graupel-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const namespaces: string[] = []
afterEach(() => namespaces.splice(0).forEach(removePages))

let count = 0
const freshPath = () => join(folder, `${count++}.state`)

function open(options: GeneratorOptions) {
  const namespace = options.namespace ?? freshNamespace()
  namespaces.push(namespace)
  return { namespace, ids: createGenerator({ node: 300, ...options, namespace } as GeneratorOptions) }
}

const json = (path: string) => JSON.parse(spawnLines(['state', path, '--json']).join('\n'))
const text = (path: string) => spawnLines(['state', path]).join('\n')
const pageOf = (namespace: string) => {
  const [page, ...rest] = shownPages(namespace)
  expect(rest).toEqual([])
  return page as { path: string; lastId: string }
}

describe.runIf(isNative)('graupel state of a page', () => {
  it('lists the page of a generator, with its last id', () => {
    const { ids, namespace } = open({ layout: layouts.wide, node: 5 })
    const id = ids.take(1000).at(-1) as bigint
    ids.close()
    const { path, ...page } = pageOf(namespace)
    expect(page).toMatchObject({ kind: 'page', node: 5, fields: { node: 5 }, clock: 'real', hasHistory: false })
    expect(BigInt(page.lastId)).toBeGreaterThanOrEqual(id)
    const last = decode(page.lastId, layouts.wide)
    expect(last).toMatchObject({ node: 5 })
    // A thread reserves slots of one tick only.
    expect(last.timestampMs - decode(id, layouts.wide).timestampMs).toBeLessThanOrEqual(1)
    expect(json(path)).toMatchObject({ path, ...page })
    expect(text(path)).toContain(page.lastId)
  })

  it('shows whether the page has a history, the kind of clock, and the exact last id', () => {
    const nowMs = Date.UTC(2030, 0, 1)
    const options = { state: 'host', clock: () => nowMs, sequenceStart: 'zero', layout: layouts.js53 } as const
    const { ids, namespace } = open({ ...options, node: 9, onRollback: 'reuse' })
    expect(pageOf(namespace)).toMatchObject({ clock: 'injected', hasHistory: true })
    // Uses the rest of the tick, so that no slot is reserved. The first slot is left out for the history.
    const id = ids.take(2 ** 7 - 1).at(-1)
    expect(pageOf(namespace)).toMatchObject({ lastId: String(id), timestampMs: nowMs, node: 9 })
    ids.close()
  })

  it.runIf(isLinux)('names the processes that have the page open, and no others', async () => {
    const namespace = freshNamespace()
    namespaces.push(namespace)
    const holders = await Promise.all([holder({ node: 1, namespace }, 'first'), holder({ node: 1, namespace })])
    const other = await holder({ node: 2, namespace })
    const page = shownPages(namespace).find(({ node }) => node === 1)?.path as string
    const { openBy } = json(page)
    const pids = holders.map(({ pid }) => pid).sort((a, b) => a - b)
    expect(openBy.map(({ pid }: { pid: number }) => pid)).toEqual(pids)
    for (const { command } of openBy) {
      expect(command).toMatch(/^\S*node --input-type=module -e /)
      expect(command.length).toBe(61)
    }
    const shown = text(page)
    expect(shown).toMatch(new RegExp(`^  open by +${pids[0]} \\S*node --.*…\\n +${pids[1]} \\S*node --.*…$`, 'm'))
    await Promise.all([...holders, other].map((one) => one.end()))
    expect(json(page).openBy).toEqual([])
    expect(text(page)).toMatch(/^ {2}open by +no process$/m)
  })
})

describe.runIf(isNative && knowsStart)('graupel state of a state file', () => {
  it('shows the live word, the ceilings and the process while the file is in use, and the exact word afterwards', async () => {
    const state = freshPath()
    const { ids, namespace } = open({ state })
    const id = ids.next()
    const { ceilingMs } = ids.stats()
    const page = pageOf(namespace)
    expect(json(state)).toMatchObject({
      kind: 'file',
      path: state,
      node: 300,
      namespace,
      lastId: page.lastId,
      intended: { timestampMs: ceilingMs },
      durable: { timestampMs: ceilingMs, timestamp: new Date(ceilingMs as number).toISOString() },
      isClean: false,
      isLive: true,
      page: page.path,
      openBy: isLinux ? [{ pid: process.pid, command: expect.stringContaining('node') }] : null,
    })
    expect(BigInt(page.lastId)).toBeGreaterThanOrEqual(id)
    expect(text(state)).toMatch(/^ {2}closed +no: in use, or its process ended without closing it$/m)
    const inUse = freshPath()
    copyFileSync(state, inUse)
    ids.close()
    expect(json(state)).toMatchObject({ lastId: String(id), isClean: true, openBy: isLinux ? [] : null })
    // Processes that continue by the page do not change the file.
    const { ids: others } = open({ namespace })
    const later = others.take(5000).at(-1) as bigint
    others.close()
    expect(BigInt(json(state).lastId)).toBeGreaterThanOrEqual(later)

    // Without the page, only the file remembers ids.
    removePages(namespace)
    expect(json(state)).toMatchObject({
      lastId: String(id),
      isClean: true,
      isLive: false,
      isSameBoot: true,
      page: null,
    })
    expect(text(state)).toMatch(/^ {2}memory +not in .*: deleted, or in another container$/m)
    expect(text(state)).toMatch(/^ {2}next start +after the last id$/m)
    expect(json(inUse)).toMatchObject({
      lastId: null,
      isClean: false,
      isLive: false,
      durable: { timestampMs: ceilingMs },
    })
    expect(text(inUse)).toContain(`not before ${new Date(ceilingMs as number).toISOString()}`)
  })

  it.runIf(isLinux)('uses the page after SIGKILL, and the ceilings after a restart of the system', async () => {
    const namespace = freshNamespace()
    namespaces.push(namespace)
    const state = freshPath()
    const killed = await holder({ node: 1, namespace, state })
    await killed.end('SIGKILL')
    expect(json(state)).toMatchObject({ isClean: false, isLive: true, isSameBoot: true, openBy: [] })
    expect(BigInt(json(state).lastId)).toBeGreaterThanOrEqual(BigInt(killed.id))
    const bytes = readFileSync(state)
    bytes.write('00000000-0000-0000-0000-000000000000', 4112)
    bytes.writeUInt32LE(crc32(bytes.subarray(4096, 4180)), 4180)
    writeFileSync(state, bytes)
    expect(json(state)).toMatchObject({ lastId: null, isLive: false, isSameBoot: false, page: null })
    expect(text(state)).toMatch(/^ {2}memory +gone: this system has restarted since/m)
  })

  it('ignores a page with another key, or another lineage', () => {
    const state = freshPath()
    const { ids, namespace } = open({ state })
    ids.next()
    ids.close()
    const { ids: other, namespace: otherNamespace } = open({})
    other.next()
    other.close()
    const { path } = pageOf(namespace)
    const bytes = readFileSync(path)
    // The two pages exchange lineages.
    const others = readFileSync(pageOf(otherNamespace).path)
    bytes.copy(others, 16, 16, 32)
    bytes.writeUInt8((bytes[16] as number) ^ 1, 16)
    for (const [file, page] of [
      [path, bytes],
      [pageOf(otherNamespace).path, others],
    ] as const) {
      const end = 96 + page.readUInt32LE(72) + page.readUInt32LE(76)
      page.writeUInt32LE(crc32(page.subarray(96, end), crc32(page.subarray(0, 84))), 84)
      writeFileSync(file, page)
    }
    expect(json(state)).toMatchObject({ isLive: false, page: null })
  })

  it.runIf(isLinux)('names two processes that have the file open', async () => {
    const namespace = freshNamespace()
    namespaces.push(namespace)
    const state = freshPath()
    const holders = await Promise.all([1, 2].map(() => holder({ node: 1, namespace, state })))
    const pids = holders.map(({ pid }) => pid).sort((a, b) => a - b)
    expect(json(state).openBy.map(({ pid }: { pid: number }) => pid)).toEqual(pids)
    await holders[0]?.end()
    expect(json(state)).toMatchObject({ isClean: false, openBy: [{ pid: holders[1]?.pid }] })
    await holders[1]?.end()
    expect(json(state)).toMatchObject({ isClean: true, openBy: [] })
  })
})
