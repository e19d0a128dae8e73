import type { Layout, Placement } from '../layout/index.js'
import type { Reading } from './reading.js'

/** A colour or a weight of text. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan'

/** Styles a text in the form of its medium, such as a terminal or a page, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string

/** A field in a picture of an id. */
export interface Cell extends Placement {
  readonly digits: string
  readonly label: string
  readonly style: Style
}

const nodeStyles: readonly Style[] = ['yellow', 'magenta', 'blue']

/** The 64 bits of an id in a frame, field by field, each with its value below. At most 80 columns. */
export function picture(id: bigint, reading: Reading, paint: Paint): string[] {
  const cells = cellsOf(id, reading)
  const frame = (left: string, line: string, between: string, right: string) =>
    left + cells.map(({ bits }) => line.repeat(bits)).join(between) + right
  // The number of its highest bit above each field that has room for it.
  const numbers = cells.map(({ bits, shift }) => {
    const number = String(shift + bits - 1)
    return (number.length > bits ? '' : number).padEnd(bits)
  })
  const bottom = `└${cells.map(({ bits }, i) => `┬${'─'.repeat(bits - 1)}${i < cells.length - 1 ? '┴' : '┘'}`).join('')}`
  return [
    ` ${numbers.join(' ').replace(/ $/, '0')}`,
    frame('┌', '─', '┬', '┐'),
    `│${cells.map(({ digits, style }) => paint(style, digits)).join('│')}│`,
    bottom,
    ...cells.map((_, i) => labelLine(cells, cells.length - 1 - i, paint)),
  ]
}

/** A line below the frame: the label of one field, and the lines to the labels of the fields left of it. */
function labelLine(cells: readonly Cell[], labelled: number, paint: Paint): string {
  const hanging = cells.slice(0, labelled).map(({ bits }) => `│${' '.repeat(bits)}`)
  const { style, label } = cells[labelled] as Cell
  return ` ${hanging.join('')}└ ${paint(style, label)}`
}

/** The fields of all 64 bits, the most significant first, each with its digits and its colour. */
export function cellsOf(id: bigint, reading: Reading): Cell[] {
  const { layout, fields, sequence, tags } = reading
  const digits = id.toString(2).padStart(64, '0')
  const values: Record<string, number> = { ...fields, ...tags, sequence }
  const names = [...layout.nodeFields, ...layout.tagFields].map(({ name }) => name)
  const cells = layout.placements.map(({ name, bits, shift }): Cell => {
    const end = 64 - shift
    const common = { name, bits, shift, digits: digits.slice(end - bits, end) }
    if (name === 'timestamp') return { ...common, label: timestampLabel(reading), style: 'cyan' }
    const style = name === 'sequence' ? 'green' : (nodeStyles[names.indexOf(name) % nodeStyles.length] as Style)
    return { ...common, label: `${name} ${values[name]}`, style }
  })
  return layout.bits < 64 ? [unusedCell(layout), ...cells] : cells
}

function unusedCell({ bits }: Layout): Cell {
  const unused = 64 - bits
  return { name: 'unused', bits: unused, shift: bits, digits: '0'.repeat(unused), label: 'unused', style: 'dim' }
}

function timestampLabel({ layout, timestampMs }: Reading): string {
  const { epochMs, tickMs } = layout
  const ticks = (timestampMs - epochMs) / tickMs
  return `timestamp ${ticks} ${tickMs === 1 ? 'ms' : `× ${tickMs} ms`} since ${new Date(epochMs).toISOString()}`
}
