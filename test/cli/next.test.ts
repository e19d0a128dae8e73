import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { decode, encodings, type Layout, layouts, parseId, type TextEncoding } from 'graupel'
import { describe, expect, it } from 'vitest'
import { claimIn, pageBeside, pagesFolder } from '../../src/host/folder.js'
import { describeLayout, makeKey } from '../../src/state/key.js'
import { environment, program, removePages, spawnGraupel, spawnLines, start } from '../support/cli.js'
import { engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { bytesOf } from '../support/state-bytes.js'

const isNative = engines.includes('native')
const textEncodings = encodings.filter((encoding): encoding is TextEncoding => encoding !== 'bytes')

describe.each(engines)('graupel next on the %s engine', (engine) => {
  // A namespace of their own, because the js engine keeps a node for one process, and examples of documents
  // use node 7 and others.
  const own = ['--engine', engine, '--namespace', freshNamespace()]

  it('prints half a million ids in ascending order, so no two are equal', async () => {
    const child = start(['next', '-n', '500000', '--node', '7', ...own])
    let count = 0
    let last = -1n
    let faults = 0
    for await (const line of createInterface({ input: child.stdout })) {
      const id = BigInt(line)
      if (id <= last || (id >> 12n) % 1024n !== 7n) faults++
      last = id
      count++
    }
    expect({ count, faults }).toEqual({ count: 500_000, faults: 0 })
  })

  it('makes ids with the tags of a layout of its own, and refuses to guess a tag', () => {
    const fields = ['--fields', 'timestamp 41, worker 8, shard 6 tag, sequence 8', '--epoch', '2024-01-01']
    const words = ['next', '--node', '7', ...own, ...fields]
    const made = spawnLines([...words, '-n', '600', '--tag', 'shard=37', '--format', 'json']).map((line) =>
      JSON.parse(line),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(600)
    for (const { node, tags } of made) expect({ node, tags }).toEqual({ node: 7, tags: { shard: 37 } })
    const { status, stderr } = spawnGraupel(words)
    expect(status).toBe(2)
    expect(stderr).toMatch(/the tag 'shard' has no default.*--tag shard=0 \(ERR_OPTION_INVALID\)/)
    expect(spawnGraupel([...words, '--tag', 'shard=64']).stderr).toMatch(/the tag 'shard' is 64.*ERR_OPTION_INVALID/)
    const kind = [
      'next',
      '--node',
      '7',
      '--fields',
      'timestamp 41, worker 8, kind 6 tag, sequence 8',
      '--epoch',
      '2024-01-01',
    ]
    expect(spawnGraupel([...kind, '--tag', 'kind=64']).stderr).not.toContain('--kind')
    expect(spawnGraupel(['next', '--node', '7', ...own, '--tag', 'shard=1']).stderr).toMatch(/there is no tag 'shard'/)
  })

  it.each(
    Object.values(layouts).filter(({ expiresAt, decodeOnly }) => !decodeOnly && expiresAt.getTime() > Date.now()),
  )('makes ids of layout $name, more than a tick holds', (layout: Layout) => {
    const count = Math.min(2 ** layout.sequence.bits + 10, 10_000)
    const ids = spawnLines(['next', `-n${count}`, '--node', '5', '--layout', layout.name, ...own])
    expect(ids.length).toBe(count)
    expect(new Set(ids).size).toBe(count)
    expect(new Set(ids.map((id) => decode(id, layout).node))).toEqual(new Set([5]))
  })
})

describe('graupel next', () => {
  it('prints one id without -n, and none with -n 0', () => {
    expect(spawnLines(['next', '--node', '7'])).toEqual([expect.stringMatching(/^[0-9]{19}$/)])
    expect(spawnLines(['next', '--node', '7', '-n', '0'])).toEqual([])
  })

  it('takes the node as one number, field by field, or from GRAUPEL_NODE', () => {
    const nodeOf = (words: string[], variables = {}) =>
      decode(spawnLines(words, variables)[0] as string, layouts.twitter)
    expect(nodeOf(['next', '--node', '39']).fields).toEqual({ datacenter: 1, worker: 7 })
    expect(nodeOf(['next', '--node', 'worker=7,datacenter=1']).node).toBe(39)
    expect(nodeOf(['next'], { GRAUPEL_NODE: '39' }).node).toBe(39)
    expect(nodeOf(['next', '--node', '3'], { GRAUPEL_NODE: '39' }).node).toBe(3)
  })

  it.each(textEncodings)('writes ids in %s that read back as ids of this moment', (format) => {
    const before = Date.now()
    const texts = spawnLines(['next', '-n', '5', '--node', '7', '--format', format])
    const ids = texts.map((text) => parseId(text, format))
    expect(ids.length).toBe(5)
    for (const id of ids) {
      const { timestampMs, node } = decode(id, layouts.twitter)
      expect(node).toBe(7)
      expect(timestampMs).toBeGreaterThanOrEqual(before)
      expect(timestampMs).toBeLessThanOrEqual(Date.now())
    }
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('writes bytes without line ends', () => {
    const words = ['next', '-n', '3', '--node', '7', '--format', 'bytes']
    const { stdout } = spawnSync(process.execPath, [program, ...words], { env: environment() })
    const ids = [0, 8, 16].map((at) => parseId(stdout.subarray(at, at + 8), 'bytes'))
    expect(stdout.length).toBe(24)
    expect(ids.map((id) => decode(id, layouts.twitter).node)).toEqual([7, 7, 7])
  })

  it('writes json with every part of the id, by the epoch that was given', () => {
    const [line] = spawnLines(['next', '--node', '39', '--epoch', '1600000000000', '--format', 'json'])
    const { id, timestampMs, ...rest } = JSON.parse(line as string)
    expect(rest).toEqual({
      timestamp: new Date(timestampMs).toISOString(),
      node: 39,
      fields: { datacenter: 1, worker: 7 },
      sequence: 0,
    })
    expect(id).toBe(String((BigInt(timestampMs - 1600000000000) << 22n) | (39n << 12n)))
  })

  it('waits for the next tick, even if a tick lasts longer than the default maxWaitMs', () => {
    const epoch = String(Date.now() - 1_000_000)
    const ids = spawnLines(['next', '-n', '8200', '--node', '7', '--layout', 'baidu', '--epoch', epoch])
    expect(new Set(ids).size).toBe(8200)
  })

  it('ends after its last tick if nothing remembers the tick, so that the next run cannot repeat ids', () => {
    const alone = ['--node', '7', '--state', 'process']
    const words = ['next', ...alone, '--layout', 'baidu', '--epoch', String(Date.now() - 1_000_000)]
    expect(spawnLines(words)).not.toEqual(spawnLines(words))
    // The last ids are 780 ms ahead of the clock.
    const ahead = ['next', '-n', '20000', ...alone, '--layout', 'sonyflake', '--on-overflow', 'advance']
    expect(new Set([...spawnLines(ahead), ...spawnLines(ahead)]).size).toBe(40_000)
  })

  it.runIf(isNative)('remembers the last id in the state that was given, and ends at once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'graupel-'))
    const namespace = freshNamespace()
    const words = ['next', '-n', '100', '--node', '7', '--namespace', namespace]
    const ahead = ['--on-overflow', 'advance', '--max-ahead-ms', '7200000']
    // The page is an hour ahead of the clock, and the command would wait that long if nothing remembered it.
    const word = BigInt(Date.now() + 3_600_000 - layouts.twitter.epochMs) << 12n
    const [key, description] = [makeKey(layouts.twitter, 7, namespace, 'real'), describeLayout(layouts.twitter)]
    mkdirSync(pagesFolder(), { recursive: true, mode: 0o700 })
    const page = pageBeside(claimIn(pagesFolder(), key))
    writeFileSync(page, bytesOf({ kind: 'page', key, description, word }), { mode: 0o600 })
    try {
      const states = ['host', join(folder, 'ids.state')].flatMap((state) => [state, state])
      const ids = states.flatMap((state) => spawnLines([...words, ...ahead, '--state', state])).map(BigInt)
      expect(decode(ids[0] as bigint, layouts.twitter).timestampMs).toBe(Number(word >> 12n) + layouts.twitter.epochMs)
      expect(isAscending(ids)).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
      removePages(namespace)
    }
  })

  it.runIf(isNative)('makes ids of one node by many commands at once, no two of them equal', async () => {
    const namespace = freshNamespace()
    const words = ['next', '-n', '100000', '--node', '7', '--layout', 'wide', '--namespace', namespace]
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = start(words)
        let stdout = ''
        child.stdout.on('data', (text) => {
          stdout += text
        })
        expect(await once(child, 'close')).toEqual([0, null])
        return stdout.split('\n').slice(0, -1)
      }),
    )
    removePages(namespace)
    expect(new Set(outputs.flat()).size).toBe(400_000)
  })

  it('passes the policies on, and names their flags if they refuse', () => {
    // A tick of 10 ms holds 256 ids, which are made in much less time.
    const words = ['next', '--node', '7', '--layout', 'sonyflake', '-n', '20000']
    const refused = (more: string[]) => {
      const { status, stderr } = spawnGraupel([...words, ...more])
      return { status, stderr }
    }
    expect(refused(['--on-overflow', 'throw'])).toEqual({
      status: 2,
      stderr: expect.stringMatching(
        /^graupel: node 7 has issued all 256 ids [^\n]*; see --on-overflow \(ERR_SEQUENCE_OVERFLOW\)\n$/,
      ),
    })
    expect(refused(['--max-wait-ms', '0'])).toEqual({
      status: 2,
      stderr: expect.stringMatching(
        / longer than maxWaitMs \(0\)[^\n]*; see --max-wait-ms \(ERR_SEQUENCE_OVERFLOW\)\n$/,
      ),
    })
  })

  it('starts each tick where --sequence-start says', () => {
    const words = ['next', '--node', '7', '--layout', 'sonyflake', '-n', '1000']
    const starts = (start: string) => {
      const decoded = spawnLines([...words, '--sequence-start', start]).map((id) => decode(id, layouts.sonyflake))
      return decoded
        .filter(({ timestampMs }, i) => timestampMs !== decoded[i - 1]?.timestampMs)
        .map(({ sequence }) => sequence)
    }
    expect(new Set(starts('zero'))).toEqual(new Set([0]))
    // At least four ticks, of at least 128 starts each.
    expect(new Set(starts('random')).size).toBeGreaterThan(1)
  })

  it('prints a warning of the library in one line, and the ids', () => {
    const epoch = String(Date.now() - 2 ** 28 * 1000 + 24 * 3600_000)
    const { status, stdout, stderr } = spawnGraupel(['next', '--node', '7', '--layout', 'baidu', '--epoch', epoch])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^[0-9]+\n$/)
    expect(stderr).toMatch(/^graupel: warning: layout 'baidu' expires on .* \(GRAUPEL_LAYOUT_EXPIRES\)\n$/)
    const quiet = { NODE_NO_WARNINGS: '1' }
    expect(spawnGraupel(['next', '--node', '7', '--layout', 'baidu', '--epoch', epoch], quiet)).toMatchObject({
      ...{ status: 0, stderr: '' },
    })
  })
})
