import cluster, { type Worker } from 'node:cluster'
import type { Family } from './metrics/family.js'

// A probe or a scrape reaches one worker, and the answer concerns all. So that worker asks the primary, which
// asks all workers, because workers cannot talk to each other.

/** Time that the primary waits for the workers. */
const collectMs = 2000
/** Time that a worker waits for the primary. It is longer than `collectMs`. */
const askMs = 2500

/**
 * The questions to all workers, each with the answer of one worker: its metrics, or the reasons why it is not
 * ready.
 */
interface Answers {
  readonly families: readonly Family[]
  readonly reasons: readonly string[]
}

/** The answers of all workers. */
export interface FromAll<T> {
  /** The answers of the workers that answered in time, by the numbers of the workers. */
  readonly answers: readonly (readonly [worker: number, answer: T])[]
  /** The numbers of the other workers that listen. */
  readonly silent: readonly number[]
  /** How often each worker was started again, by its number. */
  readonly restarts: readonly number[]
}

/**
 * A message between a worker and the primary. `ask` and `answer` concern all workers, `collect` and
 * `collected` one worker.
 */
interface Message {
  readonly type: 'graupel:ask' | 'graupel:answer' | 'graupel:collect' | 'graupel:collected'
  /** The number that the asking process gave its question. */
  readonly id: number
  readonly question: keyof Answers
  readonly answer?: unknown
}

/**
 * Answers, in the primary, workers that ask all workers.
 *
 * @param numberOf - Returns a worker's number. A worker that replaces another one keeps its number, and its
 * counts begin at 0, as Prometheus expects after a restart.
 * @param restarts - Returns how often each worker was started again.
 */
export function joinWorkers(numberOf: (worker: Worker) => number, restarts: () => readonly number[]): void {
  // A worker that is starting gets no connections, and would not hear a question.
  const listening = new WeakSet<Worker>()
  cluster.on('listening', (worker) => listening.add(worker))
  let lastId = 0
  const collections = new Map<number, { readonly found: Map<Worker, unknown>; done(): void }>()
  const collect = async (question: keyof Answers): Promise<FromAll<unknown>> => {
    const id = ++lastId
    const found = new Map<Worker, unknown>()
    const asked = connected().filter((worker) => listening.has(worker))
    const missing = () => connected().filter((worker) => asked.includes(worker) && !found.has(worker))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, collectMs)
      const done = () => {
        if (missing().length > 0) return
        clearTimeout(timer)
        resolve()
      }
      collections.set(id, { found, done })
      for (const worker of asked) send(worker, { type: 'graupel:collect', id, question })
    })
    collections.delete(id)
    return {
      answers: [...found].map(([worker, answer]) => [numberOf(worker), answer]),
      silent: missing().map(numberOf),
      restarts: restarts(),
    }
  }
  cluster.on('message', (worker, message: Message) => {
    if (message?.type === 'graupel:collected') {
      const collection = collections.get(message.id)
      collection?.found.set(worker, message.answer)
      collection?.done()
    } else if (message?.type === 'graupel:ask') {
      const { id, question } = message
      void collect(question).then((answer) => send(worker, { type: 'graupel:answer', id, question, answer }))
    }
  })
  cluster.on('disconnect', () => {
    for (const { done } of collections.values()) done()
  })
}

function connected(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker): worker is Worker => worker?.isConnected() === true)
}

function send(to: Worker, message: Message): void {
  // The error of a worker that has just ended is ignored.
  if (to.isConnected()) to.send(message, () => {})
}

/** Asks the primary, in a worker, what all workers answer. */
export class Colleagues {
  readonly #asked = new Map<number, (answer: unknown) => void>()
  /** The questions that are not answered yet, so that many requests ask once. */
  readonly #asking = new Map<keyof Answers, Promise<unknown>>()
  readonly #own: { readonly [Q in keyof Answers]: () => Answers[Q] | Promise<Answers[Q]> }
  #lastId = 0

  /** @param own - Returns the answers of this worker. */
  constructor(own: { readonly [Q in keyof Answers]: () => Answers[Q] | Promise<Answers[Q]> }) {
    this.#own = own
    process.on('message', this.#hear)
  }

  /** @throws Error if the primary does not answer in time. */
  ask<Q extends keyof Answers>(question: Q): Promise<FromAll<Answers[Q]>> {
    let asking = this.#asking.get(question)
    if (asking === undefined) {
      asking = this.#ask(question).finally(() => this.#asking.delete(question))
      this.#asking.set(question, asking)
    }
    return asking as Promise<FromAll<Answers[Q]>>
  }

  #ask(question: keyof Answers): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id)
        reject(new Error(`the primary process did not answer for all workers within ${askMs} ms`))
      }, askMs)
      this.#asked.set(id, (answer) => {
        clearTimeout(timer)
        this.#asked.delete(id)
        resolve(answer)
      })
      this.#send({ type: 'graupel:ask', id, question })
    })
  }

  close(): void {
    process.off('message', this.#hear)
  }

  readonly #hear = async (message: Message): Promise<void> => {
    if (message?.type === 'graupel:answer') this.#asked.get(message.id)?.(message.answer)
    if (message?.type !== 'graupel:collect') return
    const { id, question } = message
    this.#send({ type: 'graupel:collected', id, question, answer: await this.#own[question]() })
  }

  #send(message: Message): void {
    process.send?.(message, undefined, undefined, () => {})
  }
}
