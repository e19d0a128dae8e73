import type { Aes } from '../core/cipher.js'
import type { Field, Layout } from '../layout/index.js'
import type { IdsOf, KindId, KindIds, OwnId } from './ids.js'
import type { IdSchema } from './schema.js'

/** Exists in types alone. */
declare const brand: unique symbol

/**
 * A text of the kind with this prefix: a string, but a text of another prefix is no such string for
 * TypeScript.
 */
export type KindText<P extends string = string> = string & { readonly [brand]: P }

/**
 * Writes ids as texts with a prefix, and reads them. Made by {@link defineKind}; frozen. Its calls can be
 * passed as functions.
 *
 * `Kind.Text<typeof order>` is the type of the texts, and `Kind.Id<typeof order>` the type of the ids.
 *
 * @example
 * const { text, id, is } = defineKind({ prefix: 'ord', layout: layouts.twitter })
 * text(1541815603606036480n) // 'ord_1asd13xh1f800'
 * id('ord_1asd13xh1f800') // 1541815603606036480n
 * is('usr_1asd13xh1f800') // false
 */
export interface Kind<P extends string = string, Id = bigint, Given = bigint | string> {
  /** The prefix, as it was given. */
  readonly prefix: P
  /** Characters of every text. */
  readonly length: number
  /**
   * Source of a regular expression for the texts, for JSON Schema, zod and forms: `new RegExp(kind.pattern)`.
   * It matches the texts that `is` accepts, and no others. Without a key it cannot tell opaque texts from
   * other texts of their form, so `is` refuses most texts that match.
   */
  readonly pattern: string
  /**
   * Writes the text of an id.
   *
   * @param id - A bigint, or the id in decimal digits; of the kind's layout. A number, if this layout has at
   * most 53 bits. A kind of UUIDs takes a UUID, as text or as 16 bytes. An id that has the type of another
   * kind does not compile.
   * @throws TypeError, RangeError `ERR_ID_INVALID`
   */
  text(this: void, id: OwnId<P, Given>): KindText<P>
  /**
   * Reads the id of a text. Nothing is trimmed, skipped or converted: `text` of the id gives the same text,
   * unless an older key than the first has made the text.
   *
   * @throws TypeError, RangeError `ERR_ID_INVALID` for a text that `text` makes of no id.
   */
  id(this: void, text: string): KindId<P, Id>
  /**
   * Gives the ids of a generator the type of this kind, and returns the generator itself. Where an id of this
   * kind is asked for, an id of another kind does not compile.
   *
   * @param generator - A generator or a client of ids, with the layout of the kind. A kind of UUIDs takes a
   * generator of UUIDs.
   * @throws TypeError `ERR_OPTION_INVALID`; TypeError, RangeError `ERR_LAYOUT_INVALID`, also for a generator
   * of another layout.
   */
  ids<G extends IdsOf<Id>>(this: void, generator: G): KindIds<P, G>
  /** Whether `id` would read the value. Never throws. */
  readonly is: (value: unknown) => value is KindText<P>
  /** Checks texts for libraries that take a Standard Schema; it gives the text. */
  readonly schema: IdSchema<KindText<P>>
}

/** The types of a kind. */
export declare namespace Kind {
  /** The texts of a kind: `type OrderId = Kind.Text<typeof order>`. */
  type Text<K extends { readonly prefix: string }> = KindText<K['prefix']>
  /**
   * The ids of a kind: `type OrderId = Kind.Id<typeof order>`. Plain bigints get it by `order.id(text)`, by
   * `order.ids(generator)`, or by `as OrderId`.
   */
  type Id<K extends { id(text: string): unknown }> = ReturnType<K['id']>
}

/** A {@link Kind} of UUIDs. Its texts are TypeIDs. */
export type UuidKind<P extends string = string> = Kind<P, string, string | Uint8Array>

/** The options of {@link defineKind} for ids. */
export interface KindOptions<P extends string = string, F extends readonly Field[] = readonly Field[]> {
  /**
   * Beginning of the texts, before an underscore: 1 to 63 of `a` to `z` and `_`, which is not at the ends.
   */
  prefix: P
  /** The layout that the ids were made with: the `layout` of their generator. */
  layout: Layout<F>
  /**
   * Keys by their names, as a mask has them: 16, 24 or 32 random bytes each. Texts are opaque then: they show
   * neither order nor time, and a text that no key has made is refused. The first key writes, all read.
   * Without keys, anyone can read the id of a text.
   */
  keys?: Readonly<Record<string, Uint8Array>>
  /**
   * AES for `keys`: `aes` of `graupel/mask`. Required with `keys` in browsers and on edge runtimes, where
   * that entry needs the package `@noble/ciphers`. On Node it may be left out: `node:crypto` has AES.
   */
  aes?: Aes
}

/** The options of {@link defineKind} for UUIDs. */
export interface UuidKindOptions<P extends string = string> {
  /** As for ids; or `''`, as TypeID allows it: then the texts have no underscore, either. */
  prefix: P
  /** Texts are TypeIDs: the prefix, and the 26 characters of a UUID of any version. */
  uuid: true
}
