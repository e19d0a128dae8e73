import { inSlices } from '../http/number-body.js'
import { Problem } from '../http/problems.js'
import type { TakingLog } from '../http/taking-log.js'
import { planOf, type Reply } from './commands.js'
import type { Demand, Sources } from './demands.js'
import type { CommandParser } from './parser.js'
import { bulk, writeNumbers } from './replies.js'
import type { Session } from './session.js'

/**
 * Numbers and bytes after which a batch has no further command, so that the answers of a connection take
 * little memory.
 */
const enoughNumbers = 4096
const enoughBytes = 65_536
/** The most arrays that are kept for later batches. */
const mostSpare = 64
/**
 * The most tries to get consecutive numbers. The numbers of a segment are consecutive, so the second try
 * mostly succeeds: it begins in a segment that was just fetched. No segment is fetched for the block, so a
 * block that is longer than a segment fails each time another process takes a segment in between.
 */
const maxBlocks = 8
/** The first number that is no integer of the protocol. */
const firstTooLarge = 2n ** 63n

/** Equal commands that came one after the other. */
interface Step {
  readonly name: string
  readonly times: number
  readonly head: string
  readonly parts: readonly Part[]
}

/** Numbers of one source that a step sends each time. */
interface Part {
  readonly take: Take
  readonly demand: Demand
}

/** One call of a source, for all steps of a batch that ask the source. */
interface Take {
  readonly demand: Demand
  /** The client at the time of the command; `undefined` without a token. */
  readonly client: Session['client']
  total: number
  /** How many of the numbers were written. */
  written: number
  /** All numbers, of a block too. */
  result: BigUint64Array | readonly string[] | undefined
  error: unknown
}

/**
 * Arrays that batches use in turns. An array for each batch would take a tenth of its time, most of it of the
 * garbage collector.
 */
const spare: BigUint64Array<ArrayBuffer>[] = []

/** Returns an array for numbers. */
type Memory = (count: number) => BigUint64Array<ArrayBuffer>

/**
 * Counts and logs an answered command. It does not get the words of the command, because a word may be a
 * token.
 *
 * @param error - The reason of a refusal; `undefined` if the command was carried out.
 * @returns The text of the refusal; empty without an error.
 */
export type OnAnswer = (name: string, times: number, error?: unknown) => string

/** The commands of one read, which are answered by one call of each source and by one write. */
export class Batch {
  readonly #steps: Step[] = []
  readonly #takes: Take[] = []
  /** The last take of each source. */
  readonly #open = new Map<string, Take>()
  readonly #releases: (() => void)[] = []
  readonly #session: Session
  readonly #takings: TakingLog | undefined
  readonly #onAnswer: OnAnswer

  /**
   * Reads commands until the bytes end or the answers are large enough. Returns `undefined` if there is no
   * whole command. Bytes that are no command end the session.
   */
  static read(parser: CommandParser, session: Session, sources: Sources, onAnswer: OnAnswer): Batch | undefined {
    if (parser.isEmpty) return undefined
    const batch = new Batch(session, sources.takings, onAnswer)
    let numbers = 0
    let enough = enoughNumbers
    let bytes = 0
    while (numbers < enough && bytes < enoughBytes && !session.isEnding) {
      const words = batch.#next(parser, session)
      if (words === undefined) break
      const name = (words[0] as string).toUpperCase()
      const planned = batch.#plan(name, words, session, sources)
      const [head, demands] = typeof planned === 'string' ? [planned, []] : [planned.head, planned.demands]
      const cost = demands.reduce((sum, { count }) => sum + count, 0)
      // A node of a slow layout makes fewer in the time that an answer may take.
      enough = Math.min(enough, ...demands.map(({ load }) => load.share))
      const isLimited = session.client?.limits.requests !== undefined
      const isRepeatable = demands.length > 0 && !isLimited && !demands.some(({ isBlock }) => isBlock)
      const times = isRepeatable ? 1 + parser.repeats(Math.floor((enough - numbers) / cost) - 1) : 1
      numbers += times * cost
      bytes += head.length * times
      batch.#add(name, times, head, demands)
    }
    return batch.#steps.length === 0 ? undefined : batch
  }

  private constructor(session: Session, takings: TakingLog | undefined, onAnswer: OnAnswer) {
    this.#session = session
    this.#takings = takings
    this.#onAnswer = onAnswer
  }

