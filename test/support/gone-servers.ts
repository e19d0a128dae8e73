const faults: (() => string)[] = []

/** Notes that a server of this file has ended by itself. @param log - Returns all that it has printed. */
export function noteGoneServer(program: string, end: string, log: () => string): void {
  faults.push(() => `${program} ended with ${end}, which no test wanted; the end of its output:\n${log().slice(-2000)}`)
}

/**
 * Throws if a server of this file has ended by itself. Nothing that waits for the server can succeed, so each
 * wait, and each test that begins later, fails at once.
 */
export function throwIfServerIsGone(): void {
  const [first] = faults
  if (first !== undefined) throw new Error(first())
}
