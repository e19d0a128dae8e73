import { show, typeError } from '../core/errors.js'
import { memoryBytes } from './memory.js'
import { maxStride } from './range.js'

const handleFormat = 'graupel segments 3'

/** The numbers of a segment generator, in every thread. */
export interface SegmentInfo {
  /** @internal */
  readonly name: string
  /** @internal Name of the store. */
  readonly store: string
  /** @internal */
  readonly max: bigint
  /** @internal */
  readonly stride: number
}

/**
 * The data that a worker thread needs to take numbers of a segment generator. Pass it as `workerData` or in a
 * message, and to `createSegmentGenerator({ handle })` there. It can only be cloned between the threads of
 * one process. Its contents are not a part of the API.
 */
export interface SegmentHandle extends SegmentInfo {
  /** @internal */
  readonly format: typeof handleFormat
  /** @internal */
  readonly callTimeoutMs: number
  /** @internal Names the channel on which threads send news to each other. */
  readonly channel: string
  /** @internal */
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

/** Names a segment generator in messages. */
export function objectOf(name: string): string {
  return `the segment generator '${name}'`
}

export function makeHandle(handle: Omit<SegmentHandle, 'format'>): SegmentHandle {
  return Object.freeze({ format: handleFormat, ...handle } as const)
}

/** Checks a handle. @throws TypeError `ERR_OPTION_INVALID` */
export function checkHandle(handle: unknown): asserts handle is SegmentHandle {
  const { format, memory, ...others } = Object(handle) as Partial<SegmentHandle>
  if (format !== handleFormat) {
    throw typeError('ERR_OPTION_INVALID', `handle is ${show(handle)}; pass the handle of a segment generator`)
  }
  // An ArrayBuffer is a copy, and so is an object that JSON has made.
  if (sharedBytes(memory) !== memoryBytes) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle has no shared memory: it comes from another process, or went through JSON; pass it to threads of the same process, and create a generator in each process',
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

/**
 * The checks of the other properties. With a forged stride, a thread would give numbers of another thread.
 */
const rules: Readonly<Record<Exclude<keyof SegmentHandle, 'format' | 'memory'>, (value: unknown) => boolean>> = {
  name: isText,
  store: isText,
  max: (value) => typeof value === 'bigint' && value >= 0n && BigInt.asUintN(64, value) === value,
  stride: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxStride,
  callTimeoutMs: (value) => typeof value === 'number' && value > 0,
  channel: isText,
}

/**
 * Returns the length of shared memory of any realm, and -1 for every other value, even if it looks like
 * shared memory.
 */
function sharedBytes(memory: unknown): number {
  try {
    const { get } = Object.getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'byteLength') as PropertyDescriptor
    return get?.call(memory)
  } catch {
    return -1
  }
}
