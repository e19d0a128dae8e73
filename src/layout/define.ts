import { rangeError, show, typeError } from '../core/errors.js'
import { ownProperties } from '../core/options.js'
import type { Field } from './layout.js'
import { isLayout, Layout, type LayoutSpec } from './layout.js'

const specKeys = ['name', 'epochMs', 'tickMs', 'fields', 'unsigned', 'decodeOnly']

/** The last millisecond a `Date` can hold (ECMAScript 21.4.1.1). */
const maxDateMs = 8.64e15

/** Ticks, nodes and sequences are JavaScript numbers. */
const maxFieldBits = 53

/**
 * The layouts of this copy of the package. The key is a layout that {@link defineLayout} returned, or the
 * layout of another copy from which a layout was made here. Entries cannot be inherited or forged.
 */
const genuine = new WeakMap<object, Layout>()

/**
 * Makes a layout of your own, after checking it.
 *
 * Put the sequence above the node and the tags if hosts `observe` each other's ids in fast chains: an answer
 * then costs one sequence number. Below them, it can cost a tick: docs/order.md has the figures.
 *
 * @param spec - `name`, `epochMs`, `tickMs` and `fields`: of 1 to 53 bits each, of at most 63 bits together,
 * or 64 with `unsigned: true`.
 * @returns A frozen layout, whose type knows its node fields and whether `nextNumber()` exists.
 * @throws TypeError, RangeError `ERR_LAYOUT_INVALID`, TypeError `ERR_OPTION_UNKNOWN`, RangeError
 * `ERR_EPOCH_INVALID`.
 * @example
 * const orders = defineLayout({
 *   name: 'orders',
 *   epochMs: Date.UTC(2024, 0, 1),
 *   tickMs: 1,
 *   fields: [['timestamp', 41], ['region', 4], ['worker', 6], ['sequence', 12]],
 * })
 */
export function defineLayout<const F extends readonly Field[]>(spec: LayoutSpec<F>): Layout<F> {
  if (typeof spec !== 'object' || spec === null) {
    throw typeError('ERR_LAYOUT_INVALID', `the layout is ${show(spec)}; pass { name, epochMs, tickMs, fields }`)
  }
  for (const key of Object.keys(spec)) {
    if (!specKeys.includes(key)) {
      throw typeError('ERR_OPTION_UNKNOWN', `a layout has no property ${show(key)}; it has ${specKeys.join(', ')}`)
    }
  }
  const own = ownProperties(spec, specKeys, 'ERR_LAYOUT_INVALID', 'the property')
  const { name, epochMs, tickMs, unsigned = false, decodeOnly = false } = own
  if (typeof name !== 'string' || name === '') {
    throw typeError('ERR_LAYOUT_INVALID', `the layout's name is ${show(name)}; pass a text that is not empty`)
  }
  checkEpochMs(epochMs)
  const refuse = (what: string) => rangeError('ERR_LAYOUT_INVALID', `layout ${show(name)}: ${what}`)
  if (!Number.isSafeInteger(tickMs) || tickMs < 1) {
    throw refuse(`tickMs is ${show(tickMs)}; pass a whole number of milliseconds, 1 or more`)
  }
  if (typeof unsigned !== 'boolean') throw refuse(`unsigned is ${show(unsigned)}; pass true or false`)
  if (typeof decodeOnly !== 'boolean') throw refuse(`decodeOnly is ${show(decodeOnly)}; pass true or false`)
  const fields = readFields(own.fields, refuse)

  const total = fields.reduce((sum, [, bits]) => sum + bits, 0)
  const maxBits = unsigned ? 64 : 63
  if (total > maxBits) {
    const others = total === 64 ? ', or pass unsigned: true for 64' : ''
    throw refuse(
      `the fields have ${total} bits; at most ${maxBits} fit ${unsigned ? 'an unsigned' : 'a signed'} 64-bit integer: shorten a field${others}`,
    )
  }
  const layout = makeLayout({ name, epochMs, tickMs, fields: fields as unknown as F, unsigned, decodeOnly })
  if (layout.nodeBits > maxFieldBits) {
    throw refuse(`the node fields have ${layout.nodeBits} bits; at most ${maxFieldBits} fit a number`)
  }
  if (Number.isNaN(layout.expiresAt.getTime())) {
    throw refuse(
      `${layout.timestamp.bits} bits of ${tickMs} ms reach beyond the year 275760, the last a Date can hold; shorten the timestamp`,
    )
  }
  return layout
}

