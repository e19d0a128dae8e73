import { show, typeError } from '../../core/errors.js'
import { defineLayout, type Field, type Layout } from '../../layout/index.js'
import { SharedLease, sharedBytes } from './lease-view.js'

/**
 * The part of a lease that another thread of the process needs: pass it as `workerData` or in a message, and there to
 * `createGenerator({ lease })`. It cannot be sent to another process. Its contents are not a part of the API.
 */
export interface LeaseHandle<F extends readonly Field[] = readonly Field[]> {
  /** @internal */
  readonly format: typeof handleFormat
  /** @internal The specification of the layout. */
  readonly layout: { name: string; epochMs: number; tickMs: number; fields: F; unsigned: boolean; decodeOnly: boolean }
  /** @internal */
  readonly namespace: string
  /** @internal A name that no other lease has. */
  readonly token: string
  /** @internal */
  readonly store: string
  /** @internal The engine of the lease's thread, which has to be able to stop the generators of all threads. */
  readonly engine: 'native' | 'js'
  /** @internal */
  readonly windowMs: number
  /** @internal */
  readonly memory: SharedArrayBuffer | ArrayBuffer
}

const handleFormat = 'graupel lease 2'

/** Makes a handle, which can be cloned. */
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

/** The option `lease`, checked. */
export interface ResolvedLease<F extends readonly Field[] = readonly Field[]> {
  readonly handle: LeaseHandle<F>
  readonly layout: Layout<F>
  readonly shared: SharedLease
}

/**
 * Reads the option `lease`: a lease, or its handle.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function readLeaseOption<F extends readonly Field[]>(lease: unknown): ResolvedLease<F> {
  const given = Object(lease) as { handle?: unknown }
  const isHandle = Object.hasOwn(given, 'format')
  const handle = Object(isHandle ? given : given.handle) as LeaseHandle<F>
  if (handle.format !== handleFormat) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `lease is ${show(lease)}; pass what acquireLease() of graupel/lease resolves to, or its handle in another thread`,
    )
  }
  const { memory } = handle
  const kind = Object.prototype.toString.call(memory).slice(8, -1)
  const isMemory = (kind === 'SharedArrayBuffer' || kind === 'ArrayBuffer') && memory.byteLength >= sharedBytes
  // An ArrayBuffer is a copy, except on platforms without shared memory.
  if (!isMemory || (kind === 'ArrayBuffer' && isHandle && typeof SharedArrayBuffer === 'function')) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'the handle of the lease has lost its memory, in another process or in JSON; pass the handle to threads of the same process, and acquire a lease in each process',
    )
  }
  const layout = (layouts.get(handle) ?? defineLayout({ ...handle.layout })) as Layout<F>
  return { handle, layout, shared: new SharedLease(memory) }
}
