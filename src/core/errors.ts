/**
 * Every code an error of this package can carry, with the rule behind it. The catalogue is closed:
 * `docs/errors.md` describes each entry, a test holds the two together, and removing or renaming a code is a
 * breaking change.
 *
 * @example
 * errorCodes.ERR_CLOSED // 'the object was closed'
 */
export const errorCodes = {
  ERR_OPTION_UNKNOWN: 'an option, a flag or a property has a name that does not exist',
  ERR_OPTION_INVALID: 'an option has a value of the wrong type or out of its range',
  ERR_NODE_REQUIRED: 'no node was given, and there is no safe default',
  ERR_NODE_INVALID: 'the node does not fit the node fields of the layout',
  ERR_LAYOUT_INVALID: 'a layout breaks one of the rules of defineLayout',
  ERR_LAYOUT_DECODE_ONLY: 'another system makes ids of the layout; graupel only decodes them',
  ERR_LAYOUT_EXPIRED: 'the time no longer fits the timestamp field of the layout',
  ERR_EPOCH_INVALID: 'the epoch is not a whole number of milliseconds',
  ERR_ID_INVALID: 'an id, or a part of an id, does not fit its encoding or layout',
  ERR_ENCODING_UNKNOWN: 'an encoding has a name that does not exist',
  ERR_ARRAY_INVALID: 'an array cannot be filled safely',
  ERR_NUMBER_UNSAFE: 'the ids do not fit a JavaScript number',
  ERR_CLOCK_INVALID: 'the clock gave something that is not a time',
  ERR_CLOCK_BEFORE_EPOCH: 'the clock shows a time before the epoch of the layout',
  ERR_CLOCK_ROLLBACK: 'the clock stepped back, and the policy does not allow another id',
  ERR_SEQUENCE_OVERFLOW: 'the tick is used up, and the policy does not allow another id',
  ERR_CLOSED: 'the object was closed',
  ERR_NATIVE_UNAVAILABLE: 'the native engine was asked for, and its binary does not load',
  ERR_STATE_UNREACHABLE: 'the state that other generators of the node use cannot be reached from here',
  ERR_STATE_UNAVAILABLE: 'the place of the state does not answer in time, or cannot be read or written',
  ERR_STATE_UNSAFE: 'another user could change the state, or it is not a plain file of this machine',
  ERR_STATE_MISMATCH: 'the state belongs to other ids, or to another version of its format',
  ERR_STATE_CORRUPT: 'the state is damaged',
  ERR_STATE_CLONED: 'the machine was copied, and its copies have the same node',
  ERR_STATE_FULL: 'the memory that threads share for their states is used up',
  ERR_LEASE_EXPIRED: 'the lease of the node does not allow another id',
  ERR_NODES_EXHAUSTED: 'every node that may be leased is held by others',
  ERR_CLOCK_SKEW: 'the clocks of this host and of the store, or of another host, differ by more than is allowed',
  ERR_STORE_UNAVAILABLE: 'a store fails, or does not answer in time',
  ERR_STORE_INVALID: 'a store, or its answer, does not follow the interface of stores',
  ERR_STORE_UNSAFE: 'a store forgets what it has acknowledged, or does not enforce conditions',
  ERR_EMPTY: 'no number is ready',
  ERR_SEGMENT_OVERFLOW: 'the last number that the segments may have is used up',
  ERR_COUNTER_OVERFLOW: 'the next count does not fit the digits of its pattern, or the range of counts',
  ERR_PATTERN_INVALID: 'a pattern cannot be read, or would give one text twice',
  ERR_SERVICE_UNAVAILABLE: 'an id service cannot be reached, fails, or does not answer in time',
  ERR_SERVICE_REFUSED: 'an id service refuses what it is asked for',
  ERR_SERVICE_INVALID: 'the answer of an id service cannot be used',
  ERR_KEY_INVALID: 'a key of a mask, or its name, breaks the rules or is missing',
} as const

/** One of the codes in {@link errorCodes}, such as `'ERR_CLOSED'`. */
export type ErrorCode = keyof typeof errorCodes

/**
 * Marks the errors of this package, so that other copies of the package recognise them. The mark proves
 * nothing: other code can use the symbol, too.
 */
const brand = Symbol.for('graupel.error')

/** The properties of a {@link GraupelError} beside its code. */
export interface ErrorDetails {
  /** The error that led to this one. */
  cause?: unknown
  /** Milliseconds after which the same call can succeed. */
  retryAfterMs?: number
  /**
   * Milliseconds by which the clock is behind the latest time it has shown; only with `ERR_CLOCK_ROLLBACK`.
   */
  rollbackMs?: number
  /** The HTTP status of the answer; only with `ERR_SERVICE_REFUSED`. */
  status?: number
  /** How many elements at the front of the array hold ids; only from `fill`, `fillAsync` and `take`. */
  filled?: number
  /** The option to change: its value is wrong, or another value allows the call. */
  option?: string
}

/**
 * The error of an operation that could not keep ids distinct, and was refused. Misuse is a `TypeError` or
 * `RangeError` with a `code`, too.
 *
 * @example
 * try {
 *   createGenerator({ node: 7, layout: layouts.baidu })
 * } catch (error) {
 *   error instanceof GraupelError // true
 *   error.code // 'ERR_LAYOUT_EXPIRED'
 * }
 */
