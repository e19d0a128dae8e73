import { rangeError } from '../../core/errors.js'
import { fetchTrusting, readText } from '../kubernetes/pod.js'
import type { KubernetesStoreOptions } from '../kubernetes.js'
import { fetchByUrl, opened } from './fetched.js'
import type { Client, StoreKind } from './kind.js'
import type { StoreUrl } from './url.js'

const form = 'kubernetes://HOST:PORT/NAMESPACE?token-file=FILE&ca-file=FILE'

const api: Client = {
  name: undefined,
  async open(_, url, { names }) {
    const { kubernetesStore } = await import('../kubernetes.js')
    return opened(kubernetesStore({ ...names, ...placeOf(url) }))
  },
}

/**
 * Reads the place of a cluster. `kubernetes:` is the cluster in which the program runs. The URL names the
 * file of a token, because every user of the host can read the arguments of a command.
 *
 * @throws RangeError
 */
function placeOf(url: StoreUrl): KubernetesStoreOptions {
  if (url.rest === '') return {}
  const place = URL.canParse(url.text) ? new URL(url.text) : undefined
  const [, namespace = '', ...more] = place?.pathname.split('/') ?? []
  if (!place?.host || namespace === '' || more.length > 0 || place.username || place.password) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store names no cluster and namespace; write ${form}, kubernetes+http: for kubectl proxy, or kubernetes: in a pod`,
      'store',
    )
  }
  for (const name of place.searchParams.keys()) {
    if (name === 'token-file' || name === 'ca-file') continue
    throw rangeError('ERR_OPTION_INVALID', `store has a parameter '${name}'; write ${form}`, 'store')
  }
  const tokenFile = place.searchParams.get('token-file')
  const caFile = place.searchParams.get('ca-file')
  const sent = caFile ? fetchTrusting(() => readText(caFile)) : fetch
  const trust = `${caFile ? 'correct' : 'add'} ca-file=FILE, with the certificate-authority of the kubeconfig`
  const isPlain = url.scheme === 'kubernetes+http:'
  return {
    url: `${isPlain ? 'http' : 'https'}://${place.host}`,
    namespace,
    ...(tokenFile && { headers: async () => ({ authorization: `Bearer ${(await readText(tokenFile)).trim()}` }) }),
    ...(!isPlain && { fetch: fetchByUrl(sent, 'the Kubernetes API', trust, 'kubernetes+http:') }),
  }
}

export const kubernetesKind: StoreKind = {
  schemes: ['kubernetes:', 'kubernetes+http:'],
  named: 'prefix',
  clients: [api],
}
