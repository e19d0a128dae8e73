import { GraupelError, rangeError, show } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { credential, type Fetch, type HttpAnswer, type HttpOptions, HttpService, parsed } from './http.js'
import type { Store } from './store.js'

export type { Fetch }

/** The options of {@link serviceStore}. */
export interface ServiceStoreOptions extends HttpOptions {
  /** A token of the service that allows leases, if the service has tokens. */
  readonly token?: string
  /**
   * Whether the store of the service never forgets what it has acknowledged. The service says so with each
   * answer, and an answer that differs is refused. @default true
   */
  readonly durable?: boolean
}

const rows = {
  url: {},
  token: { read: credential },
  durable: { read: flag, byDefault: true },
  fetch: {},
} satisfies Rows<ServiceStoreOptions>

const isThisService = 'is this graupel-server with --leases? The URL ends where /v1 begins'

/**
 * A store in a `graupel-server` that was started with `--leases`, by `fetch`. The service forwards each call
 * to its own store, so its compare-and-swap counts. Durable if that store is: embedded SQLite, etcd and
 * others are, and for Redis and others the client has to pass `durable: false`.
 *
 * Every call is one request. With several URLs, a server that fails or does not answer costs one call. All
 * servers have to have one store: a durable store has a name, and an answer with another name is refused. The
 * clock is the clock of the service's store. A token needs `allow=leases`, and `allow=numbers` for segments
 * and counters.
 *
 * @param options - `{ url: 'http://127.0.0.1:4728' }` is enough if the service has no tokens.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNAVAILABLE` if the URL, the token or the certificate has to be changed, or if
 * the service lends no leases; with GraupelError `ERR_STORE_UNSAFE` if the service has another store than
 * before or does not name it, if a cache answers, or if the store is durable or not, other than `durable`
 * says; and otherwise with an Error that has the reason or the answer. No message contains the token.
 * @example
 * const store = serviceStore({ url: process.env.GRAUPEL_URL ?? 'http://127.0.0.1:4728' })
 * const lease = await acquireLease({ store })
 * await lease.release()
 */
export function serviceStore(options: ServiceStoreOptions): Store {
  const { token, durable, ...access } = readTable(options, rows, '{ durable: false }')
  // The error message of fetch would show the token.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw rangeError('ERR_OPTION_INVALID', 'token has a space, a line break or a letter that is not ASCII; trim it')
  }
  const service = new HttpService('graupel-server', access)
  let identity: string | null = null

  const checkStore = (answer: HttpAnswer) => {
    const said = answer.header('graupel-durable')
    if (said !== 'true' && said !== 'false') throw answer.error(isThisService)
    if ((said === 'true') !== durable) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `durable is ${durable}, and the store of the service ${durable ? 'may forget what it has acknowledged' : 'never forgets'}; pass durable: ${!durable} in all processes`,
        { option: 'durable' },
      )
    }
    const found = answer.header('graupel-store')
    if (durable && found === null) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        'the answer does not name the store, so two servers with two stores could not be told apart; let the proxies before the service pass the header Graupel-Store on',
      )
    }
    if (answer.header('age') !== null) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        'the answer comes from a cache, which may be older than the record; let nothing cache the answers of /v1/store',
      )
    }
    identity ??= found
    if (found !== identity) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `the service has the store ${show(found)}, and had ${show(identity)} before, so two processes could have one node; give all servers of url one --store`,
      )
    }
  }

  const ask = async (
    path: string,
    signal: AbortSignal | undefined,
    body?: object,
  ): Promise<Record<string, unknown>> => {
    const answer = await service.request(
      {
        method: body === undefined ? 'GET' : 'POST',
        path: `/v1/store${path}`,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        isRepeatable: body === undefined,
        secret: token,
      },
      signal,
    )
    const said = parsed(answer.text)
    // The service's own refusals have a remedy.
    if (typeof Object(said).code === 'string') throw answer.error()
    if (answer.status !== 200) throw answer.error(isThisService)
    checkStore(answer)
    if (typeof said !== 'object' || said === null) throw answer.error(isThisService)
    return said as Record<string, unknown>
  }
  const of = (name: 'key' | 'folder', value: string) => `?${new URLSearchParams({ [name]: value })}`
  const ofKey = (key: string | undefined) => (key === undefined ? '' : of('key', key))

  // StoreCalls checks what these calls return.
  return {
    name: 'service',
    durable,
    async read(key, signal) {
      return ((await ask(`/record${of('key', key)}`, signal))['record'] ?? undefined) as never
    },
    async list(folder, signal) {
      return (await ask(`/records${of('folder', folder)}`, signal))['records'] as never
    },
    async write(key, value, expected, signal) {
      const { version } = await ask('/write', signal, { key, value, expected: expected ?? null })
      return (version ?? undefined) as never
    },
    async remove(key, expected, signal) {
      return (await ask('/remove', signal, { key, expected }))['removed'] as never
    },
    async nowMs(signal, key) {
      return (await ask(`/time${ofKey(key)}`, signal))['nowMs'] as never
    },
    ...(!durable && {
      async incarnation(signal, key) {
        return (await ask(`/incarnation${ofKey(key)}`, signal))['incarnation'] as never
      },
    }),
    async place(signal) {
      return (await ask('/place', signal))['place'] as never
    },
    async advice(signal) {
      return (await ask('/place', signal))['advice'] as never
    },
  }
}
