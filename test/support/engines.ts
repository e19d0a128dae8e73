import { type EngineKind, engineInfo } from 'graupel'

/**
 * The engines that the suite runs on. Without a binary, this is only the js engine (test/support/bare.ts).
 */
export const engines: readonly EngineKind[] = engineInfo().kind === 'native' ? ['native', 'js'] : ['js']

let count = 0

/** Returns a namespace that no other test uses, so that tests do not share a state. */
export function freshNamespace(): string {
  count += 1
  return `test ${process.pid} ${count} ${Math.random()}`
}

/** The properties of an error that tests read. */
export interface Caught extends Error {
  code?: string
  retryAfterMs?: number
  rollbackMs?: number
  filled?: number
}

export function caught(call: () => unknown): Caught {
  try {
    call()
  } catch (error) {
    return error as Caught
  }
  throw new Error('nothing was thrown')
}
