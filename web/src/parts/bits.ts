import { html, type SVGTemplateResult, svg, type TemplateResult } from 'lit-html'
import type { Cell, Style } from '../../../src/inspect/picture.ts'
import type { TypedField } from '../layouts/spec-text.ts'

/** A field in a picture. */
export type PictureCell = Pick<Cell, 'name' | 'bits' | 'shift' | 'digits' | 'style'> & {
  /** The text below the field. */
  readonly label: string
}

const bitWidth = 14
const rowHeight = 34
const gap = 3
const labelHeight = 24
const narrowRowBits = 16
const narrow = matchMedia('(max-width: 46rem)')

/** Calls back when the width for pictures changes. */
export function onRoomChange(callback: () => void): void {
  narrow.addEventListener('change', callback)
}

/**
 * Draws the bits of an id field by field, in several rows if the window is narrow. @param title - The
 * description for screen readers.
 */
export function bitsPicture(cells: readonly PictureCell[], title: string): TemplateResult {
  return narrow.matches ? rowsPicture(cells, title) : barPicture(cells, title)
}

/** Draws all bits in one row, with a line from each field to its label. */
function barPicture(cells: readonly PictureCell[], title: string): TemplateResult {
  let x = 1
  const blocks = cells.map((cell) => {
    const block = { cell, x, width: cell.bits * bitWidth }
    x += block.width + gap
    return block
  })
  const top = 18
  const labelsTop = top + rowHeight + 6
  const lines = blocks.map(({ cell, x }, i) => {
    const y = labelsTop + (blocks.length - 1 - i) * labelHeight + 14
    return svg`<g class=${classOf(cell.style)}>
      <path class="line" d=${`M${x + 6} ${top + rowHeight + 3}V${y - 4}h8`} />
      <text class="label" x=${x + 19} y=${y}>${cell.label}</text>
    </g>`
  })
  const width = Math.max(x, ...blocks.map(({ cell, x }) => x + 28 + cell.label.length * 8.2))
  const height = labelsTop + blocks.length * labelHeight
  const body = blocks.map(({ cell, x }) => blockOf(cell, cell.digits, cell.shift + cell.bits - 1, x, top))
  return picture(title, width, height, 'bar', [...body, ...lines])
}

/** Draws sixteen bits a row. The table beside the picture names the fields. */
function rowsPicture(cells: readonly PictureCell[], title: string): TemplateResult {
  const step = rowHeight + 34
  const parts: SVGTemplateResult[] = []
  for (const cell of cells) {
    for (let done = 0; done < cell.bits; ) {
      const from = cell.shift + cell.bits - 1 - done
      const place = 63 - from
      const column = place % narrowRowBits
      const bits = Math.min(cell.bits - done, narrowRowBits - column)
      const x = 1 + column * (bitWidth + 8)
      const y = 16 + Math.floor(place / narrowRowBits) * step
      parts.push(blockOf({ ...cell, bits }, cell.digits.slice(done, done + bits), from, x, y, bitWidth + 8))
      if (cell.name.length * 8 < bits * (bitWidth + 8)) {
        parts.push(svg`<text class=${`name ${classOf(cell.style)}`} x=${x} y=${y + rowHeight + 14}>${cell.name}</text>`)
      }
      done += bits
    }
  }
  return picture(title, narrowRowBits * (bitWidth + 8) + 2, step * 4, 'rows', parts)
}

function picture(
  title: string,
  width: number,
  height: number,
  kind: string,
  parts: SVGTemplateResult[],
): TemplateResult {
  return html`<svg class=${`bits ${kind}`} viewBox=${`0 0 ${Math.ceil(width)} ${height}`} role="img" aria-label=${title}>
    ${parts}
  </svg>`
}

/** Draws some bits of a field: colour, pattern, digits, and above them the number of the highest bit. */
function blockOf(
  cell: PictureCell,
  digits: string,
  highest: number,
  x: number,
  y: number,
  step = bitWidth,
): SVGTemplateResult {
  const width = digits.length * step - (step > bitWidth ? 2 : 0)
  return svg`<g class=${classOf(cell.style)}>
    <text class="place" x=${x + 1} y=${y - 5}>${digits.length > 1 || highest < 10 ? highest : ''}</text>
    <rect class="tint" x=${x} y=${y} width=${width} height=${rowHeight} rx="3" />
    ${swatch(cell.style, x, y + rowHeight - 7, width, 7)}
    ${[...digits].map((digit, i) => svg`<text class="digit" x=${x + (i + 0.5) * step - (step > bitWidth ? 1 : 0)} y=${y + 19}>${digit}</text>`)}
  </g>`
}

/** Draws the colour and the pattern of a field. The pattern identifies the field without colours. */
function swatch(style: Style, x: number, y: number, width: number, height: number): SVGTemplateResult {
  const lines: string[] = []
  for (let at = x; at < x + width - 1; at += style === 'magenta' ? 7 : 5) {
    const right = Math.min(at + 4, x + width)
    if (style === 'yellow') lines.push(`M${at} ${y + height}L${right} ${y}`)
    if (style === 'green') lines.push(`M${at + 2} ${y}v${height}`)
    if (style === 'magenta') lines.push(`M${at + 1} ${y + height / 2}h${Math.max(0, right - at - 1)}`)
  }
  if (style === 'blue') lines.push(`M${x} ${y + height / 3}h${width}M${x} ${y + (2 * height) / 3}h${width}`)
  return svg`<rect class="colour" x=${x} y=${y} width=${width} height=${height} />
    <path class="pattern" d=${lines.join('')} />`
}

/** Draws the mark of a field in a table, with the colour and pattern of the picture. */
export function mark(style: Style): TemplateResult {
  return html`<svg class=${`mark ${classOf(style)}`} viewBox="0 0 20 14" aria-hidden="true">${swatch(style, 0, 0, 20, 14)}</svg>`
}

function classOf(style: Style): string {
  return `colour-${style}`
}

const nodeStyles: readonly Style[] = ['yellow', 'magenta', 'blue']

/** Returns the colour of a field of a design. The picture of an id uses the same colour. */
export function styleOf(fields: readonly TypedField[], at: number): Style {
  const field = fields[at] as TypedField
  if (field[0] === 'timestamp') return 'cyan'
  if (field[0] === 'sequence') return 'green'
  const others = fields.filter(([name]) => name !== 'timestamp' && name !== 'sequence')
  // The tags come after the node fields.
  const order = [...others.filter(([, , role]) => !role), ...others.filter(([, , role]) => role)]
  return nodeStyles[order.indexOf(field) % nodeStyles.length] as Style
}
