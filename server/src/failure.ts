/** What cannot be carried out as it was asked; becomes one line on stderr, and the exit code. */
export class StartError extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Codes of what stands in the options; everything else is wrong with the place that the service runs in. */
const optionCodes: readonly unknown[] = [
  'ERR_OPTION_UNKNOWN',
  'ERR_OPTION_INVALID',
  'ERR_NODE_REQUIRED',
  'ERR_NODE_INVALID',
  'ERR_LAYOUT_INVALID',
  'ERR_LAYOUT_DECODE_ONLY',
  'ERR_EPOCH_INVALID',
  'ERR_PATTERN_INVALID',
]

/** 2 where the options are wrong, else 1. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return optionCodes.includes(Object(error).code) ? 2 : 1
}

/** An error in one line, without what belongs to no user. */
export function lineOf(error: unknown): string {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  return `${text.trim().replace(/\s+/g, ' ')}${typeof code === 'string' ? ` (${code})` : ''}`
}
