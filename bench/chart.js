// Charts as SVG, in the colours of whoever looks at them: light or dark, and told apart without colours, too.

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

/** @typedef {'own' | 'own2' | 'yardstick' | 'sound' | 'faulty'} Kind */

/**
 * Horizontal bars on a logarithmic axis: what is compared differs by a factor of a thousand.
 *
 * @param {string} title
 * @param {string} unit
 * @param {readonly { label: string, value: number, kind: Kind, note?: string }[]} bars - All above zero.
 */
export function barChart(title, unit, bars) {
  const left = 250
  const right = 250
  const width = 960
  const top = 64
  const step = 26
  const height = top + bars.length * step + 16
  const values = bars.map(({ value }) => value)
  const least = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const most = 10 ** Math.ceil(Math.log10(Math.max(...values)))
  const x = (/** @type {number} */ value) =>
    left + (Math.log10(value / least) / Math.log10(most / least)) * (width - left - right)
  const powers = Array.from({ length: Math.round(Math.log10(most / least)) + 1 }, (_, i) => least * 10 ** i)
  const grid = powers.map(
    (power) =>
      `<line class="grid" x1="${round(x(power))}" y1="${top - 6}" x2="${round(x(power))}" y2="${height - 12}"/>` +
      `<text class="quiet" x="${round(x(power))}" y="${top - 12}" text-anchor="middle">${power}</text>`,
  )
  const rows = bars.map(({ label, value, kind, note }, i) => {
    const y = top + i * step
    const end = round(x(value))
    return (
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end">${inXml(label)}</text>` +
      `<rect class="${kind}" x="${left}" y="${y}" width="${round(Math.max(1, end - left))}" height="18" rx="2"/>` +
      `<text x="${end + 8}" y="${y + 14}">${value >= 100 ? Math.round(value) : value.toFixed(1)}` +
      `${note === undefined ? '' : `<tspan class="quiet"> ${inXml(note)}</tspan>`}</text>`
    )
  })
  return svg(width, height, title, [
    `<text class="title" x="16" y="24">${inXml(title)}</text>`,
    `<text class="quiet" x="${width - 16}" y="24" text-anchor="end">${inXml(unit)}, logarithmic</text>`,
    ...grid,
    ...rows,
  ])
}

/**
 * Lines from zero.
 *
 * @param {string} title
 * @param {string} xTitle
 * @param {string} yTitle
 * @param {readonly { label: string, kind: Kind, points: readonly { x: number, y: number }[] }[]} lines
 */
export function lineChart(title, xTitle, yTitle, lines) {
  const width = 720
  const height = 360
  const box = { left: 64, right: 180, top: 56, bottom: 48 }
  const points = lines.flatMap((line) => line.points)
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b)
  const mostY = niceCeiling(Math.max(...points.map((point) => point.y)))
  const [firstX = 0] = xs
  const lastX = xs.at(-1) ?? 1
  const x = (/** @type {number} */ value) =>
    box.left + ((value - firstX) / (lastX - firstX || 1)) * (width - box.left - box.right)
  const y = (/** @type {number} */ value) => height - box.bottom - (value / mostY) * (height - box.top - box.bottom)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = round(y(share * mostY))
    return (
      `<line class="grid" x1="${box.left}" y1="${at}" x2="${width - box.right}" y2="${at}"/>` +
      `<text class="quiet" x="${box.left - 8}" y="${at + 4}" text-anchor="end">${round(share * mostY)}</text>`
    )
  })
  const ticks = xs.map(
    (value) =>
      `<text class="quiet" x="${round(x(value))}" y="${height - box.bottom + 20}" text-anchor="middle">${value}</text>`,
  )
  const paths = lines.map(({ label, kind, points: own }) => {
    const path = own.map((point, i) => `${i === 0 ? 'M' : 'L'}${round(x(point.x))} ${round(y(point.y))}`).join('')
    const last = own.at(-1) ?? { x: firstX, y: 0 }
    const dots = own.map(
      (point) => `<circle class="${kind}" cx="${round(x(point.x))}" cy="${round(y(point.y))}" r="3.5"/>`,
    )
    return (
      `<path class="${kind} line" style="fill:none" d="${path}"/>${dots.join('')}` +
      `<text x="${round(x(last.x)) + 10}" y="${round(y(last.y)) + 4}">${inXml(label)}</text>`
    )
  })
  return svg(width, height, title, [
    `<text class="title" x="16" y="24">${inXml(title)}</text>`,
    `<text class="quiet" x="${box.left}" y="${box.top - 10}" text-anchor="middle">${inXml(yTitle)}</text>`,
    `<text class="quiet" x="${(box.left + width - box.right) / 2}" y="${height - 10}" text-anchor="middle">${inXml(xTitle)}</text>`,
    ...grid,
    ...ticks,
    ...paths,
  ])
}

/**
 * @param {number} width
 * @param {number} height
 * @param {string} title
 * @param {readonly string[]} parts
 */
function svg(width, height, title, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${inXml(title)}</title>`,
    `<style>${style}\n</style>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** @param {string} text */
function inXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10
}

/** The least of 1, 2, 4, 5 and 10 times a power of ten that is no less. @param {number} value */
function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= value) ?? 10) * power
}
