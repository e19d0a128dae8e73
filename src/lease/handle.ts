import { show, typeError } from '../core/errors.js'
import { defineLayout, type Field, type Layout } from '../layout/index.js'
import { SharedLease, sharedBytes } from './shared.js'

/**
 * What a worker thread needs of a lease: pass it as `workerData` or in a message, and to `createGenerator({ lease })` there. It can
 * be cloned between the threads of one process alone. Its contents are not a part of the API.
 */
export interface LeaseHandle<F extends readonly Field[] = readonly Field[]> {
  /** @internal */
  readonly format: typeof handleFormat
  /** @internal The specification of the layout. */
  readonly layout: { name: string; epochMs: number; tickMs: number; fields: F; unsigned: boolean; decodeOnly: boolean }
  /** @internal */
  readonly namespace: string
  /** @internal Names the lease; no other has it. */
  readonly token: string
  /** @internal */
  readonly store: string
  /** @internal The engine of the thread that has the lease, which has to be able to stop the generators of all threads. */
  readonly engine: 'native' | 'js'
  /** @internal */
  readonly windowMs: number
  /** @internal */
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

const handleFormat = 'graupel lease 1'

/** @returns A handle that can be cloned. */
export function makeHandle<F extends readonly Field[]>(
  layout: Layout<F>,
  lease: Omit<LeaseHandle<F>, 'format' | 'layout'>,
): LeaseHandle<F> {
  const handle = Object.freeze({ format: handleFormat, layout: Object.freeze({ ...layout }), ...lease } as const)
  layouts.set(handle, layout)
  return handle
}

/** The layouts of the handles that were made in this thread. */
const layouts = new WeakMap<object, Layout>()

/** What the option `lease` stands for. */
export interface LeaseSettings<F extends readonly Field[]> {
  readonly handle: LeaseHandle<F>
  readonly layout: Layout<F>
  readonly shared: SharedLease
}

/**
 * Reads the option `lease`: a lease, or its handle.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function readLeaseOption<F extends readonly Field[]>(lease: unknown): LeaseSettings<F> {
  const of = Object(lease) as { handle?: unknown }
  // A handle has a format of its own, and a lease has a handle.
  const isHandle = Object.hasOwn(of, 'format')
  const handle = Object(isHandle ? of : of.handle) as LeaseHandle<F>
  if (handle.format !== handleFormat) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `lease is ${show(lease)}; pass what acquireLease() of graupel/lease resolves to, or its handle in another thread`,
    )
  }
  const { memory } = handle
  const kind = Object.prototype.toString.call(memory).slice(8, -1)
  const isMemory = (kind === 'SharedArrayBuffer' || kind === 'ArrayBuffer') && memory.byteLength >= sharedBytes
  // An ArrayBuffer is a copy, unless it is the lease's own, on platforms without shared memory.
  if (!isMemory || (kind === 'ArrayBuffer' && isHandle && typeof SharedArrayBuffer === 'function')) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle of the lease comes from another process, or went through JSON, and its memory did not come along; pass it to threads of the same process alone, and acquire a lease in each process',
    )
  }
  const layout = (layouts.get(handle) ?? defineLayout({ ...handle.layout })) as Layout<F>
  return { handle, layout, shared: new SharedLease(memory) }
}
