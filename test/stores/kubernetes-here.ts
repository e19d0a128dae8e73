import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach } from 'vitest'
import { type KubernetesStoreOptions, kubernetesStore } from '../../src/stores/kubernetes.js'
import type { Store } from '../../src/stores/store.js'
import { type ApiOptions, KubernetesApi, type StoredLease } from './kinds/kubernetes-api.ts'

// API servers in the process of a test. Each server stops at the end of its test.

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

export async function apiWith(options: ApiOptions = {}) {
  const api = new KubernetesApi(options)
  const url = await listen(api.server as Server)
  const leases = `${url}/apis/coordination.k8s.io/v1/namespaces/default/leases`
  /** Sends a request as kubectl does. */
  const ask = async (method: string, name = '', body?: object) => {
    const answer = await fetch(`${leases}${name && `/${name}`}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as StoredLease }
  }
  return {
    api,
    url,
    ask,
    kubectl: async (...words: Parameters<typeof ask>) => (await ask(...words)).body,
    open: (more: KubernetesStoreOptions = {}) => kubernetesStore({ url, namespace: 'default', ...more }),
  }
}

/** A store on a server that gives every request the same answer. */
export async function answered(listener: RequestListener, headers: Record<string, string> = {}): Promise<Store> {
  return kubernetesStore({ url: await listen(createServer(listener)), namespace: 'default', headers })
}
