import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchTrusting, readText } from '../../../src/stores/kubernetes/pod.js'
import { kubernetesStore } from '../../../src/stores/kubernetes.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, type Open, type ServerKind } from './kind.ts'
import { apiServer, startKubernetes } from './kubernetes-server.ts'

/**
 * @param token - Without it every request is allowed. @param prepare - May put key.pem and cert.pem into the
 * server's folder.
 */
export function startApi(token?: string, prepare: (folder: string) => void = () => {}): Promise<Server> {
  const program = join(repository, 'test/stores/programs/kubernetes-api.ts')
  return start({
    program: process.execPath,
    words: (port, folder) => [
      ...['--import', join(repository, 'node_modules/tsx/dist/esm/index.mjs'), program, `${port}`, folder],
      ...(token === undefined ? [] : [token]),
    ],
    prepare,
  })
}

// The tests can use a real API server, or a real cluster, in place of the fake server: see
// docs/stores/kubernetes.md.
const { GRAUPEL_KUBERNETES_URL: url } = process.env
const namespace = process.env['GRAUPEL_KUBERNETES_NAMESPACE'] ?? 'default'
// Each run has one prefix. It is in the environment, so child processes use the same prefix.
if (url !== undefined) process.env['GRAUPEL_KUBERNETES_PREFIX'] ??= `test${randomBytes(6).toString('hex')}`
const prefix = process.env['GRAUPEL_KUBERNETES_PREFIX'] ?? 'graupel'

/** Opens a store on the cluster of the variables, or on a port of this machine. */
const open: Open = async (port) => {
  const { GRAUPEL_KUBERNETES_TOKEN: token, GRAUPEL_KUBERNETES_CA: ca } = process.env
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const trusting = ca === undefined ? {} : { fetch: fetchTrusting(() => readText(ca)) }
  const here = `${ca === undefined ? 'http' : 'https'}://${host}:${port}`
  return { store: kubernetesStore({ url: url ?? here, namespace, prefix, headers, ...trusting }), close() {} }
}

/** The URL of `openStore` for a port of this machine. */
function kubernetesUrl(port: number): string {
  const { GRAUPEL_KUBERNETES_CA: ca } = process.env
  if (ca === undefined) return `kubernetes+http://${host}:${port}/default`
  return `kubernetes://${host}:${port}/default?token-file=${join(dirname(ca), 'token')}&ca-file=${ca}`
}

const elsewhere: Server = { port: 0, restart: async () => {}, signal: async () => {}, stop: async () => {} }

/** Starts the real API server. Child processes inherit the variables of `open`. */
async function startReal(): Promise<Server> {
  const server = await startKubernetes()
  process.env['GRAUPEL_KUBERNETES_TOKEN'] = readFileSync(server.files.token, 'utf8')
  process.env['GRAUPEL_KUBERNETES_CA'] = server.files.ca
  return server
}

export const kubernetes: ServerKind = {
  name: 'Kubernetes',
  missing: () => undefined,
  start: async () => (url !== undefined ? elsewhere : apiServer !== undefined ? startReal() : startApi()),
  url: kubernetesUrl,
  clients: { fetch: open },
  isFetched: true,
  ...(url !== undefined && { isElsewhere: true }),
}
