import { composeId, decode, defineLayout, encodeId, encodings, type Field, layouts } from 'graupel'
import { decodeUuid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { Batch, checkWrittenAs, type MadeIds } from '../../web/src/ids/batch.ts'
import { candidatesOf, likeliestOf } from '../../web/src/ids/candidates.ts'
import { likelyEncodings, readAnyId, readId, writeId } from '../../web/src/ids/encodings.ts'
import { exported, type FileKind } from '../../web/src/ids/export.ts'
import { nodeOf } from '../../web/src/ids/issued.ts'
import { readList } from '../../web/src/ids/list.ts'
import { summarize } from '../../web/src/ids/summary.ts'
import { Told } from '../../web/src/ids/trouble.ts'

const discordId = 175928847299117063n
type Ids = BigUint64Array<ArrayBuffer>

const nowMs = Date.UTC(2026, 10, 22)

/** Returns the result of work, and expects its progress to grow from 0 to 1. */
function all<Result>(work: Generator<number, Result>): Result {
  let before = 0
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (!(step.value >= before && step.value <= 1)) throw new Error(`progress ${step.value} after ${before}`)
    before = step.value
  }
}

function troubleOf(read: () => unknown) {
  try {
    read()
  } catch (error) {
    if (error instanceof Told) return error.trouble
    throw error
  }
  throw new Error('it was read')
}

