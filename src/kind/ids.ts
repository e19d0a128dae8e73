import { rangeError, show, typeError } from '../core/errors.js'
import { fieldsText, genuineLayout, isSameLayout, type Layout } from '../layout/index.js'

/** Exists in types alone. */
declare const idBrand: unique symbol

/**
 * An id of the kind with this prefix: a bigint, but for TypeScript an id of another prefix is no such bigint.
 * It is accepted wherever a bigint is. `Of` is another form of the id: decimal digits, a number, a UUID.
 */
export type KindId<P extends string = string, Of = bigint> = Of & { readonly [idBrand]: P }

/** An id that may have no brand. It must not have the brand of another prefix. @internal */
export type OwnId<P extends string, Given> = Given & { readonly [idBrand]?: P }

/** The calls whose results get the brand. Elements of a typed array, as of `fill`, have none. */
type BrandedName = 'next' | 'nextString' | 'nextNumber' | 'nextAsync' | 'nextBytes' | 'take' | typeof Symbol.iterator

/** A result of a call that makes ids, with the brand. */
type Branded<P extends string, Result> = Result extends bigint | string | number | Uint8Array
  ? KindId<P, Result>
  : Result extends Promise<infer Id>
    ? Promise<KindId<P, Id>>
    : Result extends readonly (infer Id)[]
      ? KindId<P, Id>[]
      : Result extends Iterator<infer Id>
        ? IterableIterator<KindId<P, Id>>
        : Result

// A `nextNumber` that TypeScript refuses to call has another `this`, and stays as it is.
type BrandedCall<P extends string, Call> = Call extends (this: void, ...args: infer Args) => infer Result
  ? (this: void, ...args: Args) => Branded<P, Result>
  : Call

type BrandedView<P extends string, Call> = Call extends (this: void, ...args: infer Args) => infer View
  ? (this: void, ...args: Args) => KindIds<P, View>
  : Call

/**
 * A generator or a client whose ids are of the kind with this prefix, as `kind.ids` returns it. The calls
 * that make ids have results of the type {@link KindId}, and views made by `with` have such calls, too. All
 * other members are those of the generator.
 *
 * @example
 * const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
 * const ids = order.ids(createGenerator({ node: 7 }))
 * order.text(ids.next()).length // 17
 */
export type KindIds<P extends string, G> = {
  [Name in keyof G]: Name extends BrandedName
    ? BrandedCall<P, G[Name]>
    : Name extends 'with'
      ? BrandedView<P, G[Name]>
      : G[Name]
}

/**
 * The argument of `kind.ids`: something with a layout. For a kind of UUIDs it is a generator of UUIDs.
 * @internal
 */
export type IdsOf<Id> = Id extends string
  ? { nextBytes(this: void, target?: Uint8Array, at?: number): Uint8Array }
  : { readonly layout: Layout }

/** @throws TypeError `ERR_OPTION_INVALID`, `ERR_LAYOUT_INVALID`; RangeError `ERR_LAYOUT_INVALID` */
export function checkIds(generator: unknown, prefix: string, layout: Layout): void {
  const given = Object(generator) as { layout?: Layout }
  if (given.layout === undefined) throw noGenerator(generator, prefix, 'a generator or a client of ids')
  const other = genuineLayout(given.layout)
  if (isSameLayout(other, layout)) return
  throw rangeError(
    'ERR_LAYOUT_INVALID',
    `the generator has ${textOf(other)}, and the kind ${show(prefix)} has ${textOf(layout)}; pass a generator of the layout of the kind`,
  )
}

/** @throws TypeError `ERR_OPTION_INVALID` */
export function checkUuids(generator: unknown, prefix: string): void {
  if (typeof (Object(generator) as { nextBytes?: unknown }).nextBytes === 'function') return
  throw noGenerator(generator, prefix, 'a generator of UUIDs')
}

function noGenerator(value: unknown, prefix: string, wanted: string): TypeError {
  return typeError('ERR_OPTION_INVALID', `the generator of the kind ${show(prefix)} is ${show(value)}; pass ${wanted}`)
}

function textOf(layout: Layout): string {
  return `layout ${show(layout.name)} (${fieldsText(layout)}; epoch ${layout.epochMs}, tick ${layout.tickMs} ms)`
}
