import { GraupelError, rangeError, show, typeError } from '../errors.js'
import { type Access, type Fetch, type Lease, LeaseApi } from './kubernetes/api.js'
import { holderOf, maxLabel, maxName, nameOf } from './kubernetes/names.js'
import { podAccess } from './kubernetes/pod.js'
import { checkStoreOptions, showNoText } from './options.js'
import type { Store, StoreEntry } from './store.js'
import { newVersion } from './version.js'

export interface KubernetesStoreOptions {
  /** Where the Leases are; it has to exist. @default that of the pod. Needed with `url`. */
  namespace?: string
  /** What the names of its Leases begin with. @default 'graupel' */
  prefix?: string
  /** Where the API is, such as `http://127.0.0.1:8001` of `kubectl proxy`. @default that of the cluster in which the process runs */
  url?: string
  /** With `url`: what each request carries, such as `authorization`, or a function that returns that. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)
  /** With `url`: what is called in place of the global `fetch`. */
  fetch?: Fetch
  /** Always true: what the API acknowledges, etcd has decided by consensus. */
  durable?: true
}

const labels = { manager: 'app.kubernetes.io/managed-by', folder: 'graupel/folder' } as const
const notes = { key: 'graupel/key', value: 'graupel/value', version: 'graupel/version' } as const

/**
 * A store in Leases of the Kubernetes API (coordination.k8s.io/v1), one for each key. Durable, as etcd is.
 *
 * Without `url` the process has to run in a pod: its ServiceAccount's token and the cluster's certificate are read for each request,
 * so that they may be replaced. A Role has to allow get, list, create and patch of leases in the namespace. The clock is that of
 * the API server, in whole seconds.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`, also where the process runs in no pod; TypeError `ERR_OPTION_UNKNOWN`. Its
 * functions reject with an Error where the API does not answer, asks to wait or fails; with GraupelError
 * `ERR_STORE_UNAVAILABLE` where a token, a right, the namespace or trust in a certificate is missing, or another service answers;
 * and with GraupelError `ERR_STORE_INVALID` where a Lease of its name was made by others.
 * @example
 * const url = process.env.KUBERNETES_URL // such as http://127.0.0.1:8001 of kubectl proxy; in a pod leave it out
 * const store = kubernetesStore({ url, namespace: 'default' })
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 */
export function kubernetesStore(options: KubernetesStoreOptions = {}): Store {
  checkStoreOptions(options, 'prefix', ['namespace', 'url', 'headers', 'fetch'])
  const { prefix = 'graupel' } = options
  const { access, namespace } = accessOf(options)
  const api = new LeaseApi(access, namespace)
  const textOf = (key: string) => `${prefix}/${key}`
  const nameFor = (key: string) => nameOf(textOf(key), maxName)
  const folderLabel = (folder: string) => nameOf(textOf(folder).slice(0, -1), maxLabel)

  const entryOf = ({ metadata }: Lease): StoreEntry => {
    const { [notes.key]: text, [notes.value]: value, [notes.version]: version } = metadata?.annotations ?? {}
    if (text?.startsWith(textOf('')) && value !== undefined && version) {
      return { key: text.slice(textOf('').length), value, version }
    }
    throw notOurs(metadata?.name, namespace)
  }
  const read = async (key: string, signal?: AbortSignal) => {
    const found = await api.get(await nameFor(key), signal)
    if (found === undefined) return undefined
    const entry = entryOf(found)
    if (entry.key !== key) throw notOurs(found.metadata?.name, namespace)
    return entry
  }
  const create = async (key: string, value: string, version: string, signal?: AbortSignal) => {
    const folder = key.slice(0, key.lastIndexOf('/') + 1)
    return api.create(
      {
        metadata: {
          name: await nameFor(key),
          labels: { [labels.manager]: 'graupel', [labels.folder]: await folderLabel(folder) },
          annotations: { [notes.key]: textOf(key), [notes.value]: value, [notes.version]: version },
        },
        spec: specOf(value),
      },
      signal,
    )
  }
  const update = async (key: string, value: string, version: string, expected: string, signal?: AbortSignal) => {
    // A PUT has to name a resourceVersion, which an equal PUT leaves as it is, which begins again from an older one when etcd is
    // restored, and by which a Lease that was deleted is made anew. The test in a patch is of this version, and in the same step.
    const { lease, refused } = await api.patch(
      await nameFor(key),
      [
        { op: 'test', path: pathOf(notes.version), value: expected },
        { op: 'add', path: pathOf(notes.version), value: version },
        { op: 'add', path: pathOf(notes.value), value },
        { op: 'add', path: '/spec', value: specOf(value) },
      ],
      signal,
    )
    // A test that fails has the same status as a patch that breaks a rule.
    if (refused !== undefined && (await read(key, signal))?.version === expected) throw refused
    return lease
  }

  return {
    name: 'kubernetes',
    durable: true,
    read,
    async list(folder, signal) {
      const leases = await api.list(`${labels.folder}=${await folderLabel(folder)}`, signal)
      // Labels may be changed by others.
      const isIn = ({ key }: StoreEntry) => key.startsWith(folder) && !key.includes('/', folder.length)
      return leases.map(entryOf).filter(isIn)
    },
    async write(key, value, expected, signal) {
      const version = newVersion()
      const lease = await (expected === undefined
        ? create(key, value, version, signal)
        : update(key, value, version, expected, signal))
      if (lease === undefined) return undefined
      // Such as by an admission webhook that strips annotations.
      if (entryOf(lease).version !== version) throw notOurs(lease.metadata?.name, namespace)
      return version
    },
    nowMs: async (signal) => api.nowMs(await nameFor('clock'), signal),
  }
}

