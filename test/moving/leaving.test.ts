import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createGenerator, decode, defineLayout, type Layout, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { blocksOf, repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'

// The program of docs/leaving.md, which uses nothing of graupel.

interface Leaving {
  fromStateFile(path: string): object
  fromLease(text: string, node: number): object
  continueIds(from: object): () => bigint
}

const folder = mkdtempSync(join(tmpdir(), 'graupel-leaving-'))
afterAll(() => rmSync(folder, { recursive: true }))

let leaving: Leaving
beforeAll(async () => {
  const [block] = blocksOf('docs/leaving.md')
  const file = join(folder, 'leaving.mjs')
  writeFileSync(file, block?.code as string)
  leaving = await import(pathToFileURL(file).href)
})

/** Fields of a node on both sides of the sequence. */
const split = defineLayout({
  name: 'split',
  epochMs: Date.UTC(2020, 0, 1),
  tickMs: 10,
  fields: [
    ['timestamp', 40],
    ['region', 3],
    ['sequence', 8],
    ['worker', 5],
  ],
})
const presets: [string, Layout][] = [
  ...Object.entries(layouts).filter(([, layout]) => !layout.decodeOnly && layout.expiresAt.getTime() > Date.now()),
  ['split', split],
]

/** Checks that ids are of one node, above all that were made before, and ascend. */
function expectToFollow(ids: readonly bigint[], last: bigint, layout: Layout, node: number): void {
  const tickAndSequence = (id: bigint) => {
    const { timestamp, sequence } = decode(id, layout)
    return [timestamp.getTime(), sequence] as const
  }
  let [time, sequence] = tickAndSequence(last)
  for (const id of ids) {
    const [nextTime, nextSequence] = tickAndSequence(id)
    expect(nextTime > time || (nextTime === time && nextSequence > sequence)).toBe(true)
    expect(decode(id, layout).node).toBe(node)
    ;[time, sequence] = [nextTime, nextSequence]
  }
}

/** Makes ids by a clock that is an hour behind: only the file or the record leads above the former ids. */
function make(next: () => bigint, count = 1000): bigint[] {
  const behind = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000)
  try {
    return Array.from({ length: count }, next)
  } finally {
    behind.mockRestore()
  }
}

describe.each(presets)('ids of the layout %s go on', (name, layout) => {
  it('above those of a lease that was released, and of a lease that was not', async () => {
    const store = memoryStore()
    for (const isReleased of [true, false]) {
      const lease = await acquireLease({ store, layout, namespace: `leaving ${name}` })
      const { node } = lease
      const last = createGenerator({ lease }).take(100).at(-1) as bigint
      if (isReleased) await lease.release()
      const [group] = (await store.list('groups/')).map(({ key }) => key.split('/')[1])
      const record = await store.read(`leases/${group}/${Math.floor(node / 1024)}/${node}`)
      const from = leaving.fromLease(record?.value as string, node)
      expectToFollow(make(leaving.continueIds(from)), last, layout, node)
      await lease.release()
    }
  })
})

describeWith(['native'], 'ids go on above a state file', () => {
  it.each(presets)('that was closed: %s', (name, layout) => {
    const path = join(folder, `${name}.state`)
    const node = layout.nodes - 2
    const ids = createGenerator({ layout, node, namespace: 'leaving', state: path })
    const last = ids.take(1000).at(-1) as bigint
    ids.close()
    const from = leaving.fromStateFile(path)
    expectToFollow(make(leaving.continueIds(from)), last, layout, node)
  })

  it('whose process was killed', async () => {
    const path = join(folder, 'killed.state')
    const program = `
      import { createGenerator } from 'graupel'
      const ids = createGenerator({ node: 7, namespace: 'killed', state: ${JSON.stringify(path)} })
      let last
      const endMs = Date.now() + 100
      while (Date.now() < endMs) last = ids.take(1000).at(-1)
      process.stdout.write(String(last))
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: repository })
    const [last] = await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    const from = leaving.fromStateFile(path)
    expectToFollow(make(leaving.continueIds(from), 5000), BigInt(String(last)), layouts.twitter, 7)
  })
})
