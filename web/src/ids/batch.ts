import { type Encoding, encodeId, type Field, type GivenTags, type Layout, type NodeOf } from 'graupel'
import { uuidWriter } from '../../../src/uuid/writer.ts'
import { inSlices } from '../slices.ts'
import { writeId } from './encodings.ts'
import { nodeOf } from './issued.ts'

/** How ids that were made are written: in an encoding, or as UUIDs of version 7. */
export type WrittenAs = Encoding | 'uuid'

/**
 * @throws TypeError `ERR_ENCODING_UNKNOWN`; RangeError `ERR_LAYOUT_INVALID` if UUIDs have no room for ids of
 * the layout
 */
export function checkWrittenAs(form: WrittenAs, layout: Layout | undefined): void {
  if (form !== 'uuid') encodeId(0n, form)
  else if (layout !== undefined) uuidWriter(layout, 7)
}

interface BatchOptions {
  readonly layout: Layout
  readonly node: NodeOf<readonly Field[]>
  readonly tags?: GivenTags
  readonly count: number
  /** The time of the ids; `undefined` stands for now. */
  readonly timeMs: number | undefined
}

/** Ids that were made, with their texts. They stay as they are while other ids are made. */
export class MadeIds {
  readonly ids: BigUint64Array
  readonly layout: Layout
  /** The UUIDs that were written so far. Each id has one UUID, although its random bits are drawn. */
  readonly #uuids: string[] = []
  #writeUuid: ((id: bigint) => string) | undefined

  constructor(ids: BigUint64Array, layout: Layout) {
    this.ids = ids
    this.layout = layout
  }

  /**
   * Returns the text of an id.
   *
   * @throws RangeError `ERR_LAYOUT_INVALID`, `ERR_ID_INVALID` if a UUID has no room for ids of the layout, or
   * for the time
   */
  textOf(at: number, form: WrittenAs): string {
    const id = this.ids[at] as bigint
    if (form !== 'uuid') return writeId(id, form)
    this.#writeUuid ??= uuidWriter(this.layout, 7).text
    this.#uuids[at] ??= this.#writeUuid(id)
    return this.#uuids[at]
  }
}

/** The ids that were requested last. */
export class Batch {
  /** The part that is done, from 0 to 1; `undefined` while no ids are being made. */
  progress: number | undefined
  isCancelled = false
  made: MadeIds | undefined
  /** The library's message if no ids can be made. */
  failure: string | undefined
  #abort = new AbortController()
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Makes ids. It ends a batch that is still being made. */
  async make({ layout, node, tags = {}, count, timeMs }: BatchOptions): Promise<void> {
    this.#abort.abort()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.isCancelled = false
    this.failure = undefined
    const onProgress = (done: number) => {
      if (signal.aborted) return
      this.progress = done
      this.#onChange()
    }
    onProgress(0)
    const ids = new BigUint64Array(count)
    try {
      const issued = nodeOf(layout, node)
      if (timeMs === undefined) await issued.byClock(ids, onProgress, signal, tags)
      else await inSlices(issued.from(timeMs, ids, tags), onProgress, signal)
      signal.throwIfAborted()
      this.made = new MadeIds(ids, layout)
    } catch (error) {
      if (signal.aborted) return
      this.failure = (error as Error).message
    }
    this.progress = undefined
    this.#onChange()
  }

  cancel(): void {
    this.#abort.abort()
    this.progress = undefined
    this.isCancelled = true
    this.#onChange()
  }
}
