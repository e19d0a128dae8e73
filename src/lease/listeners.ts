import { platform } from '#platform'
import { reasonOf, show, typeError } from '../core/errors.js'
import type { LeaseEvent } from '../platform/events.js'

/** The events that happen while the program has the lease. */
type HeardType = Exclude<LeaseEvent['type'], 'acquired'>

const heardTypes: readonly HeardType[] = [
  'waiting',
  'standby',
  'late',
  'unreachable',
  'expired',
  'lost',
  'copied',
  'parked',
  'moved',
  'released',
  'ended',
]

/** Calls the functions that a program has passed to `lease.on`, until the lease is released or has ended. */
export class Listeners {
  #all: { readonly type: HeardType; readonly call: (event: LeaseEvent) => unknown }[] = []
  #isOver = false

  /** Adds a function. Returns a function that takes it away. @throws TypeError `ERR_OPTION_INVALID` */
  add(type: HeardType, call: (event: LeaseEvent) => unknown): () => void {
    if (!heardTypes.includes(type)) {
      throw typeError('ERR_OPTION_INVALID', `type is ${show(type)}; pass one of ${heardTypes.join(', ')}`, 'type')
    }
    if (typeof call !== 'function') {
      throw typeError('ERR_OPTION_INVALID', `listener is ${show(call)}; pass a function`, 'listener')
    }
    const listener = { type, call }
    if (!this.#isOver) this.#all = [...this.#all, listener]
    return () => {
      this.#all = this.#all.filter((other) => other !== listener)
    }
  }

  has(type: LeaseEvent['type']): boolean {
    return this.#all.some((listener) => listener.type === type)
  }

  /** Calls the functions for an event. A warning reports what they throw, because a lease has to go on. */
  tell(event: LeaseEvent): void {
    for (const { type, call } of this.#all) if (type === event.type) run(event, call)
    if (event.type !== 'released' && event.type !== 'ended') return
    this.#isOver = true
    this.#all = []
  }
}

async function run(event: LeaseEvent, call: (event: LeaseEvent) => unknown): Promise<void> {
  try {
    await call(event)
  } catch (error) {
    platform.warn(
      `a listener of lease.on('${event.type}') has failed: ${reasonOf(error)}; the lease goes on; catch the error in the listener`,
      'GRAUPEL_LEASE_LISTENER',
    )
  }
}
