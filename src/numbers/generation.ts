import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { makeGenerationReader } from '../engine/native/core.js'
import { generationIn } from '../state/table.js'
import { findAddon } from './addon.js'

/** Reads a number that differs in a copy of the machine that continues with its memory. */
export type ReadGeneration = () => number

let read: ReadGeneration | undefined

/**
 * Returns a function that numbers which were fetched ahead are checked with: it is called before a fetch, and
 * again after a number was taken, before the number is returned. If the results are equal, the machine was
 * not copied in between, so no copy has the number (`native/core/generation.h`).
 */
export function generationReader(): ReadGeneration {
  read ??= makeReader()
  return read
}

/** The generation before a fetch. */
export function presentGeneration(): number {
  return generationReader()()
}

/**
 * Checks that the readings of this thread can be compared with those of other threads. A thread with neither
 * the memory of the states nor the addon reads 0, and would take all numbers of the others for those of
 * another machine.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE`
 */
export function checkComparable(): void {
  if (!platform.claims || findAddon() !== undefined) return
  const memory = platform.stateMemory()
  if (!('unreachable' in memory)) return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `this thread cannot see when the numbers that threads share may no longer be used: ${memory.unreachable}; import 'graupel' in the main thread before it starts workers`,
  )
}

/**
 * Asks the addon if a device tells of copies (8 ns), and in a thread that cannot reach the memory of the
 * states. Otherwise reads that memory, which changes if a lease is parked or resumed (below 1 ns). All
 * threads read one number, because they check each other's. In browsers nothing tells of a copy: 0.
 */
function makeReader(): ReadGeneration {
  if (!platform.claims) return () => 0
  const memory = platform.stateMemory()
  const generation = 'unreachable' in memory ? undefined : generationIn(memory)
  const addon = findAddon()
  if (addon?.generationDevice()) return makeGenerationReader(addon)
  if (generation !== undefined) return () => generation[0] as number
  if (addon === undefined) return () => 0
  const whole = makeGenerationReader(addon)
  // The memory has the lower half of it.
  return () => whole() | 0
}
