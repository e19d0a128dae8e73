import { show, typeError } from '../errors.js'
import { memoryBytes } from './memory.js'

const handleFormat = 'graupel segments 1'

/**
 * What a worker thread needs of segments: pass it as `workerData` or in a message, and to `createSegmentGenerator({ handle })` there.
 * It can be cloned between the threads of one process alone. Its contents are not a part of the API.
 */
export interface SegmentHandle {
  readonly format: typeof handleFormat
  readonly name: string
  /** Name of the store. */
  readonly store: string
  readonly max: bigint
  readonly stride: number
  readonly callTimeoutMs: number
  /** Names the channel on which threads tell each other what is new. */
  readonly channel: string
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

export function makeHandle(handle: Omit<SegmentHandle, 'format'>): SegmentHandle {
  return Object.freeze({ format: handleFormat, ...handle } as const)
}

/** @throws TypeError `ERR_OPTION_INVALID` */
export function checkHandle(handle: unknown): asserts handle is SegmentHandle {
  const { format, memory } = Object(handle) as Partial<SegmentHandle>
  if (format !== handleFormat) {
    throw typeError('ERR_OPTION_INVALID', `handle is ${show(handle)}; pass the handle of a generator of segments`)
  }
  // An ArrayBuffer is a copy, and so is what JSON has made.
  const isShared = Object.prototype.toString.call(memory) === '[object SharedArrayBuffer]'
  if (!isShared || (memory?.byteLength ?? 0) < memoryBytes) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle comes from another process, or went through JSON, and its memory did not come along; pass it to threads of the same process alone, and create a generator in each process',
    )
  }
}
