/**
 * Makes a field of a layout a tag, whose value the caller of a generator chooses: `'tag'` has to be chosen,
 * and `'tag?'` is 0 unless it is chosen.
 */
export type TagRole = 'tag' | 'tag?'

/** A field of a layout: its name, its width of 1 to 53 bits, and whether it is a tag. */
export type Field = readonly [name: string, bits: number] | readonly [name: string, bits: number, role: TagRole]

/** The names of the node fields: all but `timestamp`, `sequence` and the tags. */
export type NodeFieldOf<F extends readonly Field[]> = Exclude<
  Extract<F[number], readonly [string, number]>[0],
  'timestamp' | 'sequence'
>

/** The names of the tags; with a role, of the tags of this role. */
export type TagOf<F extends readonly Field[], R extends TagRole = TagRole> = Extract<
  F[number],
  readonly [string, number, R]
>[0]

/**
 * Fields in a form that an interface can extend: the interface gives them a name, so editors show
 * `Layout<layouts.Twitter>`. @internal
 */
export type Named<F extends [string, number][]> = { readonly [I in keyof F]: Readonly<F[I]> }

// TypeScript's types cannot add numbers, but they can join tuples: a width is a tuple of that length.
type Zeros<N extends number, T extends readonly 0[] = []> = T['length'] extends N
  ? T
  : T['length'] extends 65
    ? never
    : Zeros<N, readonly [...T, 0]>

// By their indexes, because an interface that extends a tuple has those and is no tuple.
type Sum<
  F extends readonly Field[],
  I extends readonly 0[] = [],
  T extends readonly 0[] = [],
> = I['length'] extends F['length'] ? T : Sum<F, readonly [...I, 0], readonly [...T, ...Zeros<F[I['length']][1]>]>

type AtMost53<T extends readonly 0[]> = T extends readonly [...Zeros<54>, ...(readonly 0[])] ? false : true

/**
 * `true` if all fields together have at most 53 bits, so that every id is a safe integer; `false` if they
 * have more; `boolean` if TypeScript does not know the widths.
 */
export type IsNarrow<F extends readonly Field[]> = number extends F['length']
  ? boolean
  : number extends F[number][1]
    ? boolean
    : AtMost53<Sum<F>>

/**
 * An id that the caller has: a bigint, or its decimal digits. With a layout of at most 53 bits also a
 * JavaScript number, if TypeScript knows the widths of its fields.
 */
export type GivenId<F extends readonly Field[] = readonly Field[]> =
  | bigint
  | string
  | ([IsNarrow<F>] extends [true] ? number : never)

/**
 * The specification that {@link defineLayout} takes.
 *
 * @example
 * const ours = defineLayout({ ...layouts.twitter, name: 'ours', epochMs: Date.UTC(2024, 0, 1) })
 * ours.expiresAt.getUTCFullYear() // 2093
 */
export interface LayoutSpec<F extends readonly Field[] = readonly Field[]> {
  /** For people: messages, the command line, `graupel layouts`. */
  name: string
  /** Milliseconds since 1970 that the timestamp 0 stands for; may be negative. */
  epochMs: number
  /** Milliseconds that the timestamp counts in; a whole number from 1 up. */
  tickMs: number
  /**
   * Name and width in bits of each field, the most significant first; exactly one is `timestamp` and one
   * `sequence`. A third element makes a field a tag: `['shard', 6, 'tag']`, or `'tag?'` if it is 0 unless
   * chosen. All other fields together are the node.
   */
  fields: F
  /**
   * Allows 64 bits instead of 63; a signed 64-bit column holds such ids for half of the layout's time
   * only. @default false
   */
  unsigned?: boolean
  /**
   * The sequence is no counter, so only another system can make such ids, and generators refuse the
   * layout. @default false
   */
  decodeOnly?: boolean
}

/**
 * Marks layouts for other copies of the package, such as its other form. It proves nothing: any code can use
 * the symbol.
 */
const brand = Symbol.for('graupel.layout')

/** The bits of a field of a layout, and how far they are shifted in an id. */
export interface Placement {
  /** Name of the field. */
  readonly name: string
  /** Width of the field. */
  readonly bits: number
  /** How many bits stand to its right. */
  readonly shift: number
}

/** The bits of a tag, and how far they are shifted in an id. */
export interface TagPlacement extends Placement {
  /** Whether it has to be chosen; otherwise it is 0 by default. */
  readonly isRequired: boolean
}

