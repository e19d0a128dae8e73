import { type ErrorCode, show, typeError } from './errors.js'
import { didYouMean } from './suggestion.js'

// A function with options has a table with a row for each option, beside the interface that describes the
// options. The names, the checks, the limits, the defaults and the types of the checked options follow from
// the table. Rules for several options are code, after the table is read.

/** How one option is read. */
export interface Row {
  /**
   * Checks a value by the limits of the row, and returns the value, or what the function needs in its place.
   * Without it, the function checks the value itself, after the table is read. readers.ts has the readers
   * that several tables use.
   */
  read?(name: string, value: unknown, row: Row): unknown
  readonly least?: number | bigint
  readonly most?: number | bigint
  readonly choices?: readonly string[]
  /** The value if the option is not given; `undefined` without a default. */
  readonly byDefault?: unknown
  /** `read` also gets `undefined`, and refuses it. */
  readonly isRequired?: true
}

/** A table of the options of an interface. */
export type Rows<O> = { readonly [K in keyof O]-?: Row }

/** The options of an interface, after its table was read. */
export type Resolved<O, R> = {
  readonly [K in keyof R]: R[K] extends { byDefault: unknown } | { isRequired: true }
    ? Exclude<ValueOf<R[K], K extends keyof O ? O[K] : unknown>, undefined>
    : ValueOf<R[K], K extends keyof O ? O[K] : unknown>
}

type ValueOf<R, Given> = R extends { read: (...given: never[]) => infer T }
  ? undefined | (string extends T ? (R extends { choices: readonly (infer C)[] } ? C : T) : T)
  : Given

/**
 * Copies options as {@link readOptions} does, and reads each by its row.
 *
 * @throws TypeError, RangeError as `readOptions` and the readers
 */
export function readTable<O, R extends Readonly<Record<string, Row>>>(
  options: O,
  rows: R,
  example: string,
  elsewhere?: Readonly<Record<string, string>>,
): Resolved<O, R> {
  return readRows(readOptions(options, Object.keys(rows), example, elsewhere), rows)
}

/** Reads each option of a copy by its row. */
export function readRows<O extends object, R extends Readonly<Record<string, Row>>>(own: O, rows: R): Resolved<O, R> {
  const read: Record<string, unknown> = {}
  for (const name of Object.keys(rows)) read[name] = readRow(name, own[name as keyof O], rows[name] as Row)
  return read as Resolved<O, R>
}

/** Reads one value by a row. */
export function readRow<const R extends Row>(
  name: string,
  value: unknown,
  row: R,
): Resolved<unknown, { value: R }>['value'] {
  if (value === undefined && !row.isRequired) return row.byDefault as never
  return (row.read === undefined ? value : row.read(name, value, row)) as never
}

/**
 * Copies options. Refuses a value that is no object, a name that is no option, and an option that the object
 * inherits. Read options from the copy only: it has no prototype.
 *
 * @param example - Valid options, for the message: `{ store }`.
 * @param elsewhere - Names of options of other packages, each with our option to pass instead, for the
 * message.
 * @throws TypeError `ERR_OPTION_INVALID`, `ERR_OPTION_UNKNOWN`
 */
export function readOptions<T>(
  options: T,
  names: readonly string[],
  example: string,
  elsewhere: Readonly<Record<string, string>> = {},
): T & object {
  if (typeof options !== 'object' || options === null) {
    throw typeError('ERR_OPTION_INVALID', `the options are ${show(options)}; pass an object such as ${example}`)
  }
  for (const key of Object.keys(options)) {
    if (!names.includes(key)) {
      if (Object.hasOwn(elsewhere, key)) {
        throw typeError('ERR_OPTION_UNKNOWN', `there is no option ${show(key)}; pass ${elsewhere[key]}`, key)
      }
      throw typeError(
        'ERR_OPTION_UNKNOWN',
        `there is no option ${show(key)}${didYouMean(key, names)}; the options are ${names.join(', ')}`,
        key,
      )
    }
  }
  return ownProperties(options, names, 'ERR_OPTION_INVALID', 'the option')
}

/**
 * Copies the own enumerable properties of an object to an object without a prototype, so that additions to
 * `Object.prototype` do not count as given. Refuses a property that the object inherits otherwise: the caller
 * means it, and the copy would lose it.
 *
 * @param names - The properties that are read from the copy.
 * @param what - The kind of property, for the message: `the option`.
 * @throws TypeError with the code
 */
export function ownProperties<T extends object>(given: T, names: readonly string[], code: ErrorCode, what: string): T {
  const own = Object.assign(Object.create(null), given)
  for (let holder: object | null = given; holder !== null && !isRoot(holder); holder = Object.getPrototypeOf(holder)) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (name in own || !names.includes(name)) continue
      throw typeError(
        code,
        `${what} '${name}' is inherited or not enumerable; pass an object that has it itself`,
        code === 'ERR_OPTION_INVALID' ? name : undefined,
      )
    }
  }
  return own
}

/** Whether an object is the `Object.prototype` of a realm, from which callers do not inherit by choice. */
function isRoot(holder: object): boolean {
  return Object.getPrototypeOf(holder) === null && Object.hasOwn(holder, 'isPrototypeOf')
}
