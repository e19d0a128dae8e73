import type { FastifyReply, FastifyRequest } from 'fastify'
import { Durations, type Family, histogram, type Labels } from './family.js'

/** From the duration of a request for one id to the patience of a client. */
const boundsMs = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000]

declare module 'fastify' {
  interface FastifyReply {
    /** Set if the answer has a status of 500, as Leaf's answers do, although the request was wrong. */
    isClientFault: boolean
  }
}

/** Durations of answered requests, by route and first digit of the status. */
export class Requests {
  /** By the pattern of the route; `undefined` for unknown paths. */
  readonly #routes = new Map<string | undefined, Durations[]>()
  /** Answers with a status of 500 to wrong requests, by the pattern of the route. */
  readonly #clientFaults = new Map<string | undefined, Durations>()

  readonly observe = (request: FastifyRequest, reply: FastifyReply): void => {
    const { url } = request.routeOptions
    if (!reply.isClientFault) {
      this.add(url, reply.statusCode, reply.elapsedTime)
      return
    }
    const durations = this.#clientFaults.get(url) ?? new Durations(boundsMs)
    this.#clientFaults.set(url, durations)
    durations.add(reply.elapsedTime)
  }

  /**
   * @param url - The pattern of the route, or `redis:` and a command. @param times - How many requests took
   * that long.
   */
  add(url: string | undefined, status: number, ms: number, times = 1): void {
    this.durationsOf(url, status).add(ms, times)
  }

  /** Returns the durations of a route and a class of status. From then on, they are a series. */
  durationsOf(url: string | undefined, status: number): Durations {
    let classes = this.#routes.get(url)
    if (classes === undefined) {
      classes = []
      this.#routes.set(url, classes)
    }
    const statusClass = Math.floor(status / 100)
    let durations = classes[statusClass]
    if (durations === undefined) {
      durations = new Durations(boundsMs)
      classes[statusClass] = durations
    }
    return durations
  }

  families(): Family[] {
    return [
      histogram(
        'graupel_http_request_duration_seconds',
        'Answered requests, by route and class of status.',
        this.#series(),
      ),
    ]
  }

  *#series(): Generator<readonly [Labels, Durations]> {
    for (const [route = 'none', classes] of this.#routes) {
      for (const [statusClass, durations] of classes.entries()) {
        if (durations !== undefined) yield [{ route, status: `${statusClass}xx` }, durations]
      }
    }
    for (const [route = 'none', durations] of this.#clientFaults) {
      yield [{ route, status: '5xx', fault: 'client' }, durations]
    }
  }
}