  /** Takes all numbers and returns the answers. @param gone - Aborts when the client has left. */
  async answer(gone: () => AbortSignal): Promise<Buffer> {
    const kept = spare.pop() ?? new BigUint64Array(enoughNumbers)
    const written: (Buffer | string)[] = []
    let used = 0
    const memory = (count: number) => {
      used += count
      return used > enoughNumbers ? new BigUint64Array(count) : kept.subarray(used - count, used)
    }
    // One after the other, because numbers of a name ascend in the order of the commands.
    for (const take of this.#takes) await this.#fill(take, memory, gone)
    for (const step of this.#steps) await this.#write(step, written)
    for (const take of this.#takes) this.#record(take)
    if (spare.length < mostSpare) spare.push(kept)
    const [first] = written
    if (written.length === 1 && typeof first === 'object') return first
    return Buffer.concat(written.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  }

  /** Gives back what its answers held of the limits. Called when they are sent, or cannot be sent. */
  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }

  #next(parser: CommandParser, session: Session): string[] | undefined {
    try {
      return parser.next()
    } catch (error) {
      session.isEnding = true
      this.#add('', 1, this.#onAnswer('', 1, error), [])
      return undefined
    }
  }

  #plan(name: string, words: readonly string[], session: Session, sources: Sources): Reply {
    try {
      const reply = planOf(name, words, session, sources)
      if (typeof reply === 'string') this.#onAnswer(name, 1)
      return reply
    } catch (error) {
      return this.#onAnswer(name, 1, error)
    }
  }

  #add(name: string, times: number, head: string, demands: readonly Demand[]): void {
    const parts = demands.map((demand): Part => {
      let take = this.#open.get(demand.key)
      const { client } = this.#session
      // A client may send another AUTH, or RESET, in the same read.
      const isOther = take?.client !== client || take?.demand.wish !== demand.wish
      if (take === undefined || isOther || demand.isBlock || take.demand.isBlock) {
        take = { demand, client, total: 0, written: 0, result: undefined, error: undefined }
        this.#open.set(demand.key, take)
        this.#takes.push(take)
      }
      take.total += demand.count * times
      return { take, demand }
    })
    this.#steps.push({ name, times, head, parts })
  }

  /** @param memory - Called only if the limits allow so many numbers. */
  async #fill(take: Take, memory: Memory, gone: () => AbortSignal): Promise<void> {
    const { demand, client, total } = take
    try {
      client?.takeIds(total)
      this.#releases.push(demand.load.take(total))
      const array = memory(total)
      let numbers = await demand.take(array, gone)
      for (let tries = 1; demand.isBlock && !isConsecutive(numbers); tries++) {
        if (tries === maxBlocks) {
          throw new Problem(
            'ERR_OVERLOADED',
            `other requests took numbers between ${total} of a block; try again later`,
          )
        }
        client?.takeIds(total)
        numbers = await demand.take(array, gone)
      }
      if (demand.form === 'integer' && typeof numbers[0] === 'bigint' && (numbers.at(-1) as bigint) >= firstTooLarge) {
        throw new Problem('ERR_SEGMENT_OVERFLOW', 'the number is above 2^63 - 1, the last integer of the protocol')
      }
      take.result = numbers
    } catch (error) {
      take.error = error
    }
  }

  /**
   * Writes to the log who takes the numbers, with `--log-ids`. Only the numbers that are sent: those of an
   * MGET that is refused because of another key are not.
   */
  #record({ demand: { from, rule }, client, result, written }: Take): void {
    if (this.#takings === undefined || result === undefined || written === 0) return
    const taker = { client: client?.name, remote: this.#session.remote }
    if (result instanceof BigUint64Array) this.#takings.add(taker, from, result.subarray(0, written), rule)
    else this.#takings.addCounts(taker, from, result.slice(0, written))
  }

  async #write({ name, times, head, parts }: Step, written: (Buffer | string)[]): Promise<void> {
    if (parts.length === 0) {
      written.push(head)
      return
    }
    const failed = parts.find(({ take }) => take.error !== undefined)
    if (failed !== undefined) {
      written.push(this.#onAnswer(name, times, failed.take.error).repeat(times))
      return
    }
    const [{ demand: first }] = parts as [Part]
    const isPlain = head === '' && parts.length === 1
    for (let time = 0; time < (isPlain ? 1 : times); time++) {
      if (head !== '') written.push(head)
      for (const { take, demand } of parts)
        await next(take, isPlain ? first.count * times : demand.count, demand, written)
    }
    this.#onAnswer(name, times)
  }
}

/** Writes the next numbers of a take; of a block the last. */
async function next(take: Take, count: number, demand: Demand, written: (Buffer | string)[]): Promise<void> {
  const { form, isBlock, isAscending = false } = demand
  const to = take.written + count
  const from = isBlock ? to - 1 : take.written
  take.written = to
  const { result } = take
  if (!(result instanceof BigUint64Array)) {
    const replyOf = form === 'integer' ? (text: string) => `:${text}\r\n` : bulk
    written.push((result as readonly string[]).slice(from, to).map(replyOf).join(''))
    return
  }
  const write = (start: number, end: number) =>
    written.push(writeNumbers(result.subarray(from + start, from + end), form, isAscending))
  if (to - from <= enoughNumbers) write(0, to - from)
  else await inSlices(count, write)
}

/**
 * Tells whether numbers are a block. Numbers across the end of a fetched segment are none, and become a gap.
 * The counts of a call are always consecutive.
 */
function isConsecutive(numbers: BigUint64Array | readonly string[]): boolean {
  if (!(numbers instanceof BigUint64Array)) return true
  return (numbers.at(-1) as bigint) - (numbers[0] as bigint) === BigInt(numbers.length - 1)
}
