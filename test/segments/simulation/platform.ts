import type { Machine } from '../../simulation/machine.ts'

// `#platform` in the worlds. The code takes timers from it when a generator is made, and gets the timers of
// the generator's process.

let current: Machine | undefined

/** Runs code that belongs to a process. */
export function on<T>(machine: Machine, call: () => T): T {
  current = machine
  try {
    return call()
  } finally {
    current = undefined
  }
}

/** The process whose code runs. */
export function currentMachine(): Machine {
  if (current === undefined) throw new Error('code of a process runs outside of it')
  return current
}

const laterOf = (machine: Machine) => (callback: () => void, ms: number) => machine.later(callback, ms)

export const platform = {
  get later() {
    return laterOf(currentMachine())
  },
  get background() {
    return laterOf(currentMachine())
  },
  get monotonicMs() {
    const machine = currentMachine()
    return () => machine.monotonicMs()
  },
  // The worlds replace Math.random.
  random: () => Math.random(),
  channel: () => undefined,
}
