import { GraupelError, show, showNoText, typeError } from '../core/errors.js'
import { type Resolved, type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import type { Fetch } from './http.js'
import {
  type Access,
  holderOf,
  type Lease,
  LeaseApi,
  maxLabel,
  maxName,
  nameOf,
  type Preconditions,
} from './kubernetes/api.js'
import { podAccess } from './kubernetes/pod.js'
import { prefixRow, refuseForgetting } from './options.js'
import { newVersion } from './record.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

export type { Fetch }

/** The options of {@link kubernetesStore}. */
export interface KubernetesStoreOptions extends StoreOptions {
  /**
   * The namespace of the Leases, which has to exist. Required with `url`. @default the namespace of the pod
   */
  readonly namespace?: string
  /** The beginning of the names of its Leases. @default 'graupel' */
  readonly prefix?: string
  /**
   * The address of the API, such as `http://127.0.0.1:8001` of `kubectl proxy`; or several servers of one
   * API.
   *
   * @default the API of the cluster in which the process runs
   */
  readonly url?: string | readonly string[]
  /**
   * The headers of each request, such as `authorization`, or a function that returns them. Requires `url`.
   */
  readonly headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)
  /**
   * Sends the requests. A `fetch` of your own may trust another certificate, or present a certificate.
   * Requires `url`.
   *
   * @default the global `fetch`
   */
  readonly fetch?: Fetch
}

const rows = {
  assumeDurable: { read: flag },
  prefix: prefixRow,
  namespace: {},
  url: {},
  headers: {},
  fetch: {},
} satisfies Rows<KubernetesStoreOptions>

const labels = { manager: 'app.kubernetes.io/managed-by', folder: 'graupel/folder' } as const
const notes = { key: 'graupel/key', value: 'graupel/value', version: 'graupel/version' } as const
/**
 * The uid of the Lease, and the random text of the write. It lacks the resourceVersion, because other
 * programs change that when they change a label, which is no write to the store.
 */
const versionPattern = /^(\S+) [\da-f-]{36}$/

/** The number of Leases whose resourceVersion is remembered. A folder of nodes has at most 1 024 records. */
const maxSeen = 1024

