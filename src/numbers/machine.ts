import { platform } from '#platform'
import { machineIn } from '../engine/js/state-table.js'
import { generationReader } from '../engine/native/core.js'
import { findAddon } from './addon.js'

/** Reads a number that differs in a copy of the machine that continues with its memory. */
export type ReadMachine = () => number

let read: ReadMachine | undefined

/**
 * Returns a function that numbers which were fetched ahead are checked with: it is called before a fetch, and
 * again after a number was taken, before the number is returned. If the results are equal, the machine was
 * not copied in between, so no copy has the number (`native/core/generation.h`).
 */
export function machineReader(): ReadMachine | undefined {
  read ??= makeReader()
  return read
}

/** The generation before a fetch. */
export function presentMachine(): number {
  return machineReader()?.() ?? 0
}

/**
 * Asks the addon if a device tells of copies (8 ns). Otherwise reads the memory of the states, which changes
 * if a lease is parked or resumed (below 1 ns). In browsers nothing tells of a copy.
 */
function makeReader(): ReadMachine | undefined {
  if (platform.claims === undefined) return undefined
  const addon = findAddon()
  if (addon !== undefined && addon.generationDevice() !== '') return generationReader(addon)
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return undefined
  const machine = machineIn(memory)
  return () => machine[0] as number
}
