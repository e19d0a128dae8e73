import type { Store } from 'graupel/stores'
import { Durations, type Family, histogram, type Labels } from './family.js'

const boundsMs = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000]

/**
 * The end of a call: `conflict` is a write that lost to another write, `timeout` a call that was given up.
 */
type Outcome = 'ok' | 'conflict' | 'timeout' | 'error'

interface Calls {
  readonly labels: Labels
  readonly durations: Durations
}

/** Durations of a store's calls, by function and outcome. */
export class StoreTimes {
  readonly #all = new Map<string, Calls>()

  add(call: string, outcome: Outcome, ms: number): void {
    const key = `${call} ${outcome}`
    let found = this.#all.get(key)
    if (found === undefined) {
      found = { labels: { call, outcome }, durations: new Durations(boundsMs) }
      this.#all.set(key, found)
    }
    found.durations.add(ms)
  }

  families(): Family[] {
    const series = Array.from(this.#all.values(), ({ labels, durations }) => [labels, durations] as const)
    const help = 'Ended calls of the store, by function and outcome.'
    return [histogram('graupel_store_call_duration_seconds', help, series)]
  }
}

/** Wraps a store and times its calls. The wrapper has the same functions as the store. */
export function observedStore(store: Store, times: StoreTimes): Store {
  async function timed<T>(
    call: string,
    signal: AbortSignal | undefined,
    made: () => Promise<T>,
    outcomeOf: (answer: T) => Outcome = () => 'ok',
  ): Promise<T> {
    const startMs = performance.now()
    let isOver = false
    const end = (outcome: Outcome) => {
      if (!isOver) times.add(call, outcome, performance.now() - startMs)
      isOver = true
    }
    // Counted at once, because a client on a dead connection may never answer.
    const giveUp = () => end('timeout')
    signal?.addEventListener('abort', giveUp)
    try {
      const answer = await made()
      end(outcomeOf(answer))
      return answer
    } catch (error) {
      end('error')
      throw error
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }
  const { name, durable, nowMs, incarnation, place, advice, add, remove } = store
  return {
    name,
    durable,
    read: (key, signal) => timed('read', signal, () => store.read(key, signal)),
    list: (folder, signal) => timed('list', signal, () => store.list(folder, signal)),
    write: (key, value, expected, signal) =>
      timed(
        'write',
        signal,
        () => store.write(key, value, expected, signal),
        (version) => (version === undefined ? 'conflict' : 'ok'),
      ),
    ...(nowMs && { nowMs: (signal, key) => timed('nowMs', signal, () => nowMs.call(store, signal, key)) }),
    ...(incarnation && {
      incarnation: (signal, key) => timed('incarnation', signal, () => incarnation.call(store, signal, key)),
    }),
    // Asked once, for the log.
    ...(place && { place: (signal) => place.call(store, signal) }),
    ...(advice && { advice: (signal) => advice.call(store, signal) }),
    ...(remove && {
      remove: (key, expected, signal) =>
        timed(
          'remove',
          signal,
          () => remove.call(store, key, expected, signal),
          (isRemoved) => (isRemoved ? 'ok' : 'conflict'),
        ),
    }),
    ...(add && { add: (key, count, signal) => timed('add', signal, () => add.call(store, key, count, signal)) }),
  }
}
