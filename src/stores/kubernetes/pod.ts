import { platform } from '#platform'
import { GraupelError, typeError } from '../../core/errors.js'
import type { Fetch } from '../http.js'
import type { Access } from './api.js'

// The access of a process in a pod to the API of its cluster. Each function loads Node's modules when it is
// called, so that a bundle for browsers can contain this file.

/** The folder in which Kubernetes puts the credentials of a pod. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Returns the access to the API of the cluster that this process runs in, by the ServiceAccount of its pod.
 *
 * @param namespace - Defaults to the pod's namespace.
 * @throws TypeError `ERR_OPTION_INVALID` if the process is in no pod, or its pod has no token.
 */
export function podAccess(namespace?: string, folder = accountFolder): Access & { namespace: string } {
  const [host, port] = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'].map(platform.environmentVariable)
  if (!host || !port) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'kubernetesStore() runs in no pod, because KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set; pass url and namespace',
    )
  }
  const read = (name: string) => readText(`${folder}/${name}`)
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace ?? ownNamespace(folder),
    // Kubernetes replaces the token each hour, and may replace the certificate. Reading them takes a
    // hundredth of the time of a request.
    headers: async () => ({ authorization: `Bearer ${(await read('token')).trim()}` }),
    fetch: fetchTrusting(() => read('ca.crt')),
  }
}

function ownNamespace(folder: string): string {
  const file = `${folder}/namespace`
  try {
    return process.getBuiltinModule('node:fs').readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `kubernetesStore() cannot read ${file} (${(error as NodeJS.ErrnoException).code}); set automountServiceAccountToken for the pod, or pass url and namespace`,
    )
  }
}

/** Reads a file. @throws GraupelError `ERR_STORE_UNAVAILABLE` */
export async function readText(file: string): Promise<string> {
  try {
    return await process.getBuiltinModule('node:fs').promises.readFile(file, 'utf8')
  } catch (cause) {
    throw new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `the store 'kubernetes' cannot read ${file} (${(cause as NodeJS.ErrnoException).code}), which every request needs; make the file readable`,
      { cause },
    )
  }
}

/** Makes a `fetch` that trusts the certificates of one authority. Node's `fetch` has no such option. */
export function fetchTrusting(readCa: () => Promise<string>): Fetch {
  const { Agent, request } = process.getBuiltinModule('node:https')
  let trusted: string | undefined
  let agent = new Agent()
  return async (url, { method, headers, body, signal }) => {
    const ca = await readCa()
    if (ca !== trusted) agent = new Agent({ keepAlive: true, ca })
    trusted = ca
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent, ...(signal && { signal }) }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode as number,
            headers: { get: (name) => answer.headers[name.toLowerCase()]?.toString() ?? null },
            text: async () => Buffer.concat(parts).toString(),
          }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
