import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { decode } from 'graupel'
import { idFilesIn } from './chaos-crew.ts'
import { layout, nodes } from './programs/chaos-layout.js'

// Proves what the processes have written: files of ids, 8 bytes each, one file for each caller. In memory there are at most as
// many ids as one chunk has, so a run may have written hundreds of millions.

const blockIds = 1 << 16
const chunkIds = 1 << 20
/** How many of a kind are told. */
const shown = 4

export interface Proof {
  readonly ids: number
  readonly files: number
  readonly moves: number
  readonly leases: number
  /** Empty where all is well. */
  readonly findings: string[]
}

/** What happened to the store and the processes, for people. */
export interface Happening {
  readonly monotonicMs: number
  readonly what: string
  /** Which process it befell; the server where there is none. */
  readonly slot?: number
}

interface Block {
  readonly file: string
  readonly at: number
  readonly length: number
  firstSecond: number
  lastSecond: number
}

/** Gives others a turn between any two blocks: the proxies of another run may live in this thread. */
export async function prove(folder: string, happenings: readonly Happening[], clockOffsetMs: number): Promise<Proof> {
  const findings: string[] = []
  const seconds = new Map<number, number>()
  const blocks: Block[] = []
  const files = idFilesIn(folder)
  for (const file of files) {
    let before = -1n
    for (const block of blocksOf(folder, file)) {
      before = readThrough(folder, block, before, seconds, findings)
      blocks.push(block)
      await turn()
    }
  }
  const events = eventsIn(folder)
  for (const [from, to] of chunksOf(seconds)) {
    const ids = await collect(folder, blocks, from, to)
    for (const id of equalIn(ids.sort())) {
      // One story fills a screen.
      const isFirst = !findings.some((finding) => finding.startsWith('equal'))
      const happened = isFirst ? [...events, ...happenings] : []
      report(findings, 'equal', () => tellEqual(id, folder, blocks, happened, clockOffsetMs))
    }
  }
  const ids = [...seconds.values()].reduce((sum, count) => sum + count, 0)
  const count = (type: string) => events.filter((event) => event.type === type).length
  return { ids, files: files.length, moves: count('moved'), leases: count('acquired'), findings }
}

/** Looks at the order and the fields of a block's ids, and counts them by seconds. Returns the last one. */
function readThrough(
  folder: string,
  block: Block,
  before: bigint,
  seconds: Map<number, number>,
  findings: string[],
): bigint {
  const { file } = block
  const ids = readBlock(folder, block)
  // By halves, because 10^8 numbers are read much faster than as many bigints.
  const halves = new Uint32Array(ids.buffer)
  const isOrdered = file.includes('.ascending.')
  const { shift } = layout.timestamp
  let [highBefore, lowBefore] = before < 0n ? [-1, 0] : [Number(before >> 32n), Number(before & 0xffffffffn)]
  for (let i = 0; i < ids.length; i++) {
    const low = halves[2 * i] as number
    const high = halves[2 * i + 1] as number
    if (isOrdered && (high < highBefore || (high === highBefore && low <= lowBefore))) {
      const last = i === 0 ? before : (ids[i - 1] as bigint)
      report(findings, 'out of order', () => `${file}: ${told(ids[i] as bigint)} after ${told(last)}`)
    }
    const node = (low >>> layout.sequence.bits) % layout.nodes
    if (node < nodes[0] || node > nodes[1] || high >= 2 ** (layout.bits - 32)) {
      report(findings, 'outside of its layout', () => `${file}: ${told(ids[i] as bigint)}`)
    }
    const second = Math.floor((high * 2 ** (32 - shift) + (low >>> shift)) / 1000)
    seconds.set(second, (seconds.get(second) ?? 0) + 1)
    if (second < block.firstSecond) block.firstSecond = second
    if (second > block.lastSecond) block.lastSecond = second
    highBefore = high
    lowBefore = low
  }
  return ids.at(-1) as bigint
}

function report(findings: string[], kind: string, text: () => string): void {
  const alike = findings.filter((finding) => finding.startsWith(kind)).length
  if (alike < shown) findings.push(`${kind}: ${text()}`)
  else if (alike === shown) findings.push(`${kind}: and more`)
}

function* blocksOf(folder: string, file: string): Generator<Block> {
  // A process that was killed may have written a part of an id at the end.
  const count = Math.floor(statSync(join(folder, file)).size / 8)
  for (let at = 0; at < count; at += blockIds) {
    yield { file, at, length: Math.min(blockIds, count - at), firstSecond: Infinity, lastSecond: 0 }
  }
}

