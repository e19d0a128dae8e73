import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { idFilesIn } from './crew.ts'

// Proves what the processes have written: files of ids, 8 bytes each, one file for each caller. In memory
// there are at most as many ids as one chunk has, so a run may have written hundreds of millions.

const blockIds = 1 << 16
const chunkIds = 1 << 20
/** The most findings of a kind that are shown. */
const shown = 4

/** The ids of a run: how they are split, checked and shown. */
export interface Subject {
  /**
   * The part that has an id; a part fits into memory. Takes halves, because 10^8 numbers are read much faster
   * than 10^8 bigints.
   */
  partOf(high: number, low: number): number
  /** The smallest id of a part. */
  firstOf(part: number): bigint
  /** Whether the processes may make the id. */
  isPossible(high: number, low: number): boolean
  /** Writes the id for people. */
  tell(id: bigint): string
  /** The time in the id, in milliseconds since 1970, if the id has a time. */
  timeMsOf?(id: bigint): number
  /** Whether an event of another process explains the id. */
  isOf?(id: bigint, event: Event): boolean
}

export interface Proof {
  readonly ids: number
  readonly files: number
  /** The number of events of each type that the processes have logged. */
  readonly events: Readonly<Record<string, number>>
  /** Empty if all is well. */
  readonly findings: string[]
}

/** Something that happened to the store or a process, for people. */
export interface Happening {
  readonly monotonicMs: number
  readonly what: string
  /** The process that it happened to; `undefined` for the server. */
  readonly slot?: number
}

interface Block {
  readonly file: string
  readonly at: number
  readonly length: number
  firstPart: number
  lastPart: number
}

/** Yields the thread between two blocks: the proxies of another run may be in this thread. */
export async function prove(
  folder: string,
  subject: Subject,
  happenings: readonly Happening[],
  clockOffsetMs: number,
): Promise<Proof> {
  const findings: string[] = []
  const parts = new Map<number, number>()
  const blocks: Block[] = []
  const files = idFilesIn(folder)
  for (const file of files) {
    let before = -1n
    for (const block of blocksOf(folder, file)) {
      before = readThrough(folder, subject, block, before, parts, findings)
      blocks.push(block)
      await turn()
    }
  }
  const events = eventsIn(folder)
  for (const [from, to] of chunksOf(parts)) {
    const ids = await collect(folder, subject, blocks, from, to)
    for (const id of equalIn(ids.sort())) {
      // The events around one finding fill a screen.
      const isFirst = !findings.some((finding) => finding.startsWith('equal'))
      const happened = isFirst ? [...events, ...happenings] : []
      report(findings, 'equal', () => tellEqual(id, folder, subject, blocks, happened, clockOffsetMs))
    }
  }
  const ids = [...parts.values()].reduce((sum, count) => sum + count, 0)
  const counts: Record<string, number> = {}
  for (const { type = '' } of events) counts[type] = (counts[type] ?? 0) + 1
  return { ids, files: files.length, events: counts, findings }
}

