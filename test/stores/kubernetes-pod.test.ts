import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { LeaseApi } from '../../src/stores/kubernetes/api.js'
import { podAccess } from '../../src/stores/kubernetes/pod.js'
import { kubernetesStore } from '../../src/stores/kubernetes.js'
import { describeWith } from '../support/needs.ts'
import { KubernetesApi } from './kinds/kubernetes-api.ts'
import { makeCertificate } from './kinds/kubernetes-server.ts'

// A process in a pod, with the files and variables that Kubernetes provides, and an API server with TLS.

afterEach(() => void vi.unstubAllEnvs())

describe('a process outside of a pod', () => {
  it('gets an error with the missing variables and a remedy', () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined)
    expect(() => kubernetesStore()).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringMatching(/runs in no pod, because KUBERNETES_SERVICE_HOST .* pass url and namespace/),
      }),
    )
  })

  it('gets an error that names the missing file if a pod has no token', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '443')
    expect(() => podAccess(undefined, '/nowhere')).toThrow(
      /cannot read \/nowhere\/namespace \(ENOENT\); set automountServiceAccountToken for the pod/,
    )
    const access = podAccess('orders', '/nowhere')
    expect(access).toMatchObject({ url: 'https://[fd00::1]:443', namespace: 'orders' })
    await expect(new LeaseApi(access, 'orders').get('x')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('cannot read /nowhere/token (ENOENT)'),
    })
  })
})

describeWith(['openssl'], 'a process in a pod', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-pod-'))
  const accounts: Record<string, ['get', 'list']> = { first: ['get', 'list'] }
  let server: Server
  let port: number
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const pem = (name: string) => readFileSync(join(folder, name), 'utf8')

  beforeAll(async () => {
    makeCertificate(folder)
    server = new KubernetesApi({ accounts, tls: { key: pem('key.pem'), cert: pem('cert.pem') } }).server as Server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as { port: number }).port
  })
  afterAll(() => {
    server?.close()
    server?.closeAllConnections()
    rmSync(folder, { recursive: true })
  })

  function open(at = port) {
    put('namespace', 'default\n')
    put('token', 'first\n')
    put('ca.crt', pem('cert.pem'))
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', `${at}`)
    const access = podAccess(undefined, folder)
    return new LeaseApi(access, access.namespace)
  }

  it('reaches the API of its cluster by the token, the certificate and the namespace of its pod', async () => {
    const api = open()
    expect(await api.get('none')).toBeUndefined()
    expect(await api.list('graupel/folder=x')).toEqual([])
    expect(Math.abs((await api.nowMs('none')) - Date.now())).toBeLessThan(60_000)
  })

  it('goes on when its token is replaced', async () => {
    const api = open()
    await api.get('none')
    delete accounts['first']
    accounts['second'] = ['get', 'list']
    await expect(api.get('none')).rejects.toThrow(/answered 401 /)
    put('token', 'second\n')
    expect(await api.get('none')).toBeUndefined()
    accounts['first'] = ['get', 'list']
  })

  it('trusts no other authority, and reads its own authority again when that is replaced', async () => {
    const api = open()
    const other = mkdtempSync(join(folder, 'other-'))
    makeCertificate(other)
    put('ca.crt', readFileSync(join(other, 'cert.pem'), 'utf8'))
    await expect(api.get('none')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/cannot be trusted: DEPTH_ZERO_SELF_SIGNED_CERT; let Node trust its authority /),
    })
    rmSync(join(folder, 'ca.crt'))
    await expect(api.get('none')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/^the store 'kubernetes' cannot read .*ca\.crt \(ENOENT\)/),
    })
    put('ca.crt', pem('cert.pem'))
    expect(await api.get('none')).toBeUndefined()
  })

  it('reports a certificate that is not trusted, even if the global fetch is used', async () => {
    const store = kubernetesStore({ url: `https://127.0.0.1:${port}`, namespace: 'default' })
    await expect(store.read('a/1')).rejects.toThrow(/cannot be trusted: DEPTH_ZERO_SELF_SIGNED_CERT; let Node trust /)
  })

  it('reports an error if the connection is cut before the answer, and connects again', async () => {
    const endings: ((response: ServerResponse) => void)[] = [
      (response) => response.destroy(),
      (response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('{', () => response.destroy())
      },
      (response) => response.writeHead(200).end('{"kind":"Lease"}'),
    ]
    const tls = { key: pem('key.pem'), cert: pem('cert.pem') }
    const cutting = createServer(tls, (_request, response) => endings.shift()?.(response))
    await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve))
    const api = open((cutting.address() as { port: number }).port)
    await expect(api.get('none')).rejects.toThrow(/cannot be reached: socket hang up/)
    await expect(api.get('none')).rejects.toThrow(/cannot be reached: aborted/)
    expect(await api.get('none')).toEqual({ kind: 'Lease' })
    cutting.close()
    cutting.closeAllConnections()
  })

  it('ends a request when the signal is aborted, and connects again for the next request', async () => {
    const api = open()
    const abort = new AbortController()
    server.once('request', () => abort.abort(new Error('enough')))
    await expect(api.get('none', abort.signal)).rejects.toThrow('enough')
    expect(await api.get('none')).toBeUndefined()
  })
})
