/** What cannot be carried out as it was asked; becomes one line on stderr, and the exit code. */
export class StartError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** An error in one line, without what belongs to no user. */
export function lineOf(error: unknown): string {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  return `${text.trim().replace(/\s+/g, ' ')}${typeof code === 'string' ? ` (${code})` : ''}`
}
