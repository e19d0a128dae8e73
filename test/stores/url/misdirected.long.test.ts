import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/stores/url/index.js'
import { projectWith } from '../../cli/fleet.ts'
import { describeWith } from '../../support/needs.ts'
import { etcd } from '../kinds/etcd.ts'
import { host } from '../kinds/kind.ts'
import { startApi } from '../kinds/kubernetes.ts'
import { makeCertificate } from '../kinds/kubernetes-server.ts'
import { redis } from '../kinds/redis.ts'
import type { Server } from '../servers.ts'

// A URL that leads to another server, or to one with or without TLS, is refused with a remedy that a URL can
// have.

const redisClients = ['ioredis', 'redis', '@valkey/valkey-glide'].map(
  (client) => [client, projectWith(client)] as const,
)

async function refusal(url: string, folder = projectWith()): Promise<string> {
  const opening = openStore(url, { clientsOf: `${folder}/` })
  const error = await opening.then(
    () => undefined,
    (error) => error,
  )
  expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
  return error.message
}

describeWith(['redis'], 'redis:', () => {
  let server: Server
  beforeAll(async () => {
    server = await redis.start()
  })
  afterAll(() => server?.stop())

  it.each(redisClients)('%s says that the port may have no TLS', async (_client, folder) => {
    expect(await refusal(`rediss://${host}:${server.port}`, folder)).toMatch(
      /; no server of this kind answers there with TLS: check host and port, or write redis:\/\/ if it has no TLS$/,
    )
  })

  it.each(redisClients)('%s says that an HTTP server is no Redis', async (_client, folder) => {
    const other = createServer((_, answer) => answer.end('hello')).listen(0, host)
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    expect(await refusal(`redis://${host}:${port}`, folder)).toMatch(
      /; no server of this kind answers there: check host and port, or write rediss:\/\/ if it has TLS$/,
    )
    other.close()
  })

  // As a balancer does whose servers are all down, and a Redis with TLS.
  it.each(redisClients)('%s does not wait for a server that closes the connection', async (_client, folder) => {
    const other = createTcpServer((socket) => socket.on('data', () => socket.end())).listen(0, host)
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    expect(await refusal(`redis://${host}:${port}`, folder)).not.toContain('within 5 s')
  })

  it.each(redisClients)('%s is given no parameter, which each client reads in its own way', async (_client, folder) => {
    await expect(openStore(`redis://${host}:${server.port}/0?x=`, { clientsOf: `${folder}/` })).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'store has parameters that redis: does not have; there are none',
    })
  })
})

describeWith([etcd.missing], 'etcds:', () => {
  it('says that the port has no TLS', async () => {
    const server = await etcd.start()
    onTestFinished(() => server.stop())
    // In one of twenty cases etcd resets the connection before its answer, which shows that it has no TLS, is
    // read.
    expect(await refusal(`etcds://${host}:${server.port}`)).toMatch(
      new RegExp(
        `^etcd at https://${host}:${server.port} does not answer with TLS; write etcd:// if it has no TLS$` +
          '|: read ECONNRESET; no server of this kind answers there with TLS: check host and port, or write etcd:// if it has no TLS$',
      ),
    )
  })
})

describe('kubernetes:', () => {
  it('says that the URL may name the authority of the certificate', async () => {
    const server = await startApi(undefined, makeCertificate)
    onTestFinished(() => server.stop())
    const place = `the Kubernetes API at https://${host}:${server.port}`
    expect(await refusal(`kubernetes://${host}:${server.port}/default`)).toMatch(
      new RegExp(
        `^${place} cannot be trusted: \\w+; add ca-file=FILE, with the certificate-authority of the kubeconfig$`,
      ),
    )
  })

  it('says that the port has no TLS', async () => {
    const server = await startApi()
    onTestFinished(() => server.stop())
    expect(await refusal(`kubernetes://${host}:${server.port}/default`)).toMatch(
      / does not answer with TLS; write kubernetes\+http:\/\/ if it has no TLS$/,
    )
  })
})