/**
 * A store in Leases of the Kubernetes API (coordination.k8s.io/v1), one for each key. Durable, as etcd is.
 *
 * Without `url` the process has to run in a pod: its ServiceAccount's token and the cluster's certificate are
 * read for each request, so that they may be replaced. A Role has to allow get, list, create and update of
 * leases in the namespace, and delete for `remove`.
 *
 * The clock is the API server's, in whole seconds. Restoring a snapshot of etcd takes writes back: stop all
 * processes before it, and start them one window + `maxClockSkewMs` after the last process has ended.
 *
 * @param options - `{}` is enough in a pod. `assumeDurable` may not be false, because the servers of the API
 * have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`, also if the process runs in no pod; TypeError
 * `ERR_OPTION_UNKNOWN`. Its functions reject with GraupelError `ERR_STORE_UNAVAILABLE` if a token, a right,
 * the namespace or trust in a certificate is missing, if another service answers, and if the API refuses a
 * request; with GraupelError `ERR_STORE_INVALID` if another program has made or changed a Lease of its name;
 * and otherwise with an Error that has the reason or the answer.
 * @example
 * // Such as http://127.0.0.1:8001 of kubectl proxy. In a pod, leave it out.
 * const url = process.env.KUBERNETES_URL
 * const store = kubernetesStore({ url, namespace: 'default' })
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 */
export function kubernetesStore(options: KubernetesStoreOptions = {}): Store {
  const { prefix, ...others } = readTable(options, rows, '{ assumeDurable: true }')
  const { access, namespace } = resolveAccess(others)
  const api = new LeaseApi(access, namespace)
  const textOf = (key: string) => `${prefix}/${key}`
  const nameFor = (key: string) => nameOf(textOf(key), maxName)
  const folderLabel = (folder: string) => nameOf(textOf(folder).slice(0, -1), maxLabel)

  /** The version and the resourceVersion that the last answer had, by the name of the Lease. */
  const seen = new Map<string, { readonly version: string; readonly resourceVersion: string }>()
  const remember = (name: string, version: string, resourceVersion: string) => {
    // The Lease that was seen last is the last one of the map.
    seen.delete(name)
    seen.set(name, { version, resourceVersion })
    const [oldest = name] = seen.keys()
    if (seen.size > maxSeen) seen.delete(oldest)
  }
  const versionOf = ({ uid, annotations }: NonNullable<Lease['metadata']>) => `${uid} ${annotations?.[notes.version]}`
  const entryOf = ({ metadata = {} }: Lease): StoreEntry => {
    const { name, resourceVersion, annotations = {} } = metadata
    const { [notes.key]: text, [notes.value]: value } = annotations
    const version = versionOf(metadata)
    if (text?.startsWith(textOf('')) && value !== undefined && versionPattern.test(version)) {
      if (name !== undefined && resourceVersion !== undefined) remember(name, version, resourceVersion)
      return { key: text.slice(textOf('').length), value, version }
    }
    throw notOurs(name, namespace)
  }
  const leaseOf = async (key: string, value: string, random: string) => {
    const folder = key.slice(0, key.lastIndexOf('/') + 1)
    const holder = holderOf(value)
    return {
      metadata: {
        name: await nameFor(key),
        labels: { [labels.manager]: 'graupel', [labels.folder]: await folderLabel(folder) },
        annotations: { [notes.key]: textOf(key), [notes.value]: value, [notes.version]: random },
      },
      spec: holder === undefined ? {} : { holderIdentity: holder },
    }
  }
  /**
   * Changes the Lease that has a version. The API compares the resourceVersion: the last seen one, and if
   * that is not known or outdated, the present one. Without the uid, an update would make a deleted Lease
   * anew.
   *
   * @param attempt - Resolves to `undefined` if the Lease is gone or has changed.
   */
  const change = async <T>(
    name: string,
    expected: string,
    attempt: (at: Preconditions) => Promise<T | undefined>,
    signal?: AbortSignal,
  ): Promise<T | undefined> => {
    const [, uid] = versionPattern.exec(expected) ?? []
    if (uid === undefined) return undefined
    const last = seen.get(name)
    const before = last?.version === expected ? last.resourceVersion : undefined
    const changed = before === undefined ? undefined : await attempt({ uid, resourceVersion: before })
    if (changed !== undefined) return changed
    // Another program may have changed a label since.
    const found = await api.get(name, signal)
    const now = found?.metadata?.resourceVersion
    if (now === undefined || now === before || versionOf(found?.metadata ?? {}) !== expected) return undefined
    return attempt({ uid, resourceVersion: now })
  }

  return {
    name: 'kubernetes',
    durable: true,
    async read(key, signal) {
      const found = await api.get(await nameFor(key), signal)
      if (found === undefined) return undefined
      const entry = entryOf(found)
      if (entry.key !== key) throw notOurs(found.metadata?.name, namespace)
      return entry
    },
    async list(folder, signal) {
      const leases = await api.list(`${labels.folder}=${await folderLabel(folder)}`, signal)
      // Other programs may change labels.
      const isIn = ({ key }: StoreEntry) => key.startsWith(folder) && !key.includes('/', folder.length)
      return leases.map(entryOf).filter(isIn)
    },
    async write(key, value, expected, signal) {
      const random = newVersion()
      const lease = await leaseOf(key, value, random)
      const update = (at: Preconditions) => api.update({ ...lease, metadata: { ...lease.metadata, ...at } }, signal)
      const written = await (expected === undefined
        ? api.create(lease, signal)
        : change(lease.metadata.name, expected, update, signal))
      if (written === undefined) return undefined
      const { version } = entryOf(written)
      // An admission webhook may have changed the annotations.
      if (!version.endsWith(random)) throw notOurs(written.metadata?.name, namespace)
      return version
    },
    async remove(key, expected, signal) {
      const name = await nameFor(key)
      const remove = async (at: Preconditions) => (await api.delete(name, at, signal)) || undefined
      return (await change(name, expected, remove, signal)) === true
    },
    place: async () => `API ${[access.url].flat().join(', ')}, namespace ${namespace}, Leases ${prefix}.…`,
    nowMs: async (signal) => api.nowMs(await nameFor('clock'), signal),
  }
}

function notOurs(name: string | undefined, namespace: string): GraupelError {
  return new GraupelError(
    'ERR_STORE_INVALID',
    `the Lease ${show(name)} in the namespace '${namespace}' has no annotations of graupel; find out who changed it, or pass another prefix`,
  )
}

/** @throws TypeError, RangeError `ERR_OPTION_INVALID` */
function resolveAccess(options: Omit<Resolved<KubernetesStoreOptions, typeof rows>, 'prefix'>): {
  access: Access
  namespace: string
} {
  const { url, headers, fetch, namespace, assumeDurable } = options
  refuseForgetting('the Kubernetes API', assumeDurable)
  if (
    namespace !== undefined &&
    !(typeof namespace === 'string' && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
  ) {
    throw invalid('namespace', show(namespace), 'the name of a namespace: 1 to 63 small letters, digits and hyphens')
  }
  if (url === undefined) {
    for (const name of ['headers', 'fetch'] as const) {
      if (options[name] !== undefined) throw invalid(name, 'given without url', 'url, or leave it out')
    }
    const access = podAccess(namespace)
    return { access, namespace: access.namespace }
  }
  if (namespace === undefined) throw invalid('namespace', 'missing', 'namespace with url')
  if (headers !== undefined && typeof headers !== 'function' && (typeof headers !== 'object' || headers === null)) {
    throw invalid('headers', showNoText(headers), 'an object, or a function that returns one')
  }
  const access = {
    url,
    fetch,
    headers: async () => (typeof headers === 'function' ? headers() : (headers ?? {})),
  }
  return { access, namespace }
}

function invalid(option: string, given: string, rule: string): TypeError {
  return typeError('ERR_OPTION_INVALID', `${option} is ${given}; pass ${rule}`)
}
