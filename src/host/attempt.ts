/** The result of a call, or `undefined` where it throws: another process has done it, or a process has ended meanwhile. */
export function attempt<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}

/** Whether an error is the system's error of that name, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}
