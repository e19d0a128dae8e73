import { show, typeError } from '../core/errors.js'
import { memoryBytes } from './memory.js'
import { maxStride } from './range.js'

const handleFormat = 'graupel segments 1'

/**
 * What a worker thread needs of segments: pass it as `workerData` or in a message, and to `createSegmentGenerator({ handle })` there.
 * It can be cloned between the threads of one process alone. Its contents are not a part of the API.
 */
export interface SegmentHandle {
  /** @internal */
  readonly format: typeof handleFormat
  /** @internal */
  readonly name: string
  /** @internal Name of the store. */
  readonly store: string
  /** @internal */
  readonly max: bigint
  /** @internal */
  readonly stride: number
  /** @internal */
  readonly callTimeoutMs: number
  /** @internal Names the channel on which threads tell each other what is new. */
  readonly channel: string
  /** @internal */
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

export function makeHandle(handle: Omit<SegmentHandle, 'format'>): SegmentHandle {
  return Object.freeze({ format: handleFormat, ...handle } as const)
}

/** @throws TypeError `ERR_OPTION_INVALID` */
export function checkHandle(handle: unknown): asserts handle is SegmentHandle {
  const { format, memory, ...others } = Object(handle) as Partial<SegmentHandle>
  if (format !== handleFormat) {
    throw typeError('ERR_OPTION_INVALID', `handle is ${show(handle)}; pass the handle of a generator of segments`)
  }
  // An ArrayBuffer is a copy, and so is what JSON has made.
  if (sharedBytes(memory) !== memoryBytes) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle comes from another process, or went through JSON, and its memory did not come along; pass it to threads of the same process alone, and create a generator in each process',
    )
  }
  const wrong = Object.entries(rules).find(([name, isFine]) => !isFine(others[name as keyof typeof others]))
  if (wrong !== undefined) {
    const [name] = wrong
    const value = show(others[name as keyof typeof others])
    throw typeError('ERR_OPTION_INVALID', `${name} of the handle is ${value}; pass the handle as the generator has it`)
  }
}

const isText = (value: unknown) => typeof value === 'string'

/** What each of the others has to be. With a forged stride, threads would give numbers of each other. */
const rules: Readonly<Record<Exclude<keyof SegmentHandle, 'format' | 'memory'>, (value: unknown) => boolean>> = {
  name: isText,
  store: isText,
  max: (value) => typeof value === 'bigint' && value >= 0n && BigInt.asUintN(64, value) === value,
  stride: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxStride,
  callTimeoutMs: (value) => typeof value === 'number' && value > 0,
  channel: isText,
}

/** How many bytes shared memory of any realm has; -1 for all else, whatever it says of itself. */
function sharedBytes(memory: unknown): number {
  try {
    const { get } = Object.getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'byteLength') as PropertyDescriptor
    return get?.call(memory)
  } catch {
    return -1
  }
}
