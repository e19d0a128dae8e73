import { platform } from '#platform'
import { type Clock, onAbort } from '../core/timing.js'
import type { Field, layouts } from '../layout/index.js'
import { Client } from './client.js'
import type { IdClient, NumberClient } from './id-client.js'
import { type ConnectOptions, checkConnectOptions, type SegmentConnectOptions } from './options.js'

/**
 * Connects to an id service (`graupel-server`), and fetches ids ahead, so that calls do not wait for it (docs/client.md). No id is handed
 * out twice. The ids that are left when a client ends are never used.
 *
 * @param options - `url` or `urls` is required; {@link ConnectOptions} describes all. With `segment`, numbers of that segment.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`; RangeError
 * `ERR_LAYOUT_DECODE_ONLY`; GraupelError
 * `ERR_SERVICE_UNAVAILABLE`, `ERR_SERVICE_REFUSED`, `ERR_SERVICE_INVALID`; the reason of `signal`.
 * @example
 * const ids = await connect({ url: 'http://127.0.0.1:4728' })
 * ids.next() // a bigint
 * ids.close()
 */
export function connect(options: SegmentConnectOptions): Promise<NumberClient>
export function connect<const F extends readonly Field[] = layouts.Twitter>(
  options: ConnectOptions<F>,
): Promise<IdClient<F>>
export async function connect(options: ConnectOptions | SegmentConnectOptions): Promise<BaseOf> {
  return connectBy(options, platform)
}

type BaseOf = IdClient & NumberClient

/** Connects by clocks of a test. @internal */
export async function connectBy(options: ConnectOptions | SegmentConnectOptions, clocks: Clock): Promise<BaseOf> {
  const resolved = checkConnectOptions(options)
  const { signal } = resolved
  signal?.throwIfAborted()
  const client = new Client(resolved, clocks)
  const cancel = onAbort(signal, () => client.close())
  try {
    await client.begin()
    return client as BaseOf
  } catch (error) {
    client.close()
    throw signal?.aborted ? signal.reason : error
  } finally {
    cancel()
  }
}
