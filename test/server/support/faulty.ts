import type { Store } from 'graupel/stores'

/** A store whose calls can be made to fail, and are counted. */
export class Faulty {
  isAway = false
  calls = 0
  /** Releases the calls that wait since {@link hold}. */
  release = (): void => {}
  #gate: Promise<void> = Promise.resolve()

  /** Makes calls wait from now on. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.release = resolve
    })
  }

  readonly around = (store: Store): Store => {
    const run = async <T>(call: () => Promise<T>): Promise<T> => {
      this.calls++
      await this.#gate
      if (this.isAway) throw new Error('connect ECONNREFUSED 10.1.2.3:6379')
      return call()
    }
    return {
      ...store,
      read: (...words) => run(() => store.read(...words)),
      list: (...words) => run(() => store.list(...words)),
      write: (...words) => run(() => store.write(...words)),
      ...(store.nowMs && { nowMs: (signal) => run(async () => (await store.nowMs?.(signal)) as number) }),
    }
  }
}
