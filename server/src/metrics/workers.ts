import cluster, { type Worker } from 'node:cluster'
import { type Family, joined } from './family.js'

// Prometheus scrapes any worker. That worker asks the primary, which asks all workers, because workers cannot talk to each other.

/** Time that the primary waits for the workers. */
const collectMs = 2000
/** Time that a worker waits for the primary. It is longer than `collectMs`. */
const askMs = 3000

/** A message between a worker and the primary. `ask` and `answer` concern all workers, `collect` and `collected` one worker. */
interface Message {
  readonly type:
    | 'graupel:metrics-ask'
    | 'graupel:metrics-answer'
    | 'graupel:metrics-collect'
    | 'graupel:metrics-collected'
  /** The number that the asking process gave its question. */
  readonly id: number
  readonly families?: readonly Family[]
}

/**
 * Answers, in the primary, workers that ask for the metrics of all workers.
 *
 * @param labelOf - Returns a worker's label. A worker that replaces another one keeps its label, and its counts begin at 0, as Prometheus
 * expects after a restart.
 */
export function joinWorkers(labelOf: (worker: Worker) => number): void {
  let lastId = 0
  const collections = new Map<number, { readonly found: Map<Worker, readonly Family[]>; done(): void }>()
  const collect = async (): Promise<Family[]> => {
    const id = ++lastId
    const found = new Map<Worker, readonly Family[]>()
    const asked = connected()
    await new Promise<void>((resolve) => {
      // A worker that does not answer in time is left out of the answer.
      const timer = setTimeout(resolve, collectMs)
      const done = () => {
        if (connected().some((worker) => asked.includes(worker) && !found.has(worker))) return
        clearTimeout(timer)
        resolve()
      }
      collections.set(id, { found, done })
      for (const worker of asked) send(worker, { type: 'graupel:metrics-collect', id })
    })
    collections.delete(id)
    return joined(new Map([...found].map(([worker, families]) => [labelOf(worker), families])))
  }
  cluster.on('message', (worker, message: Message) => {
    if (message?.type === 'graupel:metrics-collected') {
      const collection = collections.get(message.id)
      collection?.found.set(worker, message.families ?? [])
      collection?.done()
    } else if (message?.type === 'graupel:metrics-ask') {
      const { id } = message
      void collect().then((families) => send(worker, { type: 'graupel:metrics-answer', id, families }))
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

/** Asks the primary, in a worker, for the metrics of all workers. */
export class Colleagues {
  readonly #asked = new Map<number, (families: readonly Family[]) => void>()
  readonly #own: () => Promise<readonly Family[]>
  #lastId = 0

  /** @param own - Returns the metrics of this worker. */
  constructor(own: () => Promise<readonly Family[]>) {
    this.#own = own
    process.on('message', this.#hear)
  }

  /** @throws Error if the primary does not answer in time. */
  families(): Promise<readonly Family[]> {
    const id = ++this.#lastId
    return new Promise<readonly Family[]>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id)
        reject(new Error(`the primary process did not send the metrics of all workers within ${askMs} ms`))
      }, askMs)
      this.#asked.set(id, (families) => {
        clearTimeout(timer)
        this.#asked.delete(id)
        resolve(families)
      })
      this.#send({ type: 'graupel:metrics-ask', id })
    })
  }

  close(): void {
    process.off('message', this.#hear)
  }

  readonly #hear = async (message: Message): Promise<void> => {
    if (message?.type === 'graupel:metrics-answer') this.#asked.get(message.id)?.(message.families ?? [])
    if (message?.type !== 'graupel:metrics-collect') return
    this.#send({ type: 'graupel:metrics-collected', id: message.id, families: await this.#own() })
  }

  #send(message: Message): void {
    process.send?.(message, undefined, undefined, () => {})
  }
}