export class GraupelError extends Error {
  /** Always `'GraupelError'`, even if a bundler has renamed the class. */
  override readonly name = 'GraupelError'
  /** The rule that was broken; `docs/errors.md` says what to do about each. */
  readonly code: ErrorCode
  /** Milliseconds after which the same call can succeed. */
  declare readonly retryAfterMs?: number
  /**
   * Milliseconds by which the clock is behind the latest time it has shown; only with `ERR_CLOCK_ROLLBACK`.
   */
  declare readonly rollbackMs?: number
  /** The HTTP status of the answer; only with `ERR_SERVICE_REFUSED`. */
  declare readonly status?: number
  /** How many elements at the front of the array hold ids; only from `fill`, `fillAsync` and `take`. */
  declare filled?: number
  /** The option to change: its value is wrong, or another value allows the call. */
  declare readonly option?: string

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...rest } = details
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    Object.assign(mark(this), rest)
  }
}

/** Not enumerable, so that logs and comparisons of errors do not show it. */
function mark<E extends Error>(error: E): E {
  return Object.defineProperty(error, brand, { value: true })
}

/**
 * Whether a value is an error of this package: a {@link GraupelError}, or a TypeError or RangeError with one
 * of the {@link errorCodes}. Also recognises the errors of other copies of the package, for which
 * `instanceof` is false. Never throws.
 *
 * An error that a worker thread has sent is not recognised, because the copy of the error has no code.
 *
 * @param value - Anything, such as what a `catch` has caught.
 * @example
 * try {
 *   createGenerator({ node: 1024 })
 * } catch (error) {
 *   isGraupelError(error) && error.code // 'ERR_NODE_INVALID'
 * }
 */
export function isGraupelError(value: unknown): value is Error & ErrorDetails & { readonly code: ErrorCode } {
  try {
    // Not `instanceof`, because another realm has another `Error`.
    if (Object.prototype.toString.call(value) !== '[object Error]') return false
    const { code, [brand]: isMarked } = value as { code?: unknown; [brand]?: unknown }
    return isMarked === true && typeof code === 'string'
  } catch {
    return false
  }
}

/**
 * Makes a `TypeError`, for a value of the wrong kind.
 *
 * @param option - The option that has this value. The message begins with its name.
 */
export function typeError(code: ErrorCode, message: string, option?: string): TypeError & Misuse {
  return Object.assign(mark(new TypeError(message)), { code, ...(option !== undefined && { option }) })
}

/**
 * Makes a `RangeError`, for a value of the right kind that the rule does not allow; `option` as in {@link
 * typeError}.
 */
export function rangeError(code: ErrorCode, message: string, option?: string): RangeError & Misuse {
  return Object.assign(mark(new RangeError(message)), { code, ...(option !== undefined && { option }) })
}

interface Misuse {
  readonly code: ErrorCode
  readonly option?: string
}

/** Shows a value in a message: short, and so that its type is clear. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? `'${value.slice(0, 40)}…'` : `'${value}'`
  // A larger bigint may have a million digits.
  if (typeof value === 'bigint') {
    return BigInt.asIntN(128, value) === value ? `${value}n` : 'a bigint of more than 128 bits'
  }
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (typeof value === 'object' && value !== null) {
    // A URL, a Map or a typed array has no keys of its own, or none that say what it is.
    const kind = Object.prototype.toString.call(value).slice(8, -1)
    if (kind !== 'Object') return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`
    const keys = Object.keys(value)
    return keys.length === 0 ? 'an empty object' : `{ ${keys.slice(0, 4).join(', ')}${keys.length > 4 ? ', …' : ''} }`
  }
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Shows a value as {@link show} does, but hides texts, which may be URLs with a password. */
export function showNoText(value: unknown): string {
  return typeof value === 'string' ? 'a text' : show(value)
}

/** Shows a time in a message. @param ms - Milliseconds since 1970. */
export function showTime(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * Returns the reason of a failure, as a part of a sentence. Anything may be thrown, and reading it may throw.
 * An error of Node's `fetch` has only the message 'fetch failed'; its cause has the reason, or an error for
 * each address of the host.
 */
export function reasonOf(error: unknown): string {
  try {
    const of = Object(error)
    const { message } = of
    if (message === 'fetch failed' && of.cause) return reasonOf(of.cause)
    if (typeof message === 'string' && message !== '') return message.trim().replace(/\s+/g, ' ').replace(/\.+$/, '')
    if (of.errors?.length > 0) return [...new Set(of.errors.map(reasonOf))].join(', ')
    return typeof of.code === 'string' ? of.code : show(error)
  } catch {
    return 'an error that cannot be read'
  }
}

/**
 * Makes the error for a call of an object that was closed. @param object - Names the object: `the counter
 * 'invoices'`.
 */
export function closedError(object: string): GraupelError {
  return new GraupelError('ERR_CLOSED', `${object} was closed; create another one`)
}

type Inspect = (value: unknown, options: object) => string

/**
 * Makes `console.log` show the result of an object's `toJSON`. A method of that name in the class body would
 * keep the class in every bundle, because bundlers keep classes with computed names.
 */
export function showByJson(object: { toJSON(): unknown }, type: string): void {
  // By its name, because browsers have no `node:util`.
  const method = Symbol.for('nodejs.util.inspect.custom')
  if (method in object) return
  Object.defineProperty(Object.getPrototypeOf(object), method, {
    value(this: typeof object, _depth: number, options: object, inspect: Inspect): string {
      return `${type} ${inspect(this.toJSON(), options)}`
    },
  })
}
