import { howLongAgo, localTime } from '../inspect/time.js'
import type { Layout } from '../layout/index.js'
import type { Paint } from './paint.js'

// Rows of a table that several commands have.

/** The node and, where the layout has several node fields, each of them. */
export function nodeRows(
  { nodeBits, nodeFields }: Layout,
  node: number,
  fields: Readonly<Record<string, number>>,
  paint: Paint,
): string[][] {
  const names = nodeFields.map(({ name, bits }) => [`  ${name}`, withRange(fields[name] as number, bits, paint)])
  return [['node', withRange(node, nodeBits, paint)], ...(names.length > 1 ? names : [])]
}

/** A number, and what its bits can hold. */
export function withRange(value: number, bits: number, paint: Paint): string {
  return `${value} ${paint('dim', `(0 to ${(2 ** bits - 1).toLocaleString('en')})`)}`
}

/** A time as UTC and as the local clock shows it. */
export function timeRows(timeMs: number): string[][] {
  return [
    ['time', ago(timeMs)],
    ['local time', localTime(new Date(timeMs))],
  ]
}

/** A time, and how far it is from now. */
export function ago(timeMs: number): string {
  return `${new Date(timeMs).toISOString()}, ${howLongAgo(timeMs, Date.now())}`
}