/**
 * The bits of an id: time, node, sequence and tags. Made by {@link defineLayout}, or one of {@link layouts};
 * frozen.
 *
 * Its own properties are those of {@link LayoutSpec}, so `{ ...layout, epochMs }` is a specification again.
 * All other properties follow from them.
 *
 * @example
 * layouts.twitter.nodes // 1024
 * layouts.twitter.idsPerSecond // 4096000
 * layouts.twitter.expiresAt.toISOString() // '2080-07-10T17:30:30.209Z'
 */
export class Layout<F extends readonly Field[] = readonly Field[]> {
  /** For people: messages, the command line, `graupel layouts`. */
  declare readonly name: string
  /** Milliseconds since 1970 that the timestamp 0 stands for. */
  declare readonly epochMs: number
  /** Milliseconds of a tick, in which the timestamp counts. */
  declare readonly tickMs: number
  /** Name and width in bits of each field, the most significant first, and which are tags. */
  declare readonly fields: F
  /** Whether ids may use the 64th bit, with which they do not fit a signed column. */
  declare readonly unsigned: boolean
  /**
   * Whether it is for reading ids alone, so that generators, leases and clients refuse it by
   * `ERR_LAYOUT_DECODE_ONLY`.
   */
  declare readonly decodeOnly: boolean
  // Worked out once, because decoding an id needs all of it; not enumerable, so that `{ ...layout }` is a
  // specification.
  /** Width of an id in bits, at most 64. */
  declare readonly bits: number
  /** Width of all node fields together. */
  declare readonly nodeBits: number
  /** The placement of the timestamp. */
  declare readonly timestamp: Placement
  /** The placement of the sequence. */
  declare readonly sequence: Placement
  /** The fields that together are the node, the most significant first. */
  declare readonly nodeFields: readonly (Placement & { readonly name: NodeFieldOf<F> })[]
  /** The tags, the most significant first. */
  declare readonly tagFields: readonly (TagPlacement & { readonly name: TagOf<F> })[]
  /** The placements of all fields, the most significant first. */
  declare readonly placements: readonly Placement[]

  /** @internal Use {@link defineLayout}, which checks the rules. */
  constructor(spec: Required<LayoutSpec<F>>) {
    Object.assign(this, spec)
    const bits = widthOf(spec.fields.map(([, width]) => width))
    let shift = bits
    const placements = spec.fields.map(([name, width, role]) => {
      shift -= width
      const placement = { name, bits: width, shift }
      return Object.freeze(role === undefined ? placement : { ...placement, isRequired: role === 'tag' })
    })
    const tagFields = placements.filter((field) => 'isRequired' in field)
    const nodeFields = placements.filter((field) => {
      return field.name !== 'timestamp' && field.name !== 'sequence' && !('isRequired' in field)
    })
    const derived = {
      bits,
      nodeBits: widthOf(nodeFields.map(({ bits: width }) => width)),
      timestamp: placements.find(({ name }) => name === 'timestamp'),
      sequence: placements.find(({ name }) => name === 'sequence'),
      nodeFields: Object.freeze(nodeFields),
      tagFields: Object.freeze(tagFields),
      placements: Object.freeze(placements),
      [brand]: true,
    }
    for (const name of Reflect.ownKeys(derived)) {
      Object.defineProperty(this, name, { value: derived[name as keyof typeof derived] })
    }
    Object.freeze(this)
  }

  /** The first moment at which no id can be made: the end of the tick `maxTick`. */
  get expiresAt(): Date {
    return new Date(this.epochMs + (this.maxTick + 1) * this.tickMs)
  }

  /** How many different nodes there are. */
  get nodes(): number {
    return 2 ** this.nodeBits
  }

  /** The most ids that one node can make in a second. */
  get idsPerSecond(): number {
    return (2 ** this.sequence.bits * 1000) / this.tickMs
  }

  /**
   * The last tick in which ids are made. If time and sequence fill all 64 bits, it is one less than fits,
   * because the state word counts one past the last slot.
   */
  get maxTick(): number {
    const last = 2 ** this.timestamp.bits - 1
    return this.timestamp.bits + this.sequence.bits === 64 ? last - 1 : last
  }
}

/** Whether a value has the brand of a layout, of this copy of the package or of another one. @internal */
export function isLayout(value: unknown): value is Layout {
  return typeof value === 'object' && value !== null && brand in value
}

/** The fields as people read them: `timestamp 41, node 10, shard 6 tag, sequence 12`. @internal */
export function fieldsText({ fields }: Layout): string {
  return fields.map((field) => field.join(' ')).join(', ')
}

/** Whether an id means the same in both layouts. Their names do not count. @internal */
export function isSameLayout(one: Layout, other: Layout): boolean {
  if (one === other) return true
  return one.epochMs === other.epochMs && one.tickMs === other.tickMs && fieldsText(one) === fieldsText(other)
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0)
}