/** Checks the order of a block's ids, and counts the ids of each part. Returns the last id. */
function readThrough(
  folder: string,
  subject: Subject,
  block: Block,
  before: bigint,
  parts: Map<number, number>,
  findings: string[],
): bigint {
  const { file } = block
  const ids = readBlock(folder, block)
  const halves = new Uint32Array(ids.buffer)
  const isOrdered = file.includes('.ascending.')
  let [highBefore, lowBefore] = before < 0n ? [-1, 0] : [Number(before >> 32n), Number(before & 0xffffffffn)]
  for (let i = 0; i < ids.length; i++) {
    const low = halves[2 * i] as number
    const high = halves[2 * i + 1] as number
    if (isOrdered && (high < highBefore || (high === highBefore && low <= lowBefore))) {
      const last = i === 0 ? before : (ids[i - 1] as bigint)
      report(
        findings,
        'out of order',
        () => `${file}: ${subject.tell(ids[i] as bigint)} after ${last < 0n ? 'none' : subject.tell(last)}`,
      )
    }
    if (!subject.isPossible(high, low)) {
      report(findings, 'not possible', () => `${file}: ${subject.tell(ids[i] as bigint)}`)
    }
    const part = subject.partOf(high, low)
    parts.set(part, (parts.get(part) ?? 0) + 1)
    if (part < block.firstPart) block.firstPart = part
    if (part > block.lastPart) block.lastPart = part
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
    yield { file, at, length: Math.min(blockIds, count - at), firstPart: Infinity, lastPart: 0 }
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

/**
 * Ranges of whole parts whose ids fit into memory. A range has its first part and the part after its last.
 */
function* chunksOf(parts: Map<number, number>): Generator<[number, number]> {
  let from: number | undefined
  let to = 0
  let count = 0
  for (const [part, more] of [...parts].sort(([a], [b]) => a - b)) {
    if (from !== undefined && count + more > chunkIds) {
      yield [from, to]
      from = undefined
      count = 0
    }
    from ??= part
    to = part + 1
    count += more
  }
  if (from !== undefined) yield [from, to]
}

async function collect(
  folder: string,
  { firstOf }: Subject,
  blocks: readonly Block[],
  from: number,
  to: number,
): Promise<BigUint64Array> {
  const [first, end] = [firstOf(from), firstOf(to)]
  const found: BigUint64Array[] = []
  for (const block of blocks) {
    if (block.lastPart < from || block.firstPart >= to) continue
    const ids = readBlock(folder, block)
    const isWhole = block.firstPart >= from && block.lastPart < to
    found.push(isWhole ? ids : ids.filter((id) => id >= first && id < end))
    await turn()
  }
  const all = new BigUint64Array(found.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of found) {
    all.set(part, at)
    at += part.length
  }
  return all
}

function equalIn(sorted: BigUint64Array): bigint[] {
  const equal: bigint[] = []
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) equal.push(sorted[i] as bigint)
  return equal
}

interface Event {
  readonly monotonicMs: number
  readonly process: string
  readonly type?: string
  readonly node?: number
  readonly ceilingMs?: number
  readonly error?: string
}

/** Reads the events that the processes have logged. */
function eventsIn(folder: string): Event[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.events'))
    .flatMap((file) => {
      // The last line of a process that was killed may be incomplete.
      const lines = readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1)
      return lines.map((line) => ({ process: file.replace('.events', ''), ...JSON.parse(line) }))
    })
}

/** Lists the callers that made an id, and the events of their processes and servers at that time. */
function tellEqual(
  id: bigint,
  folder: string,
  subject: Subject,
  blocks: readonly Block[],
  happened: readonly (Event | Happening)[],
  clockOffsetMs: number,
): string {
  const { firstOf } = subject
  const files = blocks
    .filter(({ firstPart, lastPart }) => firstOf(firstPart) <= id && id < firstOf(lastPart + 1))
    .filter((block) => readBlock(folder, block).includes(id))
    .map(({ file }) => file)
  const processes = files.map((file) => file.split('.').slice(0, 2).join('.'))
  const slots = processes.map((process) => process.split('.')[0])
  const concerns = (one: Event | Happening) =>
    'what' in one
      ? one.slot === undefined || slots.includes(`${one.slot}`)
      : processes.includes(one.process) || subject.isOf?.(id, one)
  const madeMs = subject.timeMsOf?.(id)
  const awayMs = (atMs: number) => (madeMs === undefined ? 0 : Math.abs(atMs - madeMs))
  const time = (ms: number) => new Date(ms).toISOString().slice(11, 23)
  const around = happened
    .filter(concerns)
    .map((one) => ({
      atMs: one.monotonicMs + clockOffsetMs,
      text: 'what' in one ? `${one.what} ${one.slot ?? ''}` : textOf(one),
    }))
    .filter(({ atMs }) => awayMs(atMs) < 20_000)
    .sort((a, b) => awayMs(a.atMs) - awayMs(b.atMs))
    .slice(0, 40)
    .sort((a, b) => a.atMs - b.atMs)
  const story = around.map(({ atMs, text }) => `  ${time(atMs)} ${text}`.slice(0, 160))
  return [`${subject.tell(id)}, made by ${files.join(' and ')}`, ...story].join('\n')

  function textOf({ process, type, node, ceilingMs, error }: Event): string {
    const until = ceilingMs === undefined ? '' : `node ${node} up to ${time(ceilingMs)}`
    return `${process} ${type ?? ''} ${until} ${error ?? ''}`
  }
}
