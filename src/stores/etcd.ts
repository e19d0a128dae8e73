import { typeError } from '../core/errors.js'
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
  toBase64,
} from './http.js'
import { prefixRow, refuseForgetting } from './options.js'
import { endOf } from './record.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

export type { Fetch }

/** The options of {@link etcdStore}. */
export interface EtcdStoreOptions extends StoreOptions, HttpOptions {
  /** The user, if etcd has authentication enabled. Requires `password`. */
  readonly user?: string
  /** The password of the user. */
  readonly password?: string
  /** The beginning of its keys, before a `/`. @default 'graupel' */
  readonly prefix?: string
}

const rows = {
  assumeDurable: { read: flag },
  prefix: prefixRow,
  url: {},
  user: { read: credential },
  password: { read: credential },
  fetch: {},
} satisfies Rows<EtcdStoreOptions>

/** The answer to a range, a transaction or an authentication. Fields that are zero are left out. */
interface EtcdAnswer {
  readonly header?: object
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[]
  readonly succeeded?: boolean
  readonly token?: string
}

const isThisEtcd = 'is this etcd 3.4 or later, and its JSON gateway? The URL ends where /v3 begins'

/**
 * A store in etcd 3.4 and later, by its JSON gateway and `fetch`. Durable: etcd acknowledges what most of its
 * members have on their disks. Restoring a snapshot takes writes back: stop all processes before it, and
 * start them one window + `maxClockSkewMs` after the last process has ended.
 *
 * Every call, also a read, is one request that needs a quorum. With several endpoints, an endpoint that fails
 * or does not answer costs one call. The clock is the clock of the member that answers, in whole seconds. A
 * user needs `readwrite` on the keys that begin with the prefix and a slash.
 *
 * @param options - `{ url: 'http://127.0.0.1:2379' }` is enough. `assumeDurable` may not be false, because
 * the servers of etcd have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNAVAILABLE` if the URL, the user or the certificate has to be changed, and
 * otherwise with an Error that has the reason or the answer. No message contains the password or a token.
 * @example
 * const store = etcdStore({ url: process.env.ETCD_URL ?? 'http://127.0.0.1:2379' })
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 */
export function etcdStore(options: EtcdStoreOptions): Store {
  const { assumeDurable, prefix, user, password, ...access } = readTable(options, rows, '{ assumeDurable: true }')
  refuseForgetting('etcd', assumeDurable)
  if ((user === undefined) !== (password === undefined)) {
    throw typeError('ERR_OPTION_INVALID', 'user and password belong together; pass user and password')
  }
  const service = new HttpService('etcd', access)
  const remedies: readonly [RegExp, string][] = [
    [/authentication failed/, 'check user and password'],
    [/authentication is not enabled/, 'leave out user and password, or run etcdctl auth enable'],
    [/auth token|auth store is old/, 'the users of etcd have changed: try again'],
    [/user name is empty/, 'etcd has authentication enabled: pass user and password'],
    [
      /permission denied/,
      `run etcdctl role grant-permission ROLE readwrite --prefix=true ${prefix}/ for a role of the user`,
    ],
    [/etcdserver: /, 'check the health of etcd'],
  ]
  let token: string | undefined

  const send = (
    path: string,
    body: object,
    isRepeatable: boolean,
    signal: AbortSignal | undefined,
    authorization: string | undefined,
    secret = authorization,
  ) =>
    service.request(
      {
        method: 'POST',
        path: `/v3/${path}`,
        headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
        body: JSON.stringify(body),
        isRepeatable,
        secret,
      },
      signal,
    )

  const accept = (answer: HttpAnswer): EtcdAnswer => {
    if (answer.status !== 200) {
      throw answer.error(remedies.find(([reason]) => reason.test(answer.text))?.[1] ?? isThisEtcd)
    }
    const parsed = parseJson(answer, isThisEtcd) as EtcdAnswer | null
    if (typeof parsed?.header !== 'object') throw answer.error(isThisEtcd)
    return parsed
  }

  const authenticate = async (signal: AbortSignal | undefined) => {
    const answer = await send('auth/authenticate', { name: user, password }, true, signal, undefined, password)
    token = accept(answer).token
  }

  /**
   * Sends a request. Repeats it only if etcd has refused the token, because then etcd has not executed the
   * request.
   */
  const ask = async (path: string, body: object, isRepeatable: boolean, signal: AbortSignal | undefined) => {
    if (user !== undefined && token === undefined) await authenticate(signal)
    const used = token
    const answer = await send(path, body, isRepeatable, signal, used)
    if (user === undefined || !isTokenRefused(answer)) return answer
    // A restart forgets simple tokens, and a change of users outdates all tokens. A concurrent call may
    // already have fetched a token.
    if (token === used) await authenticate(signal)
    return send(path, body, isRepeatable, signal, token)
  }

  const range = async (from: string, to: string | undefined, signal: AbortSignal | undefined) => {
    const body = { key: toBase64(from), ...(to !== undefined && { range_end: toBase64(to) }) }
    const answer = await ask('kv/range', body, true, signal)
    const { kvs = [], header } = accept(answer)
    const entries = kvs.map(({ key, value = '' }): StoreEntry => {
      return entryOf(fromBase64(key).slice(prefix.length + 1), fromBase64(value))
    })
    return { entries, date: answer.header('date'), cluster: (header as { cluster_id?: string }).cluster_id }
  }

  /** Changes a key in one step if it has a version; `undefined` expects that there is no such key. */
  const change = async (at: string, expected: string | undefined, step: object, signal: AbortSignal | undefined) => {
    // etcd ignores the names of fields that it does not know, and compares with 0 in their place.
    const compare =
      expected === undefined
        ? { key: at, target: 'CREATE', result: 'EQUAL', create_revision: '0' }
        : { key: at, target: 'VALUE', result: 'EQUAL', value: toBase64(expected) }
    const { succeeded } = accept(await ask('kv/txn', { compare: [compare], success: [step] }, false, signal))
    return succeeded === true
  }

  return {
    name: 'etcd',
    durable: true,
    async read(key, signal) {
      return (await range(`${prefix}/${key}`, undefined, signal)).entries[0]
    },
    async list(folder, signal) {
      const { entries } = await range(`${prefix}/${folder}`, `${prefix}/${endOf(folder)}`, signal)
      // A key that somebody has made for the folder is no record.
      return entries.filter(({ key }) => key !== folder && !key.includes('/', folder.length))
    },
    async write(key, value, expected, signal) {
      const [at, stored] = [toBase64(`${prefix}/${key}`), storedFor(value)]
      const put = { request_put: { key: at, value: toBase64(stored) } }
      return (await change(at, expected, put, signal)) ? stored : undefined
    },
    async remove(key, expected, signal) {
      const at = toBase64(`${prefix}/${key}`)
      return change(at, expected, { request_delete_range: { key: at } }, signal)
    },
    async place(signal) {
      return `cluster ${(await range(`${prefix}/`, undefined, signal)).cluster}, keys ${prefix}/`
    },
    async advice(signal) {
      // Each write of a lease is a revision, and etcd compacts none unless it is told to.
      const body = { key: toBase64(`${prefix}/`), revision: '1', count_only: true }
      const answer = await ask('kv/range', body, true, signal)
      if (/has been compacted/.test(answer.text)) return []
      const { revision } = accept(answer).header as { revision?: string }
      return [
        `etcd still has all of its ${revision} revisions; it stops at its quota, 2 GB by default, if it never compacts: start it with --auto-compaction-retention=1h`,
      ]
    },
    async nowMs(signal) {
      return parseDate((await range(`${prefix}/`, undefined, signal)).date)
    },
  }
}

function isTokenRefused({ status, text }: HttpAnswer): boolean {
  return status === 401 || /revision of auth store is old/.test(text)
}
