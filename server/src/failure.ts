/** An error that ends the start. It becomes one line on stderr and the exit code. */
export class StartError extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Returns how messages name the options of a name: `segments.orders`. */
export function entryOf(option: string, name: string): string {
  return `${option}.${name.length > 40 ? `${name.slice(0, 40)}…` : name}`
}

/** Makes the error of options that the library refuses. @param entry - Their name in messages. */
export function refusedAt(entry: string, error: unknown): StartError {
  const { code = 'ERR_OPTION_INVALID', message } = error as Error & { code?: string }
  return new StartError(code, `${entry}: ${message}`, error)
}

/** Codes of mistakes in the options. Every other error comes from the surroundings of the service. */
const optionCodes: readonly unknown[] = [
  'ERR_OPTION_UNKNOWN',
  'ERR_OPTION_INVALID',
  'ERR_NODE_REQUIRED',
  'ERR_NODE_INVALID',
  'ERR_LAYOUT_INVALID',
  'ERR_LAYOUT_DECODE_ONLY',
  'ERR_EPOCH_INVALID',
  'ERR_PATTERN_INVALID',
  'ERR_KEY_INVALID',
]

/** Returns 2 if the options are wrong, and 1 for any other error. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return optionCodes.includes(Object(error).code) ? 2 : 1
}

/** Returns an error's message and code in one line, without its stack. */
export function lineOf(error: unknown): string {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  return `${text.trim().replace(/\s+/g, ' ')}${typeof code === 'string' ? ` (${code})` : ''}`
}

const mostShown = 60

/** Returns a given value as messages show it: short and in one line. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > mostShown ? `${json.slice(0, mostShown)}…` : json
}
