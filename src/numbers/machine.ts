import { platform } from '#platform'
import { generationReader } from '../engine/native/core.js'
import { machineIn } from '../state/table.js'
import { findAddon } from './addon.js'

/** Reads a number that differs in a copy of the machine that continues with its memory. */
export type ReadMachine = () => number

let read: ReadMachine | undefined

/**
 * Returns a function that numbers which were fetched ahead are checked with: it is called before a fetch, and
 * again after a number was taken, before the number is returned. If the results are equal, the machine was
 * not copied in between, so no copy has the number (`native/core/generation.h`).
 */
export function machineReader(): ReadMachine {
  read ??= makeReader()
  return read
}

/** The generation before a fetch. */
export function presentMachine(): number {
  return machineReader()()
}

/**
 * Asks the addon if a device tells of copies (8 ns), and in a thread that cannot reach the memory of the
 * states. Otherwise reads that memory, which changes if a lease is parked or resumed (below 1 ns). In
 * browsers nothing tells of a copy, and the function returns 0.
 */
function makeReader(): ReadMachine {
  if (!platform.claims) return () => 0
  const memory = platform.stateMemory()
  const machine = 'unreachable' in memory ? undefined : machineIn(memory)
  const addon = findAddon()
  // The addon is the only one that tells a thread which cannot reach the memory.
  if (addon && (!machine || addon.generationDevice())) return generationReader(addon)
  return () => machine?.[0] ?? 0
}
