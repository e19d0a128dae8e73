import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type RunRule, Runs } from './runs.js'
import { clientOf } from './tokens.js'

/** The client that took numbers. */
export interface Taker {
  /** The name of its token; `undefined` if the service needs none. */
  readonly client: string | undefined
  readonly remote: string | undefined
  /** Not with commands of Redis. */
  readonly reqId?: string
}

export function takerOf({ id, raw, socket }: FastifyRequest): Taker {
  return { client: clientOf(raw)?.name, remote: socket.remoteAddress, reqId: id }
}

/** The source of the numbers of an answer: a layout, a segment or a counter. */
export interface Source {
  readonly kind: 'id' | 'segment' | 'counter'
  /** The name of the layout, the segment or the counter. */
  readonly name: string
}

/** Writes a line to the log for the numbers of each answer: who took which. */
export class TakingLog {
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** @param numbers - Ascending numbers. */
  add(taker: Taker, source: Source, numbers: BigUint64Array, rule: RunRule): void {
    const runs = new Runs(rule)
    runs.add(numbers)
    this.addRuns(taker, source, runs)
  }

  addRuns(taker: Taker, source: Source, runs: Runs): void {
    const all = runs.all()
    const count = all.reduce((sum, run) => sum + run.count, 0)
    const stride = all[0]?.stride
    // As texts, because JSON numbers lose digits above 2^53.
    const ranges = all.map((run) => [`${run.first}`, `${run.first + BigInt((run.count - 1) * run.stride)}`])
    this.#write(taker, { ...source, count, ranges, ...(stride !== 1 && { stride }) })
  }

  /** @param counts - The texts of counts in a row. */
  addCounts(taker: Taker, source: Source, counts: readonly string[]): void {
    this.#write(taker, { ...source, count: counts.length, ranges: [[counts[0], counts.at(-1)]] })
  }

  #write(taker: Taker, taken: object): void {
    this.#logger.info({ event: 'taken', ...taker, ...taken }, 'ids or numbers were taken')
  }
}
