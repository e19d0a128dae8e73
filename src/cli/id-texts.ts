import { type Layout, parseId } from '../index.js'
import { kindText } from '../kind/form.js'
import { defineKind } from '../kind/index.js'
import { pastedUuid } from '../uuid/decode.js'
import { isUlidText, uuidOfUlid } from '../uuid/ulid.js'
import { uuidWriter } from '../uuid/writer.js'
import { type Flag, messageOf, quote, UsageError } from './arguments.js'
import { keysIn } from './key-file.js'

// UUIDs, ULIDs, and texts with a prefix.

/** The flags of a command that writes ids as such texts. */
export const textFlags = {
  uuid: { help: 'print ids as UUIDs of version 7' },
  kind: {
    value: 'PREFIX',
    help: 'print ids as texts with this prefix, such as ord_01kb6wyr9m2z8; with --uuid as TypeIDs',
  },
  'key-file': { value: 'FILE', help: 'make the texts of --kind opaque; FILE has the keys, one a line' },
} as const satisfies Record<string, Flag>

type Values = { readonly [name in keyof typeof textFlags | 'format']?: string }

/**
 * Returns the function that writes an id as the flags say; `undefined` if they ask for numbers. @throws
 * UsageError, RangeError
 */
export function chooseText(values: Values, layout: Layout): ((id: bigint) => string) | undefined {
  const { uuid, kind: prefix, 'key-file': file, format } = values
  if (file !== undefined && (prefix === undefined || uuid !== undefined)) {
    const rule = prefix === undefined ? 'is for --kind; give both' : 'is not for UUIDs; leave out --uuid'
    throw new UsageError('ERR_OPTION_INVALID', `--key-file ${rule}, or leave --key-file out`)
  }
  if (uuid === undefined && prefix === undefined) return undefined
  if (format !== undefined) {
    const flag = prefix === undefined ? '--uuid' : '--kind'
    throw new UsageError('ERR_OPTION_INVALID', `--format is for numbers, and ${flag} is given; leave one out`)
  }
  const writeUuid = uuid === undefined ? undefined : uuidWriter(layout, 7).text
  if (prefix === undefined) return writeUuid
  try {
    if (writeUuid === undefined) return defineKind({ prefix, layout, ...readKeys(file) }).text
    const { text } = defineKind({ prefix, uuid: true })
    return (id) => text(writeUuid(id))
  } catch (error) {
    const { option, code } = Object(error)
    throw option === 'prefix' ? new UsageError(code, messageOf(Object(error), '--kind')) : error
  }
}

/** The flag of a command that reads such texts. */
export const keyFileFlag = {
  value: 'FILE',
  help: 'read opaque texts; FILE has the keys, one a line',
} as const

/** The content of a text that is no number: a UUID, or an id. */
export interface GivenText {
  readonly prefix?: string
  /** In small letters, with hyphens. */
  readonly uuid?: string
  /** In capital letters; `uuid` has the same bytes. */
  readonly ulid?: string
  readonly id?: bigint
  /** The layout of an opaque text, which its proof tells. */
  readonly layout?: Layout
}

/**
 * Returns the function that reads UUIDs, ULIDs and texts of kinds. For other texts it returns `undefined`.
 *
 * @throws RangeError
 */
export function textReader(file: string | undefined, layouts: readonly Layout[]) {
  const { keys } = readKeys(file)
  return (text: string): GivenText | undefined => {
    const uuid = pastedUuid(text)
    if (uuid !== undefined) return { uuid }
    if (isUlidText(text)) return { uuid: uuidOfUlid(text), ulid: text.toUpperCase() }
    const [, prefix, digits = ''] = kindText.exec(text) ?? []
    if (prefix === undefined) return undefined
    if (digits.length === 13) return { id: parseId(digits, 'base32'), prefix }
    if (keys === undefined) return { uuid: defineKind({ prefix, uuid: true }).id(text), prefix }
    for (const layout of layouts) {
      const { is, id } = defineKind({ prefix, layout, keys })
      if (is(text)) return { id: id(text), prefix, layout }
    }
    throw new UsageError(
      'ERR_ID_INVALID',
      `the text ${quote(text)} was made with no key of the file, or for another layout; give its --layout and --epoch`,
    )
  }
}

function readKeys(file: string | undefined): { keys?: Record<string, Uint8Array> } {
  return file === undefined ? {} : { keys: keysIn(file, '--key-file') }
}
