import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { fetchTrusting, readText } from '../../../src/stores/kubernetes/pod.js'
import { repository } from '../../support/documents.ts'
import { eventually } from '../../support/until.ts'
import { type Server, start } from '../servers.ts'
import { startEtcd } from './etcd.ts'
import { host } from './kind.ts'

// A real API server with RBAC, on an etcd of its own. Debian has no package of it; `.ci/kube-apiserver`
// builds the program.

/** The program of the real API server. Without it, tests use the fake server of kubernetes-api.ts. */
export const apiServer = process.env['GRAUPEL_TEST_KUBERNETES']

export interface KubernetesServer extends Server {
  readonly url: string
  /**
   * Files with the certificate of the API, and with the token of the ServiceAccount that
   * examples/kubernetes-rbac.yaml makes.
   */
  readonly files: { readonly ca: string; readonly token: string }
  /** Sends a request as an administrator. @param path - Without it, the Leases of the namespace `default`. */
  // biome-ignore lint/suspicious/noExplicitAny: the objects of Kubernetes
  ask(method: string, path?: string, body?: object): Promise<{ status: number; body: any }>
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
/** The paths of the kinds of objects in examples/kubernetes-rbac.yaml. */
const paths: Record<string, string> = {
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
}

export function missingApiServer(): string | undefined {
  const isThere = apiServer !== undefined && spawnSync(apiServer, ['--version'], { stdio: 'ignore' }).status === 0
  return isThere ? undefined : 'kube-apiserver (GRAUPEL_TEST_KUBERNETES=$(.ci/kube-apiserver))'
}

/**
 * Starts an API server to which a token of the ServiceAccount of examples/kubernetes-rbac.yaml gives the
 * rights of its Role.
 */
export async function startKubernetes(): Promise<KubernetesServer> {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-kubernetes-'))
  const file = (name: string) => join(folder, name)
  const admin = randomUUID()
  makeCertificate(folder)
  writeFileSync(file('tokens.csv'), `${admin},admin,admin,system:masters\n`)
  const etcd = await startEtcd()
  const words = (port: number) => [
    ...[`--etcd-servers=http://${host}:${etcd.port}`, `--bind-address=${host}`, `--secure-port=${port}`],
    ...[`--tls-cert-file=${file('cert.pem')}`, `--tls-private-key-file=${file('key.pem')}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${file('tokens.csv')}`],
    ...['--service-account-issuer=https://kubernetes', `--service-account-key-file=${file('cert.pem')}`],
    `--service-account-signing-key-file=${file('key.pem')}`,
    // There are no nodes, so there is no address at which pods would reach this server.
    ...['--endpoint-reconciler-type=none', `--advertise-address=${host}`, '--service-cluster-ip-range=10.0.0.0/24'],
  ]
  const server = await start({ program: apiServer as string, words })
  const url = `https://${host}:${server.port}`
  const send = fetchTrusting(() => readText(file('cert.pem')))
  const ask: KubernetesServer['ask'] = async (method, path = leases, body) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
    const request = { method, headers, redirect: 'manual', ...(body && { body: JSON.stringify(body) }) } as const
    const answer = await send(`${url}${path}`, request)
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { text } }
  }
  const make = async (path: string, body: object) => {
    const { status, body: made } = await ask('POST', path, body)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`)
    return made
  }
  /** The server listens before it has its rights and its first namespace. */
  const usable = () =>
    eventually(async () => {
      for (const path of ['/readyz', '/api/v1/namespaces/default']) {
        const { status, body } = await ask('GET', path)
        if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
      }
    })
  await usable()
  const rights = readFileSync(join(repository, 'examples/kubernetes-rbac.yaml'), 'utf8')
  for (const document of parseAllDocuments(rights)) {
    const { kind, ...body } = document.toJS()
    await make(paths[kind] as string, { kind, ...body })
  }
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await make(`${paths['ServiceAccount']}/graupel/token`, request)
  writeFileSync(file('token'), status.token)
  return {
    ...server,
    url,
    files: { ca: file('cert.pem'), token: file('token') },
    ask: (method, path = '', body) => ask(method, path.startsWith('/apis/') ? path : `${leases}${path}`, body),
    async restart(signal) {
      await server.restart(signal)
      await usable()
    },
    async stop() {
      await server.stop()
      await etcd.stop()
      rmSync(folder, { recursive: true })
    },
  }
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
