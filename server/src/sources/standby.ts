import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { GraupelError, type LeaseEvent } from 'graupel'

/** The header with the address of the server of a strict group that gives the ids. */
const holderHeader = 'graupel-holder'

/** Refuses ids, because another server of the strict group gives them. */
export class StandbyError extends Error {
  readonly code = 'ERR_STANDBY'
  readonly headers: Readonly<Record<string, string>>

  /** @param holder - The URL of the other server, if it is known. */
  constructor(holder: string | undefined) {
    super(`another server of the group gives the ids${holder === undefined ? '' : `: ${holder}`}; ask that server`)
    this.headers = holder === undefined ? {} : { [holderHeader]: holder }
  }
}

/** Makes the error of an answer that another server may have overtaken. */
export function lateError(): GraupelError {
  return new GraupelError('ERR_LEASE_EXPIRED', 'the term of the server was over before the answer; ask again')
}

/** Knows which server of a strict group has the node, from the events of the library. */
export class Standby {
  readonly #layout: string
  #holder: string | undefined
  #hasSeenHolder = false

  constructor(layout: string) {
    this.#layout = layout
    subscribe('graupel:lease', this.#listen)
  }

  /** Whether another server was found with the node, and no node was acquired since. */
  get hasSeenHolder(): boolean {
    return this.#hasSeenHolder
  }

  refusal(): StandbyError {
    return new StandbyError(this.#holder)
  }

  close(): void {
    unsubscribe('graupel:lease', this.#listen)
  }

  readonly #listen = (event: unknown): void => {
    const { type, layout, holder = '' } = event as LeaseEvent
    if (layout !== this.#layout) return
    if (type === 'standby') {
      this.#hasSeenHolder = true
      this.#holder = /^https?:\/\/\S+$/.test(holder) ? holder : undefined
    } else if (type === 'acquired' || type === 'moved') this.#hasSeenHolder = false
  }
}