function readBlock(folder: string, { file, at, length }: Block): BigUint64Array {
  const ids = new BigUint64Array(length)
  const from = openSync(join(folder, file), 'r')
  try {
    readSync(from, ids, 0, length * 8, at * 8)
  } finally {
    closeSync(from)
  }
  return ids
}

/** Ranges of whole seconds, with so many ids that they fit into memory; the first one and the one after the last. */
function* chunksOf(seconds: Map<number, number>): Generator<[number, number]> {
  let from: number | undefined
  let to = 0
  let count = 0
  for (const [second, more] of [...seconds].sort(([a], [b]) => a - b)) {
    if (from !== undefined && count + more > chunkIds) {
      yield [from, to]
      from = undefined
      count = 0
    }
    from ??= second
    to = second + 1
    count += more
  }
  if (from !== undefined) yield [from, to]
}

async function collect(folder: string, blocks: readonly Block[], from: number, to: number): Promise<BigUint64Array> {
  const [first, end] = [firstOf(from), firstOf(to)]
  const parts: BigUint64Array[] = []
  for (const block of blocks) {
    if (block.lastSecond < from || block.firstSecond >= to) continue
    const ids = readBlock(folder, block)
    const isWhole = block.firstSecond >= from && block.lastSecond < to
    parts.push(isWhole ? ids : ids.filter((id) => id >= first && id < end))
    await turn()
  }
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** The least id of a second. */
function firstOf(second: number): bigint {
  return BigInt(second * 1000) << BigInt(layout.timestamp.shift)
}

function equalIn(sorted: BigUint64Array): bigint[] {
  const equal: bigint[] = []
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) equal.push(sorted[i] as bigint)
  return equal
}

function nodeOf(id: bigint): number {
  return Number((id >> BigInt(layout.sequence.bits)) & BigInt(layout.nodes - 1))
}

function told(id: bigint): string {
  if (id < 0n) return 'none'
  const { timestampMs, sequence } = decode(id, layout)
  return `${id} (${new Date(timestampMs).toISOString()}, node ${nodeOf(id)}, sequence ${sequence})`
}

interface Event {
  readonly monotonicMs: number
  readonly process: string
  readonly type: string
  readonly node?: number
  readonly ceilingMs?: number
  readonly error?: string
}

/** What the processes have logged of their leases. */
function eventsIn(folder: string): Event[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.events'))
    .flatMap((file) => {
      // The last line of a process that was killed may be a part of one.
      const lines = readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1)
      return lines.map((line) => ({ process: file.replace('.events', ''), ...JSON.parse(line) }))
    })
}

/** Who has made it, and what befell them and their servers at that time. */
function tellEqual(
  id: bigint,
  folder: string,
  blocks: readonly Block[],
  happened: readonly (Event | Happening)[],
  clockOffsetMs: number,
): string {
  const files = blocks
    .filter(({ firstSecond, lastSecond }) => firstOf(firstSecond) <= id && id < firstOf(lastSecond + 1))
    .filter((block) => readBlock(folder, block).includes(id))
    .map(({ file }) => file)
  const processes = files.map((file) => file.split('.').slice(0, 2).join('.'))
  const slots = processes.map((process) => process.split('.')[0])
  const node = nodeOf(id)
  const { timestampMs } = decode(id, layout)
  const time = (ms: number) => new Date(ms).toISOString().slice(11, 23)
  const around = happened
    .filter((one) =>
      'what' in one
        ? one.slot === undefined || slots.includes(`${one.slot}`)
        : processes.includes(one.process) || one.node === node,
    )
    .map((one) => ({
      atMs: one.monotonicMs + clockOffsetMs,
      text: 'what' in one ? `${one.what} ${one.slot ?? ''}` : textOf(one),
    }))
    .filter(({ atMs }) => Math.abs(atMs - timestampMs) < 20_000)
    .sort((a, b) => Math.abs(a.atMs - timestampMs) - Math.abs(b.atMs - timestampMs))
    .slice(0, 40)
    .sort((a, b) => a.atMs - b.atMs)
  const story = around.map(({ atMs, text }) => `  ${time(atMs)} ${text}`.slice(0, 160))
  return [`${told(id)}, made by ${files.join(' and ')}`, ...story].join('\n')

  function textOf({ process, type, node, ceilingMs, error }: Event): string {
    const until = ceilingMs === undefined ? '' : `node ${node} up to ${time(ceilingMs)}`
    return `${process} ${type ?? ''} ${until} ${error ?? ''}`
  }
}
