import { rangeError } from '../../core/errors.js'
import { fetchTrusting, readText } from '../kubernetes/pod.js'
import type { KubernetesStoreOptions } from '../kubernetes.js'
import { fetchByUrl } from './fetched.js'
import { type Client, opened, type StoreKind } from './kind.js'
import type { StoreUrl } from './url.js'

const form = 'kubernetes://HOST:PORT/NAMESPACE?token-file=FILE&ca-file=FILE'

const api: Client = {
  name: undefined,
  async open(_, url, { names }) {
    const { kubernetesStore } = await import('../kubernetes.js')
    return opened(kubernetesStore({ ...names, ...readCluster(url) }))
  },
}

/**
 * Reads which cluster a URL names. `kubernetes:` is the cluster in which the program runs. The URL names the
 * file of a token, because every user of the host can read the arguments of a command.
 *
 * @throws RangeError
 */
function readCluster(url: StoreUrl): KubernetesStoreOptions {
  if (url.rest === '') return {}
  const refusal = (text: string) => rangeError('ERR_OPTION_INVALID', text, 'store')
  const parsed = URL.canParse(url.text) ? new URL(url.text) : undefined
  const [, namespace = '', ...more] = parsed?.pathname.split('/') ?? []
  if (!parsed?.host || namespace === '' || more.length > 0 || parsed.username || parsed.password) {
    throw refusal(
      `store names no cluster and namespace; write ${form}, kubernetes+http: for kubectl proxy, or kubernetes: in a pod`,
    )
  }
  for (const name of parsed.searchParams.keys()) {
    if (name !== 'token-file' && name !== 'ca-file') throw refusal(`store has a parameter '${name}'; write ${form}`)
    if (parsed.searchParams.getAll(name).length === 1) continue
    throw refusal(`store has the parameter ${name} twice; write ${form}`)
  }
  if (url.text.includes('#')) throw refusal("store has a fragment; write %23 for a '#' in the name of a file")
  const tokenFile = parsed.searchParams.get('token-file')
  const caFile = parsed.searchParams.get('ca-file')
  const isPlain = url.scheme === 'kubernetes+http:'
  if (isPlain && caFile !== null) {
    throw refusal(`store has a ca-file, and kubernetes+http: has no TLS; write ${form}`)
  }
  const sent = caFile ? fetchTrusting(() => readText(caFile)) : fetch
  const trust = `${caFile ? 'correct' : 'add'} ca-file=FILE, with the certificate-authority of the kubeconfig`
  return {
    url: `${isPlain ? 'http' : 'https'}://${parsed.host}`,
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
