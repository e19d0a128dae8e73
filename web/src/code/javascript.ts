import { type CodeField, commented, partOf, type Shape, shifted } from './shape.ts'

export function javascript(shape: Shape): string {
  const { heading, epochMs, tickMs, bits, fields, own, timestamp, sequence, promises } = shape
  const names = (all: readonly CodeField[]) => all.map(({ name }) => name).join(', ')
  const parts = fields.map((field) =>
    shifted(
      field === timestamp ? 'tickOf(timestampMs)' : `fit('${field.label}', ${field.name}, ${field.max}n)`,
      field,
      'n',
    ),
  )
  const rest = fields.filter((field) => field !== timestamp)
  const ticks = partOf(timestamp, 'id', 'n')
  return `${commented([...heading, 'All numbers are bigints: a JavaScript number is exact only up to 2^53.'], '//')}

const EPOCH_MS = ${epochMs}n

function fit(name, value, max) {
  if (value < 0n || value > max) throw new RangeError(\`\${name} is \${value}; it must be from 0 to \${max}\`)
  return value
}

export function tickOf(timestampMs) {
  const ms = timestampMs - EPOCH_MS
  return fit('timestamp', ${tickMs === 1 ? 'ms' : `ms < 0n ? ms : ms / ${tickMs}n`}, ${timestamp.max}n)
}

export function encode({ timestampMs, ${names(rest)} }) {
  return (
    ${parts.join(' |\n    ')}
  )
}

export function decode(id) {
  if (id >> ${bits}n !== 0n) throw new RangeError(\`the id \${id} is negative, or has more than ${bits} bits\`)
  return {
    timestampMs: ${tickMs === 1 ? `(${ticks})` : `(${ticks}) * ${tickMs}n`} + EPOCH_MS,
    ${rest.map((field) => `${field.name}: ${partOf(field, 'id', 'n')},`).join('\n    ')}
  }
}
${
  promises.length === 0
    ? ''
    : `
${commented(promises, '//')}
export function createIds(${own.length === 0 ? '' : `{ ${names(own)} }, `}now = () => BigInt(Date.now())) {
  let last = -1n
  let sequence = 0n
  return () => {
    let timestampMs = now()
    // Spins for up to a tick: Atomics.wait() would sleep, but throws in the main thread of a browser.
    while (tickOf(timestampMs) === last && sequence === ${sequence.max}n) timestampMs = now()
    const tick = tickOf(timestampMs)
    if (tick < last) throw new Error(\`the clock went back by \${last - tick} ticks\`)
    sequence = tick === last ? sequence + 1n : 0n
    last = tick
    return encode({ timestampMs, ${names(rest)} })
  }
}
`
}`
}
