import { rangeError } from '../../core/errors.js'
import { type Fetch, refusalOfTls } from '../http.js'
import { decoded } from '../record.js'
import { type Client, opened, type StoreKind } from './kind.js'
import { cut, type StoreUrl } from './url.js'

// The stores that need no client but fetch.

const etcd: Client = {
  name: undefined,
  async open(_, url, { names }) {
    const { url: endpoints, user, password } = partsOf(url, 2379, [])
    if ((user === '') !== (password === '')) {
      throw rangeError(
        'ERR_OPTION_INVALID',
        'store has a user without a password, or a password without a user; give user and password',
        'store',
      )
    }
    const { etcdStore } = await import('../etcd.js')
    const sent = fetchByUrl(fetch, 'etcd', trustByNode, 'etcd:')
    return opened(etcdStore({ url: endpoints, fetch: sent, ...(user !== '' && { user, password }), ...names }))
  },
}

const consul: Client = {
  name: undefined,
  async open(_, url, { names }) {
    const { url: endpoints, user, password, query } = partsOf(url, 8500, ['datacenter', 'namespace'])
    // Consul has no users, so consul://TOKEN@host means the same as consul://:TOKEN@host.
    const token = password || user
    const { consulStore } = await import('../consul.js')
    const sent = fetchByUrl(fetch, 'Consul', trustByNode, 'consul:')
    return opened(consulStore({ url: endpoints, fetch: sent, ...(token !== '' && { token }), ...query, ...names }))
  },
}

const service: Client = {
  name: undefined,
  async open(_, url, { names }) {
    for (const name of ['prefix', 'assumeDurable'] as const) {
      if (names[name] === undefined) continue
      throw rangeError(
        'ERR_OPTION_INVALID',
        `${name} is not for ${url.scheme}; give it to the graupel-server, whose store it is`,
        name,
      )
    }
    const { url: endpoints, user, password } = partsOf(url, 4728, [])
    const token = password || user
    const { serviceStore } = await import('../service.js')
    const sent = fetchByUrl(fetch, 'graupel-server', trustByNode, 'graupel+http:')
    const options = { url: endpoints, fetch: sent, ...(token !== '' && { token }) }
    try {
      return await opened(serviceStore(options))
    } catch (error) {
      // The error about `durable` alone means that the store of the service may forget.
      if (Object(error).option !== 'durable') throw error
      return opened(serviceStore({ ...options, durable: false }))
    }
  },
}

const trustByNode = 'set NODE_EXTRA_CA_CERTS to the file of its authority'

/**
 * Makes a `fetch` whose errors have remedies that a URL can have. @param trust, plain - As in {@link
 * refusalOfTls}.
 */
export function fetchByUrl(send: Fetch, name: string, trust: string, plain: string): Fetch {
  return async (url, init) => {
    try {
      return await send(url, init)
    } catch (error) {
      throw refusalOfTls(error, `${name} at ${new URL(url).origin}`, trust, plain) ?? error
    }
  }
}

const withTls = ['etcds:', 'consuls:', 'graupel+https:']

/**
 * Reads `scheme://user:password@host:port,host:port/path?name=value`. @throws RangeError
 */
function partsOf(url: StoreUrl, port: number, names: readonly string[]) {
  const { scheme, address, credentials } = url
  const [hosts, path] = cut(address, '/')
  if (!hosts.split(',').every((host) => URL.canParse(`http://${host}`))) {
    throw rangeError('ERR_OPTION_INVALID', `store has no host; write ${scheme}//127.0.0.1:${port}`, 'store')
  }
  const query = url.parameters(names)
  const base = `${withTls.includes(scheme) ? 'https' : 'http'}://`
  const endpoints = hosts
    .split(',')
    .map((host) => `${base}${/:\d+$/.test(host) ? host : `${host}:${port}`}${path === undefined ? '' : `/${path}`}`)
  const [user, password = ''] = cut(credentials, ':')
  return { url: endpoints, user: decoded(user), password: decoded(password), query }
}

export const etcdKind: StoreKind = { schemes: ['etcd:', 'etcds:'], named: 'prefix', clients: [etcd] }
export const serviceKind: StoreKind = {
  schemes: ['graupel+http:', 'graupel+https:'],
  named: 'prefix',
  clients: [service],
}
export const consulKind: StoreKind = { schemes: ['consul:', 'consuls:'], named: 'prefix', clients: [consul] }
