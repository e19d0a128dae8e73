import type { Layout } from 'graupel'
import type { Kind, UuidKind } from 'graupel/kind'
import { decodeUuid, parseUuid, uuidOf } from 'graupel/uuid'
import type { IdSource } from './id-source.js'

/** Texts of ids that are no encoding of 64 bits: UUIDs, or texts of a kind. */
export interface IdTexts {
  /** The layout of the ids. */
  readonly layout: Layout
  /**
   * Makes ids with these tags. Returns the function that writes the text of each.
   *
   * @throws GraupelError as `fillAsync`
   */
  make(source: IdSource, count: number, tags: bigint): Promise<(index: number) => string>
  /** Reads the id of a text. @throws TypeError, RangeError `ERR_ID_INVALID` */
  id(text: string): bigint
  /** Lets the next texts of a source stand for larger ids or UUIDs. @throws as `id`, `IdSource.observe` */
  observe(source: IdSource, text: string): void
}

/** @throws RangeError `ERR_LAYOUT_INVALID` if a UUID has no room for ids of the layout */
export function textsOfUuids(layout: Layout): IdTexts {
  return uuidTexts(layout, parseUuid, (text) => text)
}

/** @throws as {@link textsOfUuids} */
export function textsOfUuidKind({ text, id }: UuidKind, layout: Layout): IdTexts {
  return uuidTexts(layout, text, id)
}

export function textsOfKind({ text, id }: Kind, layout: Layout): IdTexts {
  return {
    layout,
    async make(source, count, tags) {
      const ids = await source.fill(new BigUint64Array(count), tags)
      return (index) => text(ids[index] as bigint)
    },
    id,
    observe: (source, given) => source.observe(id(given)),
  }
}

function uuidTexts(layout: Layout, write: (uuid: Uint8Array) => string, read: (text: string) => string): IdTexts {
  // A layout without room is refused before ids are made, so HEAD is refused as GET is, and a kind at the
  // start.
  uuidOf(0n, layout)
  return {
    layout,
    async make(source, count, tags) {
      const bytes = await source.fillUuids(count, tags)
      return (index) => write(bytes.subarray(16 * index, 16 * index + 16))
    },
    id: (text) => decodeUuid(read(text), layout).id,
    observe: (source, text) => source.observeUuid(read(text)),
  }
}
