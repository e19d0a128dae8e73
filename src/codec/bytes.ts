import { rangeError, show, typeError } from '../core/errors.js'
import { bufferGetter, byteOffsetGetter, isBytes, lengthGetter } from '../core/typed-array.js'

/** A `Uint8Array<ArrayBuffer>`, in a form that TypeScript before 5.7 can read in the declarations: there it has no parameter. */
export type Bytes = ReturnType<typeof Uint8Array.of>

/** Eight bytes, the most significant first, so that they sort as the ids do. */
export function writeBytes(id: bigint): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, id)
  return bytes
}

/** @throws TypeError, RangeError `ERR_ID_INVALID` unless it is a Uint8Array (a Buffer is one) of 8 bytes. */
export function readBytes(bytes: unknown): bigint {
  if (!isBytes(bytes)) {
    throw typeError('ERR_ID_INVALID', `the bytes are ${show(bytes)} (${typeof bytes}); pass a Uint8Array of 8 bytes`)
  }
  const length = lengthGetter.call(bytes)
  if (length !== 8) {
    throw rangeError('ERR_ID_INVALID', `there are ${length} bytes; an id has exactly 8, the most significant first`)
  }
  return new DataView(bufferGetter.call(bytes), byteOffsetGetter.call(bytes), 8).getBigUint64(0)
}