function specOf(value: string): { holderIdentity?: string } {
  const holder = holderOf(value)
  return holder === undefined ? {} : { holderIdentity: holder }
}

/** Of an annotation, as a JSON Pointer (RFC 6901). */
function pathOf(note: string): string {
  return `/metadata/annotations/${note.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function notOurs(name: string | undefined, namespace: string): GraupelError {
  return new GraupelError(
    'ERR_STORE_INVALID',
    `the Lease ${show(name)} in the namespace '${namespace}' has not the annotations that graupel has written; find out what has changed it, and pass another prefix if it is not graupel's`,
  )
}

/** @throws TypeError, RangeError `ERR_OPTION_INVALID` */
function accessOf(options: KubernetesStoreOptions): { access: Access; namespace: string } {
  const { url, headers, fetch: ownFetch, namespace, durable } = options
  if ((durable as boolean | undefined) === false) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      'durable is false; what the Kubernetes API acknowledges is decided by consensus, and it has no name for the life of a server that forgets: leave durable out',
    )
  }
  if (
    namespace !== undefined &&
    !(typeof namespace === 'string' && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace))
  ) {
    throw invalid('namespace', show(namespace), 'the name of a namespace: 1 to 63 small letters, digits and hyphens')
  }
  if (url === undefined) {
    for (const name of ['headers', 'fetch'] as const) {
      if (options[name] !== undefined) throw invalid(name, 'given without url', 'url, too, or leave it out')
    }
    const access = podAccess(namespace)
    return { access, namespace: access.namespace }
  }
  const place = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  const isPlain = place && /^https?:$/.test(place.protocol) && !place.username && !place.password
  if (!isPlain || place.search || place.hash) {
    throw invalid('url', showNoText(url), 'where the API is, such as https://10.0.0.1:6443, and credentials by headers')
  }
  if (namespace === undefined) throw invalid('namespace', 'missing', 'it, as url is given')
  if (ownFetch !== undefined && typeof ownFetch !== 'function') throw invalid('fetch', show(ownFetch), 'a function')
  if (headers !== undefined && typeof headers !== 'function' && (typeof headers !== 'object' || headers === null)) {
    throw invalid('headers', showNoText(headers), 'an object, or a function that returns one')
  }
  const access = {
    url: url.replace(/\/+$/, ''),
    headers: async () => (typeof headers === 'function' ? headers() : (headers ?? {})),
    fetch: ownFetch ?? ((at, request) => fetch(at, request)),
  } satisfies Access
  return { access, namespace }
}

function invalid(option: string, given: string, rule: string): TypeError {
  return typeError('ERR_OPTION_INVALID', `${option} is ${given}; pass ${rule}`)
}