/** Makes a layout of a specification that follows the rules. @internal */
export function makeLayout<F extends readonly Field[]>(spec: Required<LayoutSpec<F>>): Layout<F> {
  const layout = new Layout(spec)
  genuine.set(layout, layout)
  return layout
}

/**
 * Returns the layout for a value: the value, if {@link defineLayout} returned it; or a new layout of the same
 * specification, if another copy of the package made the value, or this copy in another realm.
 *
 * @throws TypeError `ERR_LAYOUT_INVALID`
 * @internal
 */
export function genuineLayout<F extends readonly Field[]>(value: Layout<F>): Layout<F> {
  return (genuine.get(value) ?? adopt(value)) as Layout<F>
}

/** Makes a layout from the specification of another layout. Checks all of it, because it may be forged. */
function adopt(value: unknown): Layout {
  let cause: unknown
  try {
    // Frozen, because it is read once, and a later change would have no effect.
    if (isLayout(value) && Object.isFrozen(value)) {
      const layout = defineLayout<readonly Field[]>({ ...value })
      genuine.set(value, layout)
      return layout
    }
  } catch (error) {
    cause = error
  }
  const because = cause instanceof Error ? ` (${cause.message})` : ''
  throw Object.assign(
    typeError(
      'ERR_LAYOUT_INVALID',
      `the layout is ${show(value)}${because}; pass one of layouts, or what defineLayout returned`,
    ),
    cause && { cause },
  )
}

/**
 * @throws RangeError `ERR_LAYOUT_DECODE_ONLY` for a layout whose ids another system alone can make. @internal
 */
export function checkMakesIds({ name, decodeOnly }: Pick<Layout, 'name' | 'decodeOnly'>): void {
  if (!decodeOnly) return
  throw rangeError(
    'ERR_LAYOUT_DECODE_ONLY',
    `layout '${name}' is for reading ids: their sequence is no counter, and a generator could repeat an id of the system that makes them; choose another layout, such as twitter`,
  )
}

/**
 * @param others - Other values that the option takes, for the message.
 * @throws RangeError `ERR_EPOCH_INVALID` unless it is a whole number of milliseconds that a Date can hold.
 * @internal
 */
export function checkEpochMs(epochMs: unknown, others = ''): asserts epochMs is number {
  if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs as number) > maxDateMs) {
    throw rangeError(
      'ERR_EPOCH_INVALID',
      `the epoch is ${show(epochMs)}; pass a whole number of milliseconds since 1970 that a Date can hold${epochMs instanceof Date ? '; pass its getTime()' : others}`,
    )
  }
}

/** Copies and freezes the fields, so that they cannot change after the check. */
function readFields(fields: unknown, refuse: (what: string) => RangeError): readonly Field[] {
  if (!Array.isArray(fields))
    throw refuse(`fields is ${show(fields)}; pass an array of [name, bits], the most significant first`)
  const seen = new Set<string>()
  const copy = Array.from(fields, (field: unknown) => {
    if (!Array.isArray(field) || (field.length !== 2 && field.length !== 3)) {
      throw refuse(`a field is ${show(field)}; write it as [name, bits], such as ['worker', 10]`)
    }
    const [name, bits, role] = field
    if (typeof name !== 'string' || !/^[a-z][a-zA-Z0-9_]*$/.test(name)) {
      throw refuse(`a field is named ${show(name)}; use a small letter, then letters, digits or _`)
    }
    if (seen.has(name)) throw refuse(`there are two fields ${show(name)}; use each name once`)
    seen.add(name)
    if (!Number.isInteger(bits) || bits < 1 || bits > maxFieldBits) {
      throw refuse(`the field ${show(name)} has ${show(bits)} bits; pass a whole number from 1 to ${maxFieldBits}`)
    }
    if (field.length === 2) return Object.freeze([name, bits] as const)
    if (role !== 'tag' && role !== 'tag?') {
      throw refuse(`the field ${show(name)} has the role ${show(role)}; pass 'tag' or 'tag?', or leave it out`)
    }
    if (name === 'timestamp' || name === 'sequence') {
      throw refuse(`the field '${name}' is a tag, and ids need it to be distinct; make it no tag`)
    }
    return Object.freeze([name, bits, role] as const)
  })
  for (const name of ['timestamp', 'sequence']) {
    if (!seen.has(name)) throw refuse(`there is no field '${name}'; every layout has one`)
  }
  return Object.freeze(copy)
}
