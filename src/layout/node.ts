import { rangeError, show, typeError } from '../core/errors.js'
import type { Field, Layout, NodeFieldOf } from './layout.js'

/** A node: one number over all node fields, or a number for each field. */
export type NodeOf<F extends readonly Field[]> = number | { readonly [K in NodeFieldOf<F>]: number }

/**
 * The node as one number, the first field the most significant.
 *
 * @param origin - Begins the messages: where the node was given.
 * @throws TypeError, RangeError `ERR_NODE_INVALID` unless the number fits, or the object has exactly the node
 * fields.
 * @internal
 */
export function combineNode(layout: Layout, node: unknown, origin = 'the node'): number {
  const names = layout.nodeFields.map(({ name }) => name)
  if (typeof node === 'number') {
    return checkPart(layout, origin, node, layout.nodeBits)
  }
  if (typeof node !== 'object' || node === null || Array.isArray(node)) {
    const forms = `a number from 0 to ${layout.nodes - 1}${names.length > 0 ? `, or { ${names.join(', ')} }` : ''}`
    throw typeError(
      'ERR_NODE_INVALID',
      `${origin} is ${show(node)}${node === undefined ? '' : ` (${typeof node})`}; layout '${layout.name}' takes ${forms}`,
    )
  }
  const given = node as Record<string, unknown>
  for (const key of Object.keys(given)) {
    if (!names.includes(key)) {
      throw typeError(
        'ERR_NODE_INVALID',
        `${origin} has a field ${show(key)}; layout '${layout.name}' has ${listOf(names)}`,
      )
    }
  }
  let combined = 0
  for (const { name, bits } of layout.nodeFields) {
    const part = Object.hasOwn(given, name) ? given[name] : undefined
    if (typeof part !== 'number') {
      const what = part === undefined ? `has no '${name}'` : `has ${show(part)} (${typeof part}) for '${name}'`
      throw typeError(
        'ERR_NODE_INVALID',
        `${origin} ${what}; layout '${layout.name}' takes a number for each of ${listOf(names)}`,
      )
    }
    combined = combined * 2 ** bits + checkPart(layout, `${origin}'s field '${name}'`, part, bits)
  }
  return combined
}

/** The node's number taken apart into its fields. @internal */
function splitNode<F extends readonly Field[]>(layout: Layout<F>, node: number): { [K in NodeFieldOf<F>]: number } {
  const parts: Record<string, number> = {}
  let below = layout.nodeBits
  for (const { name, bits } of layout.nodeFields) {
    below -= bits
    parts[name] = Math.floor(node / 2 ** below) % 2 ** bits
  }
  return parts as { [K in NodeFieldOf<F>]: number }
}

/** The node's fields, shifted as in an id. @internal */
export function shiftNode(layout: Layout, node: number): bigint {
  const parts: Record<string, number> = splitNode(layout, node)
  return layout.nodeFields.reduce(
    (bits, { name, shift }) => bits | (BigInt(parts[name] as number) << BigInt(shift)),
    0n,
  )
}

function checkPart(layout: Layout, what: string, value: number, bits: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
    throw rangeError(
      'ERR_NODE_INVALID',
      `${what} is ${show(value)}; layout '${layout.name}' gives it ${bits} bits: a whole number from 0 to ${2 ** bits - 1}`,
    )
  }
  return value + 0 // -0 is 0
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'no node fields' : names.map((name) => `'${name}'`).join(', ')
}
