import { platform } from '#platform'
import type { Aes } from '../core/cipher.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { type Field, type GivenId, genuineLayout, type Layout } from '../layout/index.js'
import { checkKeys } from '../mask/keys.js'
import { type Form, idForm, patternOf, uuidForm } from './form.js'
import { checkIds, checkUuids, type KindId, type KindIds } from './ids.js'
import type { Kind, KindOptions, KindText, UuidKind, UuidKindOptions } from './kind.js'
import { opaqueForm } from './opaque.js'
import { schemaOf, textRules } from './schema.js'

const rows = {
  prefix: {},
  layout: {},
  keys: {},
  aes: {},
  uuid: { read: isUuid, byDefault: false },
} satisfies Rows<KindOptions & UuidKindOptions>

function isUuid(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; pass true, or leave it out`, name)
}

const prefixPattern = /^[a-z]([a-z_]{0,61}[a-z])?$/

/**
 * Defines a kind of ids: their texts have a prefix, and TypeScript tells the texts of two kinds apart.
 *
 * A text is the prefix, an underscore, and 13 characters of Crockford's base32 in small letters. Texts sort
 * as the ids do. With `uuid: true`, the ids are UUIDs and the texts are TypeIDs. With `keys`, texts are
 * opaque: 26 characters that nobody can read or make without a key.
 *
 * @param options - `prefix`, and either `layout` or `uuid`.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`, `ERR_KEY_INVALID`; TypeError `ERR_OPTION_UNKNOWN`,
 * `ERR_LAYOUT_INVALID`.
 * @example
 * const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
 * order.text(1541815603606036480n) // 'ord_1asd13xh1f800'
 * order.id('ord_1asd13xh1f800') // 1541815603606036480n
 * const doc = defineKind({ prefix: 'doc', uuid: true })
 * doc.text('01890a5d-ac96-774b-bcce-b302099a8057') // 'doc_01h455vb4pex5vsknk084sn02q'
 */
export function defineKind<const P extends string, F extends readonly Field[]>(
  options: KindOptions<P, F>,
): Kind<P, bigint, GivenId<F>>
export function defineKind<const P extends string>(options: UuidKindOptions<P>): UuidKind<P>
export function defineKind(options: KindOptions | UuidKindOptions): Kind | UuidKind {
  const read = readTable(options as KindOptions & UuidKindOptions, rows, "{ prefix: 'ord', layout }")
  const { prefix, layout, keys, aes, uuid } = read
  checkPrefix(prefix, uuid)
  if (uuid) {
    const other = layout !== undefined ? 'layout' : keys !== undefined ? 'keys' : aes !== undefined ? 'aes' : undefined
    if (other === undefined) return kindOf(prefix, uuidForm(), (given) => checkUuids(given, prefix))
    throw typeError('ERR_OPTION_INVALID', `uuid is true, and ${other} is given; a UUID has none: leave out one`, other)
  }
  const own = genuineLayout(layout) as Layout
  const form = keys === undefined ? plainForm(own, aes) : opaqueForm(checkKeys(keys), prefix, own, checkAes(aes))
  return kindOf(prefix, form, (given) => checkIds(given, prefix, own))
}

/** Refuses AES without keys, because the texts would not be opaque. */
function plainForm(layout: Layout, aes: unknown) {
  if (aes === undefined) return idForm(layout)
  throw typeError('ERR_OPTION_INVALID', 'aes is given without keys; pass keys, or leave out aes', 'aes')
}

function checkAes(aes: unknown = platform.blockCipher): Aes {
  if (typeof aes === 'function') return aes as Aes
  const what = aes === undefined ? 'keys is given, and this platform has no node:crypto' : `aes is ${show(aes)}`
  throw typeError('ERR_OPTION_INVALID', `${what}; pass the aes of graupel/mask`, 'aes')
}

function checkPrefix(prefix: unknown, mayBeEmpty: boolean): asserts prefix is string {
  if (typeof prefix !== 'string') {
    throw typeError('ERR_OPTION_INVALID', `prefix is ${show(prefix)}; pass a text such as 'ord'`, 'prefix')
  }
  if (prefixPattern.test(prefix) || (mayBeEmpty && prefix === '')) return
  throw rangeError(
    'ERR_OPTION_INVALID',
    `prefix is ${show(prefix)} (${prefix.length} characters); it has 1 to 63 of a-z and _, with a letter at each end`,
    'prefix',
  )
}

/**
 * The calls of a kind, over its form.
 *
 * @param check - Throws for a generator whose ids are not of the kind.
 */
function kindOf<Id, Given>(
  prefix: string,
  form: Form<Id, Given>,
  check: (generator: unknown) => void,
): Kind<string, Id, Given> {
  const start = prefix === '' ? '' : `${prefix}_`
  const at = start.length
  const length = at + form.digits
  // The digits of each text take the places of those before. A text made of pieces would be copied when it is
  // read.
  const codes = Array.from({ length }, (_, i) => (i < at ? start.charCodeAt(i) : 0))

  function text(given: Given): KindText {
    form.write(given, codes, at)
    return String.fromCharCode.apply(String, codes) as KindText
  }

  function id(text: unknown): KindId<string, Id> {
    if (typeof text !== 'string') {
      throw typeError(
        'ERR_ID_INVALID',
        `the text is ${show(text)} (${typeof text}); pass a string that text() returned`,
      )
    }
    if (text.length === length && text.startsWith(start)) return form.read(text, at) as KindId<string, Id>
    throw rangeError(
      'ERR_ID_INVALID',
      `the text ${show(text)} has ${text.length} characters; a text of this kind has ${length}, and begins with ${show(start)}`,
    )
  }

  function ids<G>(generator: G): KindIds<string, G> {
    check(generator)
    return generator as KindIds<string, G>
  }

  const pattern = patternOf(start, form)
  const rules = textRules(pattern, length)
  const schema = schemaOf(rules, rules, (value) => {
    id(value)
    return value as KindText
  })
  return Object.freeze({
    prefix,
    length,
    pattern,
    text,
    id,
    ids,
    is: (value: unknown): value is KindText => schema['~standard'].validate(value).issues === undefined,
    schema,
  })
}
