import type { Field, Layout, NodeOf } from 'graupel'
import { inSlices } from '../slices.ts'
import { nodeOf } from './issued.ts'

interface BatchOptions {
  readonly layout: Layout
  readonly node: NodeOf<readonly Field[]>
  readonly count: number
  /** The time of the ids; `undefined` stands for now. */
  readonly timeMs: number | undefined
}

/** The ids that were requested last. */
export class Batch {
  /** The part that is done, from 0 to 1; `undefined` while no ids are being made. */
  progress: number | undefined
  isCancelled = false
  ids: BigUint64Array | undefined
  layout: Layout | undefined
  /** The library's message if no ids can be made. */
  failure: string | undefined
  #abort = new AbortController()
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Makes ids. It ends a batch that is still being made. */
  async make({ layout, node, count, timeMs }: BatchOptions): Promise<void> {
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
      if (timeMs === undefined) await issued.byClock(ids, onProgress, signal)
      else await inSlices(issued.from(timeMs, ids), onProgress, signal)
      signal.throwIfAborted()
      this.ids = ids
      this.layout = layout
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