describe('an id as text', () => {
  it.each(encodings)('is read in %s as it was written', (encoding) => {
    for (const id of [0n, 1n, discordId, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(readId(writeId(id, encoding), encoding)).toBe(id)
      if (encoding !== 'bytes') expect(writeId(id, encoding)).toBe(encodeId(id, encoding))
    }
  })

  it.each([
    '0x271069029c00007',
    '02:71:06:90:29:c0:00:07',
    '\\x0271069029c00007',
    '[2, 113, 6, 144, 41, 192, 0, 7]',
    '0x02 0x71 0x06 0x90 0x29 0xc0 0x00 0x07',
  ])('may be written as %s', (text) => {
    expect(readAnyId(text, nowMs).id).toBe(0x0271069029c00007n)
  })

  it('is decimal rather than hex if it has no letter', () => {
    expect(likelyEncodings('3125927076831231', nowMs)).toEqual(['decimal', 'hex'])
  })

  it('is read in the encoding in which its time is plausible', () => {
    const text = encodeId(discordId, 'base58')
    expect(likelyEncodings(text, nowMs)).toEqual(['base58', 'base62'])
    expect(readAnyId(encodeId(discordId, 'base62'), nowMs)).toEqual({ id: discordId, encoding: 'base62' })
  })

  it.each([
    ['-1', 'decimal', { key: 'troubleNegative', values: { text: '-1', unsigned: 2n ** 64n - 1n } }],
    ['1.54e18', 'decimal', { key: 'troubleRounded' }],
    ['18446744073709551616', 'decimal', { key: 'troubleTooLarge' }],
    ['+7', 'decimal', { key: 'troubleDecimal' }],
    ['12ab', 'hex', { key: 'troubleWidth', values: { length: 4, width: 16 } }],
    ['zzzzzzzzzzzzzzzz', 'hex', { key: 'troubleCharacter', values: { character: 'z' } }],
    ['zzzzzzzzzzz', 'base62', { key: 'troubleTooLarge' }],
    ['1,2,3,4,5,6,7,256', 'bytes', { key: 'troubleBytes' }],
  ] as const)('is told in words where %s is no %s', (text, encoding, trouble) => {
    expect(troubleOf(() => readId(text, encoding))).toMatchObject(trouble)
  })
})

describe('a paste', () => {
  it('has ids in lines, with commas, in quotes and in other encodings', () => {
    const list = all(readList('["175928847299117063", 1541815603606036480n]\r\n\n0Czks0tP37X;7\n', '', nowMs))
    expect([...list.ids]).toEqual([discordId, 1541815603606036480n, discordId, 7n])
    expect(list).toMatchObject({ encoding: 'decimal', otherEncodings: [], troubleCount: 0 })
  })

  it('keeps each text that is no id with its line, and reads the rest', () => {
    const list = all(readList(`7\n8\nid\n${'x\n'.repeat(20)}9`, '', nowMs))
    expect([...list.ids]).toEqual([7n, 8n, 9n])
    expect(list.troubleCount).toBe(21)
    expect(list.troubles[0]).toMatchObject({ line: 3, trouble: { key: 'troubleNoId' } })
    expect(list.troubles.length).toBe(8)
  })

  it('is read only in the chosen encoding', () => {
    expect(all(readList('7', 'hex', nowMs))).toMatchObject({ troubleCount: 1 })
    expect([...all(readList('0000000000000010', 'hex', nowMs)).ids]).toEqual([16n])
  })

  it('has an order, gaps and equal ids', () => {
    const at = (ms: number, sequence = 0) => (BigInt(ms) << 22n) | BigInt(sequence)
    const ids = BigUint64Array.of(at(10), at(30), at(30, 1), at(20), at(30, 1), 2n ** 63n)
    expect(all(summarize(ids, layouts.twitter))).toMatchObject({
      tooWide: 1,
      stepsBack: 1,
      firstStepBack: 3,
      shortest: { ms: -10, at: 3 },
      longest: { ms: 20, at: 1 },
      equal: { count: 1 },
      nodes: [[0, 0]],
    })
  })

  it('is read by layouts with plausible times for all ids before layouts with some', () => {
    const recent = (BigInt(nowMs - layouts.twitter.epochMs) << 22n) | 5n
    const [first, ...others] = candidatesOf([recent, recent + 1n], Object.values(layouts), nowMs)
    expect(first).toMatchObject({ layout: { name: 'twitter' }, plausibility: 'recent', count: 2 })
    expect(others.at(-1)).toMatchObject({ count: 0 })
    expect(others.find(({ layout }) => layout.name === 'js53')).toMatchObject({ count: 0, unfit: 2 })
    expect(others.find(({ layout }) => layout.name === 'baidu')).toMatchObject({ plausibility: 'unusual' })
    expect(likeliestOf(candidatesOf([2n ** 64n - 1n], Object.values(layouts), nowMs))).toBe(undefined)
  })
})

describe('a paste of UUIDs', () => {
  const uuid = '0181ab11-8149-7000-97a0-000000000000'
  const v1 = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
  const read = (text: string) => all(readList(text, '', nowMs))

  it.each([
    ['in either case', uuid.toUpperCase(), [uuid]],
    ['in braces, as a URN, in quotes', `{${uuid}}\nurn:uuid:${v1}, "${uuid}"`, [uuid, v1, uuid]],
    ['in JSON', `{"ids":["${uuid}"],"uuid":"${v1}","name":"${uuid}"}`, [uuid, v1]],
    ['as TypeIDs', 'prefix_01h455vb4pex5vsknk084sn02q', ['01890a5d-ac96-774b-bcce-b302099a8057']],
  ])('has UUIDs %s', (_, text, uuids) => {
    expect(read(text)).toMatchObject({ uuids, troubleCount: 0 })
  })

  it.each([
    ['a TypeID with more than 128 bits', 'prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['digits without hyphens', uuid.replaceAll('-', '')],
  ])('does not have %s', (_, text) => {
    expect(read(text)).toMatchObject({ uuids: [], troubles: [{ trouble: { key: 'troubleNoId' } }] })
  })

  it('keeps UUIDs as faults with their lines if ids are among them, or if an encoding is chosen', () => {
    expect(read(`7\n${uuid}\nx\n${v1}`)).toMatchObject({
      ids: BigUint64Array.of(7n),
      uuids: [],
      troubleCount: 3,
      troubles: [
        { line: 2, trouble: { key: 'troubleUuid', values: { text: uuid } } },
        { line: 3, trouble: { key: 'troubleNoId' } },
        { line: 4, trouble: { key: 'troubleUuid' } },
      ],
    })
    expect(all(readList(uuid, 'hex', nowMs))).toMatchObject({ uuids: [], troubleCount: 1 })
  })

  it('is read by the layouts that can have made it, those with a low sequence first', () => {
    const known = Object.values(layouts)
    const names = (text: string) =>
      candidatesOf([text], known, nowMs)
        .filter(({ count }) => count > 0)
        .map(({ layout, plausibility }) => `${layout.name} ${plausibility}`)
    // Sonyflake has no tick at this time, and baidu too many bits.
    expect(names(uuid)).toEqual(
      ['twitter', 'leaf', 'discord', 'instagram', 'mastodon', 'tsid', 'js53', 'wide'].map((name) => `${name} past`),
    )
    // Other programs made these (RFC 9562, A.6; TypeID), so the bits of the sequence are random.
    for (const other of ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '01890a5d-ac96-774b-bcce-b302099a8057']) {
      expect(names(other)).toContain('twitter unusual')
      expect(names(other).filter((name) => name.endsWith('past'))).toEqual([])
    }
    expect(names(v1)).toEqual([])
  })
})

describe('ids that the page makes', () => {
  /** Makes ids as the view Generate does. */
  const madeOf = async (options: Parameters<Batch['make']>[0], batch = new Batch(() => {})): Promise<MadeIds> => {
    await batch.make(options)
    if (batch.failure !== undefined) throw new Error(batch.failure)
    return batch.made as MadeIds
  }

  const make = (ms: number, count: number, node = 3) => {
    const ids = new BigUint64Array(count)
    all(nodeOf(layouts.js53, node).from(ms, ids))
    return [...ids]
  }

  it('are distinct for one typed time, and for times that overlap', () => {
    const ms = Date.UTC(2024, 0, 1)
    const ids = [...make(ms, 300), ...make(ms, 300), ...make(ms + 2, 300), ...make(ms - 1, 300)]
    expect(new Set(ids).size).toBe(1200)
    expect(ids[128]).toBe((ids[0] as bigint) + (1n << 12n))
  })

  it('are distinct from ids of the clock', async () => {
    // Two ids a tick, so ids of a typed time reach half a second ahead, and the clock arrives there.
    const layout = defineLayout({
      ...layouts.leaf,
      name: 'slow',
      fields: [
        ['timestamp', 41],
        ['worker', 10],
        ['sequence', 1],
      ],
    })
    const node = nodeOf(layout, { worker: 5 })
    const startMs = Date.now()
    const [ahead, clock, after] = [1000, 50, 1200].map((count) => new BigUint64Array(count)) as [Ids, Ids, Ids]
    all(node.from(startMs, ahead))
    await node.byClock(clock, () => {}, new AbortController().signal)
    all(nodeOf(defineLayout({ ...layout, name: 'other' }), 5).from(startMs, after))
    expect(new Set([...ahead, ...clock, ...after]).size).toBe(2250)
  })

  it('are also written as UUIDs of version 7, one for each id', async () => {
    const made = await madeOf({ layout: layouts.discord, node: 7, count: 300, timeMs: Date.UTC(2025, 0, 1) })
    const uuids = Array.from({ length: 300 }, (_, at) => made.textOf(at, 'uuid'))
    expect(uuids.map((uuid) => decodeUuid(uuid, layouts.discord).id)).toEqual([...made.ids])
    expect(new Set(uuids.map((uuid) => uuid.slice(-8))).size).toBe(300)
    expect(made.textOf(7, 'uuid')).toBe(uuids[7])
    // The next ids have UUIDs of their own.
    const next = await madeOf({ layout: layouts.discord, node: 7, count: 1, timeMs: Date.UTC(2025, 0, 1) })
    expect(decodeUuid(next.textOf(0, 'uuid'), layouts.discord)).toMatchObject({ version: 7, node: 7, sequence: 300 })
  })

  it('have no UUID if their time or their layout has no room in one', async () => {
    const old = defineLayout({ ...layouts.leaf, name: 'old', epochMs: Date.UTC(1960, 0, 1) })
    const made = await madeOf({ layout: old, node: 1, count: 1, timeMs: Date.UTC(1969, 0, 1) })
    expect(made.textOf(0, 'decimal')).toMatch(/^\d+$/)
    expect(() => made.textOf(0, 'uuid')).toThrow('the time of the id is -31536000000 ms')
    expect(() => checkWrittenAs('uuid', layouts.baidu)).toThrow('13 bits of sequence and 22 of node')
    checkWrittenAs('uuid', layouts.sonyflake)
  })

  it.each([
    ['text', '0Czks0tP37X\n0Czks0tP37Y\n'],
    ['csv', 'id,timestamp,worker,process,sequence\n0Czks0tP37X,2016-04-30T11:18:25.796Z,1,0,7\n'],
    [
      'json',
      '[\n{"id":"0Czks0tP37X","timestamp":"2016-04-30T11:18:25.796Z","fields":{"worker":1,"process":0},"sequence":7},\n{',
    ],
  ] as const)('are written to a file as %s', (kind: FileKind, start) => {
    const ids = BigUint64Array.of(discordId, discordId + 1n)
    const text = all(exported(kind, ids, layouts.discord, (at) => encodeId(ids[at] as bigint, 'base62'))).join('')
    expect(text).toContain(start)
    if (kind === 'json') expect(JSON.parse(text)).toHaveLength(2)
  })

  it('have tags, are distinct without them, and keep the tags in files', async () => {
    const layout = defineLayout({
      name: 'sharded',
      epochMs: Date.UTC(2024, 0, 1),
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['worker', 8],
        ['shard', 6, 'tag'],
        ['id', 2, 'tag?'],
        ['sequence', 6],
      ],
    })
    const slots = new Set<bigint>()
    const made: bigint[] = []
    for (const timeMs of [undefined, Date.UTC(2025, 0, 1), Date.UTC(2025, 0, 1), undefined]) {
      for (const shard of [5, 63]) {
        const { ids } = await madeOf({ layout, node: { worker: 7 }, tags: { shard, id: 3 }, count: 300, timeMs })
        for (const id of ids) {
          expect(decode(id, layout)).toMatchObject({ node: 7, tags: { shard, id: 3 } })
          slots.add(id & ~(255n << 6n))
          made.push(id)
        }
      }
    }
    expect(made.length).toBe(2400)
    expect(slots.size).toBe(2400)
    const ids = BigUint64Array.of(composeId({ timestampMs: layout.epochMs, node: 7, tags: { shard: 5 } }, layout))
    expect(JSON.parse(all(exported('json', ids, layout, () => 'x')).join(''))).toMatchObject([
      { fields: { worker: 7 }, tags: { shard: 5, id: 0 }, sequence: 0 },
    ])
    expect(all(exported('csv', ids, layout, () => 'x')).join('')).toBe(
      'id,timestamp,worker,shard,tags.id,sequence\nx,2024-01-01T00:00:00.000Z,7,5,0,0\n',
    )
  })

  it('have the tags of their layout, and differ from ids of a layout with other tags', async () => {
    const layoutWith = (...tags: Field[]) =>
      defineLayout<readonly Field[]>({
        name: 'tagged',
        epochMs: Date.UTC(2024, 0, 1),
        tickMs: 1,
        fields: [['timestamp', 41], ['worker', 8], ...tags, ['sequence', 6]],
      })
    const cases = [
      [layoutWith(['shard', 6, 'tag'], ['kind', 2, 'tag?']), { shard: 5, kind: 1 }],
      [layoutWith(['kind', 2, 'tag?'], ['shard', 6, 'tag']), { shard: 5, kind: 1 }],
      [layoutWith(['tenant', 8, 'tag']), { tenant: 200 }],
    ] as const
    const slots = new Set<bigint>()
    for (const timeMs of [Date.UTC(2025, 0, 1), undefined]) {
      for (const [layout, tags] of cases) {
        const { ids } = await madeOf({ layout, node: { worker: 9 }, tags, count: 100, timeMs })
        for (const id of ids) {
          expect(decode(id, layout)).toMatchObject({ node: 9, tags })
          slots.add(id & ~(255n << 6n))
        }
      }
    }
    expect(slots.size).toBe(600)
  })

  it('keep their texts while the next ids are made', async () => {
    const batch = new Batch(() => {})
    const made = await madeOf({ layout: layouts.discord, node: 8, count: 600, timeMs: Date.UTC(2025, 0, 1) }, batch)
    const work = exported('text', made.ids, made.layout, (at) => made.textOf(at, 'decimal'))
    // The first part of the file has 512 ids.
    work.next()
    await batch.make({ layout: layouts.twitter, node: 8, count: 1, timeMs: Date.UTC(2025, 0, 1) })
    expect(batch.made?.ids.length).toBe(1)
    expect(all(work).join('')).toBe([...made.ids].map((id) => `${id}\n`).join(''))
  })

  it('keeps the id if a node field is called id', () => {
    const layout = defineLayout({
      name: 'tenants',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['id', 5],
        ['sequence', 12],
      ],
    })
    const id = composeId({ timestampMs: 1, node: { id: 3 }, sequence: 2 }, layout)
    const ids = BigUint64Array.of(id)
    expect(JSON.parse(all(exported('json', ids, layout, () => String(id))).join(''))).toEqual([
      { id: String(id), timestamp: '1970-01-01T00:00:00.001Z', fields: { id: 3 }, sequence: 2 },
    ])
    expect(all(exported('csv', ids, layout, () => String(id))).join('')).toBe(
      `id,timestamp,fields.id,sequence\n${id},1970-01-01T00:00:00.001Z,3,2\n`,
    )
  })
})
