// Charts as SVG, for light and dark pages.

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .quiet { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .own { fill: #0969da; stroke: #0969da; }
  .own2 { fill: #54aeff; stroke: #54aeff; }
  .yardstick { fill: #8c959f; stroke: #8c959f; }
  .sound { fill: #6e7781; stroke: #6e7781; fill-opacity: .55; }
  .faulty { fill: #cf222e; stroke: #cf222e; fill-opacity: .55; }
  .line { fill: none; stroke-width: 2.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .own, .own2 { fill: #4493f8; stroke: #4493f8; }
    .own2 { fill: #79c0ff; stroke: #79c0ff; }
    .faulty { fill: #f85149; stroke: #f85149; }
  }`

export type Kind = 'own' | 'own2' | 'yardstick' | 'sound' | 'faulty'

/**
 * Horizontal bars on a logarithmic axis: the figures differ by a factor of a thousand. All are above zero.
 */
export function barChart(
  title: string,
  unit: string,
  bars: readonly { label: string; value: number; kind: Kind; note?: string }[],
) {
  const [left, right, width, top, step] = [250, 250, 960, 64, 26]
  const height = top + bars.length * step + 16
  const values = bars.map(({ value }) => value)
  const min = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const decades = Math.ceil(Math.log10(Math.max(...values))) - Math.log10(min)
  const x = (value: number) => left + (Math.log10(value / min) / decades) * (width - left - right)
  const powers = Array.from({ length: Math.round(decades) + 1 }, (_, i) => min * 10 ** i)
  const grid = powers.map((power) => {
    const at = round(x(power))
    return `<line class="grid" x1="${at}" y1="${top - 6}" x2="${at}" y2="${height - 12}"/>${text(at, top - 12, `${power}`, 'class="quiet"', 'middle')}`
  })
  const rows = bars.map(({ label, value, kind, note }, i) => {
    const y = top + i * step
    const end = round(x(value))
    const figure = value >= 100 ? Math.round(value) : value.toFixed(1)
    return (
      text(left - 10, y + 14, inXml(label), '', 'end') +
      `<rect class="${kind}" x="${left}" y="${y}" width="${round(Math.max(1, end - left))}" height="18" rx="2"/>` +
      text(end + 8, y + 14, `${figure}${note === undefined ? '' : `<tspan class="quiet"> ${inXml(note)}</tspan>`}`)
    )
  })
  const scale = text(width - 16, 24, `${inXml(unit)}, logarithmic`, 'class="quiet"', 'end')
  return svg(width, height, title, [scale, ...grid, ...rows])
}

/** Lines from zero. */
export function lineChart(
  title: string,
  xTitle: string,
  yTitle: string,
  lines: readonly { label: string; kind: Kind; points: readonly { x: number; y: number }[] }[],
) {
  const [width, height] = [720, 360]
  const box = { left: 64, right: width - 180, top: 56, bottom: height - 48 }
  const points = lines.flatMap((line) => line.points)
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b)
  const maxY = niceCeiling(Math.max(...points.map((point) => point.y)))
  const [firstX = 0] = xs
  const x = (value: number) => box.left + ((value - firstX) / ((xs.at(-1) ?? 1) - firstX || 1)) * (box.right - box.left)
  const y = (value: number) => box.bottom - (value / maxY) * (box.bottom - box.top)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = round(y(share * maxY))
    const label = text(box.left - 8, at + 4, `${round(share * maxY)}`, 'class="quiet"', 'end')
    return `<line class="grid" x1="${box.left}" y1="${at}" x2="${box.right}" y2="${at}"/>${label}`
  })
  const ticks = xs.map((value) => text(round(x(value)), box.bottom + 20, `${value}`, 'class="quiet"', 'middle'))
  const paths = lines.map(({ label, kind, points: own }) => {
    const at = own.map((point) => ({ x: round(x(point.x)), y: round(y(point.y)) }))
    const path = at.map((point, i) => `${i === 0 ? 'M' : 'L'}${point.x} ${point.y}`).join('')
    const dots = at.map((point) => `<circle class="${kind}" cx="${point.x}" cy="${point.y}" r="3.5"/>`)
    const last = at.at(-1) ?? { x: box.left, y: box.bottom }
    return `<path class="${kind} line" style="fill:none" d="${path}"/>${dots.join('')}${text(last.x + 10, last.y + 4, inXml(label))}`
  })
  const titles = [
    text(box.left, box.top - 10, inXml(yTitle), 'class="quiet"', 'middle'),
    text((box.left + box.right) / 2, height - 10, inXml(xTitle), 'class="quiet"', 'middle'),
  ]
  return svg(width, height, title, [...titles, ...grid, ...ticks, ...paths])
}

function text(x: number, y: number, content: string, attributes = '', anchor = '') {
  const before = attributes && `${attributes} `
  return `<text ${before}x="${x}" y="${y}"${anchor && ` text-anchor="${anchor}"`}>${content}</text>`
}

function svg(width: number, height: number, title: string, parts: readonly string[]) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${inXml(title)}</title>`,
    `<style>${style}\n</style>`,
    text(16, 24, inXml(title), 'class="title"'),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function inXml(content: string) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function round(value: number) {
  return Math.round(value * 10) / 10
}

/** The least of 1, 2, 4, 5 and 10 times a power of ten that is no less. */
function niceCeiling(value: number) {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= value) ?? 10) * power
}
