import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi } from '../stores/kinds/kubernetes.ts'
import { makeCertificate } from '../stores/kinds/kubernetes-server.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { graupelIn, launch, projectWith } from './fleet.ts'

// The command line with an API server of Kubernetes over TLS. No client has to be installed, and no group has
// to wait.

describeWith(['openssl'], 'a cluster', () => {
  const files = mkdtempSync(join(tmpdir(), 'graupel-cluster-'))
  const folder = projectWith()
  const silent = createServer(() => {})
  let server: Server
  let words: string[]

  beforeAll(async () => {
    makeCertificate(files)
    server = await startApi('n0t-shown', (own) => {
      for (const name of ['key.pem', 'cert.pem']) writeFileSync(join(own, name), readFileSync(join(files, name)))
    })
    writeFileSync(join(files, 'token'), 'n0t-shown\n')
    writeFileSync(join(files, 'wrong'), 'wr0ng\n')
    words = ['--store', at(`127.0.0.1:${server.port}`)]
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    silent.close()
    await server?.stop()
    rmSync(files, { recursive: true })
  })

  const at = (host: string, token = 'token') =>
    `kubernetes://${host}/default?token-file=${join(files, token)}&ca-file=${join(files, 'cert.pem')}`

  async function listed(namespace: string) {
    const run = await graupelIn(folder, ['lease', 'list', namespace, '--json', ...words])
    expect(run).toMatchObject({ status: 0, stderr: '' })
    return run.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  it('leases a node, lists it and forgets it', async () => {
    const { child, ended } = launch(folder, ['next', '-n', '9007199254740991', '--namespace', 'orders', ...words])
    const [text] = await once(child.stdout, 'data')
    child.stdout.pause()
    const [first] = String(text).split('\n') as [string]
    const [group, node] = await listed('orders')
    expect(group).toMatchObject({ namespace: 'orders', nodes: 1024, held: 1 })
    expect(node).toMatchObject({ state: 'held', node: decode(first, layouts.twitter).node })
    const forget = ['lease', 'forget', 'orders', String(node.node), ...words]
    expect((await graupelIn(folder, forget)).stderr).toMatch(/ is held by .* give --yes if /)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ signal: 'SIGINT', stderr: '' })
    expect((await listed('orders'))[1]).toMatchObject({ node: node.node, state: 'released', owner: node.owner })
    expect(await graupelIn(folder, forget)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Nothing to forget/),
    })
  })

  it('finds no lease by another prefix', async () => {
    const { status, stdout } = await graupelIn(folder, ['lease', 'list', '--prefix', 'other', ...words])
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^There is no lease in kubernetes: API https:\/\/127/),
    })
  })

  it.each([
    ['refuses a connection', () => at('127.0.0.1:1'), /ECONNREFUSED/],
    ['does not answer', () => at(`127.0.0.1:${(silent.address() as { port: number }).port}`), /no answer within 3 s/],
    [
      'does not know the token',
      () => at(`127.0.0.1:${server.port}`, 'wrong'),
      / answered 401 .*: Unauthorized; the token /,
    ],
    ['has a token that cannot be read', () => at(`127.0.0.1:${server.port}`, 'none'), /cannot read .*none \(ENOENT\)/],
    [
      'is not trusted',
      () => `kubernetes://127.0.0.1:${server.port}/default`,
      /cannot be trusted: DEPTH_ZERO_SELF_SIGNED_CERT/,
    ],
    ['is not there, as this is no pod', () => 'kubernetes:', /runs in no pod/],
  ])('says in one line that the host %s', async (_name, url, message) => {
    const { status, stdout, stderr } = await graupelIn(folder, ['lease', 'list', '--store', url()])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/n0t-shown|wr0ng/)
  })

  it.each([
    'kubernetes://host',
    'kubernetes://host/',
    'kubernetes://host/a/b',
    'kubernetes://user:hush@host/a',
    'kubernetes:///a',
    'kubernetes://host/a?token=hush',
  ])('%s is refused', async (url) => {
    const { status, stderr } = await graupelIn(folder, ['lease', 'list', '--store', url])
    expect(status).toBe(2)
    expect(stderr).toMatch(/^graupel: --store [^\n]*; write kubernetes:\/\/HOST:PORT\/NAMESPACE[^\n]*\n$/)
    expect(stderr).not.toContain('hush')
  })
})
