import { rangeError, show } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import {
  credential,
  entryOf,
  type Fetch,
  fromBase64,
  type HttpAnswer,
  type HttpOptions,
  HttpService,
  parseDate,
  parseJson,
  storedFor,
} from './http.js'
import { prefixRow, refuseForgetting } from './options.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

export type { Fetch }

/** The options of {@link consulStore}. */
export interface ConsulStoreOptions extends StoreOptions, HttpOptions {
  /** The secret id of a token, if Consul has ACLs. */
  readonly token?: string
  /** The datacenter that has the keys. @default the agent's datacenter */
  readonly datacenter?: string
  /** The namespace that has the keys, in Consul Enterprise. @default the token's namespace */
  readonly namespace?: string
  /** The beginning of its keys, before a `/`. @default 'graupel' */
  readonly prefix?: string
}

const rows = {
  assumeDurable: { read: flag },
  prefix: prefixRow,
  url: {},
  token: { read: credential },
  datacenter: { read: credential },
  namespace: { read: credential },
  fetch: {},
} satisfies Rows<ConsulStoreOptions>

interface Row {
  readonly Key: string
  readonly Value: string | null
  readonly ModifyIndex: number
}

const isThisConsul = 'is this Consul? The URL ends where /v1 begins'

/**
 * A store in the keys and values of Consul 1.8 and later, by `fetch`. Durable: Consul acknowledges what most
 * of its servers have on their disks; `consul agent -dev` keeps nothing. Restoring a snapshot takes writes
 * back: stop all processes before it, and start them one window + `maxClockSkewMs` after the last process has
 * ended.
 *
 * Every call is one request, except that a write over a version is two. Reads are consistent. The clock is
 * the agent's clock, in whole seconds: an agent on the same host shows the host's own time. A token needs
 * `key_prefix "graupel/" { policy = "write" }`.
 *
 * @param options - `{ url: 'http://127.0.0.1:8500' }` is enough. `assumeDurable` may not be false, because
 * the servers of Consul have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNAVAILABLE` if the URL, the token or the certificate has to be changed, with
 * RangeError `ERR_OPTION_INVALID` for a key with a part that is empty, `.` or `..`, and otherwise with an
 * Error that has the reason or the answer. No message contains the token.
 * @example
 * const store = consulStore({ url: process.env.CONSUL_HTTP_ADDR ?? 'http://127.0.0.1:8500' })
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 */
export function consulStore(options: ConsulStoreOptions): Store {
  const { assumeDurable, prefix, token, datacenter, namespace, ...access } = readTable(
    options,
    rows,
    '{ assumeDurable: true }',
  )
  refuseForgetting('Consul', assumeDurable)
  // The error message of fetch would show the token.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw rangeError('ERR_OPTION_INVALID', 'token has a space, a line break or a letter that is not ASCII; trim it')
  }
  const service = new HttpService('Consul', access)
  const where = {
    ...(datacenter !== undefined && { dc: datacenter }),
    ...(namespace !== undefined && { ns: namespace }),
  }
  const remedies: readonly [RegExp, string][] = [
    [/ACL not found/, 'check the token'],
    [/Permission denied/, `pass a token whose policy has key_prefix "${prefix}/" { policy = "write" }`],
    [/"ns"/, 'leave out namespace'],
  ]

  const ask = async (
    key: string,
    query: Record<string, string>,
    signal: AbortSignal | undefined,
    method: 'GET' | 'PUT' | 'DELETE' = 'GET',
    body?: string,
  ) => {
    // fetch resolves dots, even if they are encoded, and would ask for another key. Consul redirects from
    // empty names.
    if (/\/\.{0,2}\/|\/\.{1,2}$/.test(`/${key}`)) {
      throw rangeError(
        'ERR_OPTION_INVALID',
        `the key is ${show(key)}; in Consul no part of a key may be empty, '.' or '..'`,
      )
    }
    const path = `${prefix}/${key}`.split('/').map(encodeURIComponent).join('/')
    const answer = await service.request(
      {
        method,
        path: `/v1/kv/${path}?${new URLSearchParams({ ...query, ...where })}`,
        headers: token === undefined ? {} : { 'x-consul-token': token },
        ...(body !== undefined && { body }),
        isRepeatable: method === 'GET',
        secret: token,
      },
      signal,
    )
    // For a missing key, Consul also answers 404, and sends its index.
    const isAnswer = answer.status === 200 || (answer.status === 404 && answer.header('x-consul-index') !== null)
    if (isAnswer) return answer
    throw answer.error(remedies.find(([reason]) => reason.test(answer.text))?.[1] ?? isThisConsul)
  }

  /** Asks the agent for its own datacenter, which is the nearest. No right is needed. */
  const ownDatacenter = async (signal: AbortSignal | undefined) => {
    const path = '/v1/catalog/datacenters'
    const answer = await service.request({ method: 'GET', path, headers: {}, isRepeatable: true }, signal)
    return [parseJson(answer, isThisConsul)].flat()[0]
  }

  const get = async (key: string, query: Record<string, string>, signal: AbortSignal | undefined) => {
    const answer = await ask(key, { consistent: '', ...query }, signal)
    const rows = answer.status === 404 ? [] : parseRows(answer)
    const records = rows.map(({ Key, Value, ModifyIndex }) => {
      const entry: StoreEntry = entryOf(Key.slice(prefix.length + 1), fromBase64(Value ?? ''))
      return { entry, index: ModifyIndex }
    })
    return { records, date: answer.header('date') }
  }

  /**
   * Returns the index of a record; `undefined` if it has another version. Consul only compares indexes. The
   * index belongs to the version, because one answer contained both. Each write of a cluster gets an index of
   * its own, so Consul detects every write in between. An equal value would keep the old index, but no two
   * values are equal.
   */
  const indexOf = async (key: string, expected: string, signal: AbortSignal | undefined) => {
    const [found] = (await get(key, {}, signal)).records
    return found?.entry.version === expected ? found.index : undefined
  }

  return {
    name: 'consul',
    durable: true,
    async read(key, signal) {
      return (await get(key, {}, signal)).records[0]?.entry
    },
    async list(folder, signal) {
      const { records } = await get(folder, { recurse: '' }, signal)
      const entries = records.map(({ entry }) => entry)
      // The user interface of Consul makes a key for a folder.
      return entries.filter(({ key }) => key !== folder && !key.includes('/', folder.length))
    },
    async write(key, value, expected, signal) {
      const index = expected === undefined ? 0 : await indexOf(key, expected, signal)
      if (index === undefined) return undefined
      const stored = storedFor(value)
      return parseDone(await ask(key, { cas: `${index}` }, signal, 'PUT', stored)) ? stored : undefined
    },
    async remove(key, expected, signal) {
      const index = await indexOf(key, expected, signal)
      return index !== undefined && parseDone(await ask(key, { cas: `${index}` }, signal, 'DELETE'))
    },
    async place(signal) {
      return `datacenter ${datacenter ?? (await ownDatacenter(signal))}, ${namespace === undefined ? '' : `namespace ${namespace}, `}keys ${prefix}/`
    },
    async nowMs(signal) {
      return parseDate((await get('', {}, signal)).date)
    },
  }
}

/** Reads whether a change was done. */
function parseDone(answer: HttpAnswer): boolean {
  const done = parseJson(answer, isThisConsul)
  if (typeof done === 'boolean') return done
  throw answer.error(isThisConsul)
}

function parseRows(answer: HttpAnswer): readonly Row[] {
  const rows = parseJson(answer, isThisConsul)
  if (Array.isArray(rows) && rows.every((row) => typeof row?.Key === 'string' && typeof row.ModifyIndex === 'number')) {
    return rows
  }
  throw answer.error(isThisConsul)
}
