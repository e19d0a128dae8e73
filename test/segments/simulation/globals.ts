import type { Random } from '../../support/random.ts'
import { currentMachine } from './platform.ts'

// The substitutes of globals in the worlds, so that a seed decides everything.

let random: Random = () => 0
let names = 0
const channels = new Map<string, Set<SimulatedChannel>>()

/** Prepares the globals for the next world. */
export function beginGlobals(of: Random): void {
  random = of
  names = 0
  channels.clear()
}

/** `Math.random`. */
export function simulatedRandom(): number {
  return random()
}

/** `crypto.randomUUID`. */
export function simulatedName(): string {
  return `name ${++names}`
}

/** `crypto.getRandomValues`. */
export function simulatedValues(bytes: Uint8Array): Uint8Array {
  return bytes.map(() => Math.floor(random() * 256))
}

/** Messages between the threads of a process. */
class SimulatedChannel {
  onmessage: ((event: { data: unknown }) => void) | undefined
  readonly #others: Set<SimulatedChannel>
  readonly #machine = currentMachine()

  constructor(name: string) {
    const others = channels.get(name) ?? new Set()
    channels.set(name, others)
    this.#others = others.add(this)
  }

  postMessage(data: unknown): void {
    for (const other of this.#others) {
      if (other !== this) this.#machine.later(() => this.#others.has(other) && other.onmessage?.({ data }), 0.05)
    }
  }

  close(): void {
    this.#others.delete(this)
  }
}

/** Cheap deadlines: a real deadline for each call would cost more than all else in a world. */
class SimulatedSignal {
  aborted = false
  reason: unknown
  readonly #listeners = new Set<() => void>()

  addEventListener(_type: string, listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: string, listener: () => void): void {
    this.#listeners.delete(listener)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  abort(reason: unknown): void {
    this.aborted = true
    this.reason = reason
    for (const listener of this.#listeners) listener()
  }
}

class SimulatedController {
  readonly signal = new SimulatedSignal()

  abort(reason: unknown): void {
    this.signal.abort(reason)
  }
}

export { SimulatedChannel as BroadcastChannel, SimulatedController as AbortController }
