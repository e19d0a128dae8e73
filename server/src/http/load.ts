import type { IncomingMessage } from 'node:http'
import { Problem } from './problems.js'

/** Ids of a layout that requests may wait for at once: as many as it makes in so many seconds, so that the last waits no longer. */
const longestWaitS = 10
/** Ids that answers may hold in memory, where a layout makes more in that time: as JSON they take 100 MB. */
const mostIds = 2 ** 22

/** The bounds of {@link Load}. */
export interface LoadLimits {
  readonly maxIds: number
  readonly maxRequests: number
}

/** @param maxCount - The most ids of one request: two of these have room always. */
export function limitsFor(idsPerSecond: number, maxCount: number, maxRequests: number): LoadLimits {
  return { maxIds: Math.max(2 * maxCount, Math.min(mostIds, idsPerSecond * longestWaitS)), maxRequests }
}

/**
 * What the requests under way have asked for. Without a bound, ten thousand connections that ask for 65 536 ids each, and
 * read their answers slowly or not at all, would take 5 GB as bytes and 15 GB as JSON.
 */
export class Load {
  readonly #limits: LoadLimits
  #ids = 0
  #requests = 0

  constructor(limits: LoadLimits) {
    this.#limits = limits
  }

  /** One that waits for a single id; `leave` has to follow. @throws Problem `ERR_OVERLOADED` */
  enter(): void {
    if (this.#requests >= this.#limits.maxRequests) throw overloaded(`${this.#requests} requests wait for ids`)
    this.#requests++
  }

  leave(): void {
    this.#requests--
  }

  /** Ids that are held in memory until their answer is sent, or its connection has ended. @throws Problem `ERR_OVERLOADED` */
  hold(ids: number, request: IncomingMessage): void {
    if (this.#ids + ids > this.#limits.maxIds) {
      throw overloaded(`${this.#ids} ids are being made for other requests, and ${this.#limits.maxIds} is the most`)
    }
    this.#ids += ids
    // That of the request, which comes after the answer's; an answer that waits behind another one of the same connection
    // has none when that connection ends.
    request.once('close', () => {
      this.#ids -= ids
    })
  }
}

function overloaded(reason: string): Problem {
  return new Problem('ERR_OVERLOADED', `${reason}; try again later, or ask for fewer`)
}
