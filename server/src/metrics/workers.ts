import cluster, { type Worker } from 'node:cluster'
import { type Family, joined } from './family.js'

// Any worker may be the one that is scraped, and workers cannot talk to each other: it asks the primary, which asks all of them.

/** How long the primary waits for the workers. Shorter than a worker waits for the primary. */
const collectMs = 2000
const askMs = 3000

/** Between a worker that asks and the primary, and between the primary and each worker that it then asks. */
interface Message {
  readonly type:
    | 'graupel:metrics-ask'
    | 'graupel:metrics-answer'
    | 'graupel:metrics-collect'
    | 'graupel:metrics-collected'
  /** Of the question; the one that asks gives it. */
  readonly id: number
  readonly families?: readonly Family[]
}

/**
 * In the primary: answers workers that ask for the metrics of all.
 *
 * @param labelOf - Tells a worker from the others. One that is started in the place of another has its label: its counts begin at 0
 * again, as Prometheus expects it of a process.
 */
export function joinWorkers(labelOf: (worker: Worker) => number): void {
  let lastId = 0
  const collections = new Map<number, { readonly found: Map<Worker, readonly Family[]>; done(): void }>()
  const collect = async (): Promise<Family[]> => {
    const id = ++lastId
    const found = new Map<Worker, readonly Family[]>()
    const asked = connected()
    await new Promise<void>((resolve) => {
      // A worker that does not answer is missing from the answer: its series end, and are told apart by their label.
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
  // A worker that has just ended needs no answer.
  if (to.isConnected()) to.send(message, () => {})
}

/** In a worker: the metrics of all. */
export class Colleagues {
  readonly #asked = new Map<number, (families: readonly Family[]) => void>()
  readonly #own: () => Promise<readonly Family[]>
  #lastId = 0

  /** @param own - Tells the metrics of this worker. */
  constructor(own: () => Promise<readonly Family[]>) {
    this.#own = own
    process.on('message', this.#hear)
  }

  /** @throws Error where the primary does not answer in time. */
  families(): Promise<readonly Family[]> {
    const id = ++this.#lastId
    return new Promise<readonly Family[]>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id)
        reject(new Error(`the primary process has not told the metrics of all workers within ${askMs} ms`))
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
