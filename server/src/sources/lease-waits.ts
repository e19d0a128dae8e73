import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LeaseEvent } from 'graupel'

/** The waits of leases that are being acquired, from the events of the library. */
export class LeaseWaits {
  readonly #namespace: string | undefined
  readonly #isDurable: boolean
  /** By the names of the layouts. */
  readonly #untilMs = new Map<string, number>()

  /** @param isDurable - Whether the store never forgets a lease. */
  constructor(namespace: string | undefined, isDurable: boolean) {
    this.#namespace = namespace
    this.#isDurable = isDurable
    subscribe('graupel:lease', this.#listen)
  }

  /** Returns why the lease of a layout waits and until when; `undefined` if no time is known. */
  reasonOf(layout: string): string | undefined {
    const untilMs = this.#untilMs.get(layout) ?? 0
    if (untilMs <= Date.now()) return undefined
    const until = `until ${new Date(untilMs).toISOString().slice(0, 19)}Z it waits, because`
    return this.#isDurable
      ? `${until} the node may have ids up to then`
      : `${until} the store has started and may have forgotten leases`
  }

  close(): void {
    unsubscribe('graupel:lease', this.#listen)
  }

  readonly #listen = (event: unknown): void => {
    const { type, layout, namespace, untilMs = 0 } = event as LeaseEvent
    if (type === 'waiting' && (this.#namespace ?? namespace) === namespace) this.#untilMs.set(layout, untilMs)
  }
}
