import { isId, type Layout } from 'graupel'
import { type Reading, read } from '../../../src/inspect/reading.ts'
import { kindText, uuidForm } from '../../../src/kind/form.ts'
import { decodeUuid, pastedUuid } from '../../../src/uuid/decode.ts'

/** An id, or a UUID in small letters. */
export type Given = bigint | string

const typeId = uuidForm()

/**
 * Returns the UUID of a text in small letters. The text is a UUID or a TypeID; for another text, returns
 * `undefined`.
 */
export function uuidIn(text: string): string | undefined {
  const uuid = pastedUuid(text)
  if (uuid !== undefined) return uuid
  const [, , digits = ''] = kindText.exec(text) ?? []
  // The first digit has three bits.
  return digits.length === 26 && digits < '8' ? typeId.read(digits, 0) : undefined
}

/** Whether graupel makes UUIDs of this version. */
export function mayHaveLayout(uuid: string): boolean {
  const { version } = decodeUuid(uuid)
  return version === 7 || version === 8
}

/** Reads an id or a UUID by a layout. Returns `undefined` if no id of the layout has this form. */
export function readingOf(given: Given, layout: Layout): (Reading & { readonly id: bigint }) | undefined {
  const id = typeof given === 'bigint' ? given : idOf(given, layout)
  return id !== undefined && isId(id, layout) ? { ...read(id, layout), id } : undefined
}

function idOf(uuid: string, layout: Layout): bigint | undefined {
  try {
    return decodeUuid(uuid, layout).id
  } catch {
    // No UUID of the layout has this time, or the layout leaves too few random bits.
    return undefined
  }
}
