/** A field of a layout: its name, and its width of 1 to 53 bits. */
export type Field = readonly [name: string, bits: number]

/** The names of the node fields: all but `timestamp` and `sequence`. */
export type NodeFieldOf<F extends readonly Field[]> = Exclude<F[number][0], 'timestamp' | 'sequence'>

/** Fields in a form that an interface can extend: the interface gives them a name, so editors show `Layout<layouts.Twitter>`. @internal */
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
 * `true` if all fields together have at most 53 bits, so that every id is a safe integer; `false` if they have more;
 * `boolean` if TypeScript does not know the widths.
 */
export type IsNarrow<F extends readonly Field[]> = number extends F['length']
  ? boolean
  : number extends F[number][1]
    ? boolean
    : AtMost53<Sum<F>>
