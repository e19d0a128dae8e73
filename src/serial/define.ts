import { type Rows, readTable } from '../core/options.js'
import { type Field, genuineLayout, type Layout } from '../layout/index.js'
import { readOffset } from '../pattern/calendar.js'
import { Lifetime } from './lifetime.js'
import { areInOrder, checkComplete, parseParts } from './parts.js'
import { type BaseSerial, checkText, format, parse, type Serial } from './serial.js'

/** The options of {@link defineSerial}. */
export interface SerialOptions<F extends readonly Field[] = readonly Field[]> {
  /**
   * Up to 255 characters of text with placeholders in braces. A number has the digits that its largest value
   * needs, or up to 20, as in `{node:6}`. `{{` and `}}` are braces. The placeholders:
   *
   * - the units of time `yyyy` or `yy`, `MM`, `dd`, `HH`, `mm`, `ss` and `SSS`, also joined as `{yyyyMMdd}`
   * - node fields of the layout by their names, or `{node}` for all of them as one number
   * - tags of the layout by their names
   * - `{sequence}`
   */
  pattern: string
  /** The layout that the ids were made with: the `layout` of their generator. */
  layout: Layout<F>
  /**
   * The zone of date and time: `'UTC'`, or an offset such as `'+08:00'`, from -14:00 to +14:00. @default
   * 'UTC'
   */
  timeZone?: string
}

/** @internal */
export const serialRows = { pattern: {}, layout: {}, timeZone: { byDefault: 'UTC' } } satisfies Rows<SerialOptions>

/**
 * Defines texts for the ids of a layout: each id has one text, and each text one id, so that a serial is as
 * unique as its id.
 *
 * @param options - `pattern` and `layout` are required; {@link SerialOptions} describes all.
 * @returns A frozen object that writes ids as texts, and reads them.
 * @throws TypeError, RangeError `ERR_PATTERN_INVALID` for a pattern that cannot be read, or could give one
 * text to two ids; `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`.
 * @example
 * const pattern = '001{yyyyMMddHHmmssSSS}{node}{sequence}'
 * const serial = defineSerial({ pattern, layout: layouts.twitter, timeZone: '+08:00' })
 * serial.format('1541815603606036480') // '0012022062900074010503780000'
 * serial.parse('0012022062900074010503780000') // 1541815603606036480n
 */
export function defineSerial<F extends readonly Field[]>(options: SerialOptions<F>): Serial<F> {
  const { pattern, timeZone, ...read } = readTable(options, serialRows, '{ pattern, layout }')
  const layout = genuineLayout(read.layout)
  const offsetMinutes = readOffset(timeZone)
  const parts = parseParts(pattern, layout)
  checkComplete(pattern, parts, layout)
  const lifetime = new Lifetime(pattern, layout, offsetMinutes)
  const hasShortYears = parts.some((part) => part.kind === 'unit' && part.unit === 'yy')
  if (hasShortYears) lifetime.checkShortYears(pattern)
  const length = parts.reduce((sum, { width }) => sum + width, 0)
  const serial: BaseSerial<F> = {
    format: (id: bigint | string) => format(id, parts, layout, lifetime),
    parse: (text: string) => {
      checkText(text, length, pattern)
      return parse(text, parts, layout, lifetime)
    },
    sortable: areInOrder(parts, layout) && (!hasShortYears || lifetime.isWithinCentury),
    length,
    pattern,
    layout,
    timeZone,
  }
  return Object.freeze(serial) as Serial<F>
}
