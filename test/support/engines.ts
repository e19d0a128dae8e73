import { type EngineKind, engineInfo } from 'graupel'

/** The engines that the suite runs on. Without a binary, only the TypeScript engine is there (test/support/bare.ts). */
export const engines: readonly EngineKind[] = engineInfo().kind === 'native' ? ['native', 'js'] : ['js']

let count = 0

/** A namespace that no other test uses, so that tests cannot push one another's state word. */
export function freshNamespace(): string {
  count += 1
  return `test ${process.pid} ${count} ${Math.random()}`
}

/** The error a call throws, as far as the tests look into it. */
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
