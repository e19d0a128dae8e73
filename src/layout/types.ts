/** A field of a layout: its name and its width in bits. */
export type Field = readonly [name: string, bits: number]

/** The names of the fields that together are the node. */
export type NodeFieldOf<F extends readonly Field[]> = Exclude<F[number][0], 'timestamp' | 'sequence'>

// TypeScript's types cannot add numbers, but they can join tuples: a width is a tuple of that length.
type Zeros<N extends number, T extends readonly 0[] = []> = T['length'] extends N
  ? T
  : T['length'] extends 65
    ? never
    : Zeros<N, readonly [...T, 0]>

type Sum<F extends readonly Field[], T extends readonly 0[] = []> = F extends readonly [
  infer First extends Field,
  ...infer Rest extends readonly Field[],
]
  ? Sum<Rest, readonly [...T, ...Zeros<First[1]>]>
  : T

type AtMost53<T extends readonly 0[]> = T extends readonly [...Zeros<54>, ...(readonly 0[])] ? false : true

/**
 * `true` where all fields together have at most 53 bits, so that every id is a safe integer; `false` where they have more;
 * `boolean` where TypeScript does not know the widths.
 */
export type IsNarrow<F extends readonly Field[]> = number extends F['length']
  ? boolean
  : number extends F[number][1]
    ? boolean
    : AtMost53<Sum<F>>
