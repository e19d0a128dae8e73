import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fetchTrusting, readText } from '../../../src/stores/kubernetes/pod.js'
import { kubernetesStore } from '../../../src/stores/kubernetes.js'
import { repository } from '../../support/documents.ts'
import { type Server, start } from '../servers.ts'
import { host, type Open, type ServerKind } from './kind.ts'

/** @param token - Without it every request is allowed. @param prepare - May put key.pem and cert.pem into the server's folder. */
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

/** Writes key.pem, and cert.pem, a self-signed certificate for this machine. */
export function makeCertificate(folder: string): void {
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const about = ['-subj', '/CN=kubernetes', '-addext', `subjectAltName=IP:${host}`]
  execFileSync('openssl', [...kind, ...about, '-keyout', 'key.pem', '-out', 'cert.pem'], {
    cwd: folder,
    stdio: 'ignore',
  })
}

// The tests can use a real cluster in place of the fake server: see docs/stores/kubernetes.md.
const { GRAUPEL_KUBERNETES_URL: url, GRAUPEL_KUBERNETES_TOKEN: token, GRAUPEL_KUBERNETES_CA: ca } = process.env
const namespace = process.env['GRAUPEL_KUBERNETES_NAMESPACE'] ?? 'default'
// Each run has one prefix. It is in the environment, so child processes use the same prefix.
if (url !== undefined) process.env['GRAUPEL_KUBERNETES_PREFIX'] ??= `test${randomBytes(6).toString('hex')}`
const prefix = process.env['GRAUPEL_KUBERNETES_PREFIX'] ?? 'graupel'

/** Opens a store on the cluster of the variables, or on a port of this machine. */
const open: Open = async (port) => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const trusting = ca === undefined ? {} : { fetch: fetchTrusting(() => readText(ca)) }
  const store = kubernetesStore({ url: url ?? `http://${host}:${port}`, namespace, prefix, headers, ...trusting })
  return { store, close() {} }
}

const elsewhere: Server = { port: 0, restart: async () => {}, signal: async () => {}, stop: async () => {} }

export const kubernetes: ServerKind = {
  name: 'Kubernetes',
  missing: () => undefined,
  start: async () => (url === undefined ? startApi() : elsewhere),
  clients: { fetch: open },
  isFetched: true,
  ...(url !== undefined && { isElsewhere: true }),
}
