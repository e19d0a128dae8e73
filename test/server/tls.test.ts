import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain, type Server } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { memoryStore, type Store } from 'graupel/stores'
import { expect, test } from 'vitest'
import { type Pair, pairOf as readPair, reportDatesDaily } from '../../server/src/http/certificate.ts'
import { Listener } from '../../server/src/http/listener.ts'
import { type Fetch, serviceStore } from '../../src/stores/service.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { seriesOf, startService } from './support/in-process.ts'
import { listen } from './support/listening.ts'
import { folder } from './support/process.ts'
import { replace } from './support/replace.ts'
import { command } from './support/resp.ts'

/** Makes a certificate for a name, signed by its own key, which is valid for these days. */
function pairOf(name: string, days = 2): { tlsCert: string; tlsKey: string } {
  const [tlsCert, tlsKey] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', `${days}`],
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', tlsKey, '-out', tlsCert],
    ],
    { stdio: 'ignore' },
  )
  return { tlsCert, tlsKey }
}

/** Makes a certificate that has expired yesterday. Only this command of openssl takes such a time. */
function expiredPairOf(name: string): { tlsCert: string; tlsKey: string } {
  const pair = pairOf(name)
  const request = join(folder, `${name}.csr`)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'ignore' })
  openssl('req', '-new', '-key', pair.tlsKey, '-subj', `/CN=${name}`, '-out', request)
  openssl('x509', '-req', '-in', request, '-signkey', pair.tlsKey, '-days', '-1', '-out', pair.tlsCert)
  return pair
}

/** Resolves to the name in the certificate that a service uses now. */
async function nameAt(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const name = `${socket.getPeerCertificate().subject.CN}`
  socket.destroy()
  return name
}

const get = (port: number, path: string) =>
  new Promise<{ status: number | undefined; protocol: string | null; body: string }>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, rejectUnauthorized: false, agent: false }, (answer) => {
      let body = ''
      const protocol = (answer.socket as TLSSocket).getProtocol()
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      answer.on('end', () => resolve({ status: answer.statusCode, protocol, body }))
    })
    sent.on('error', reject).end()
  })

describeWith(['openssl'], 'TLS', () => {
  test('ids come over TLS', async () => {
    const { port, url } = await listen(pairOf('first'))
    expect(url).toMatch(/^https:/)
    const { status, protocol, body } = await get(port, '/v1/ids')
    expect([status, protocol]).toEqual([200, 'TLSv1.3'])
    expect(JSON.parse(body).ids).toHaveLength(1)
  })

  test('clients of Redis use the same certificate, also a new one, and plain commands get no answer', async () => {
    const [pair, next] = [pairOf('redis'), pairOf('redis-next')]
    const { respUrl } = await startService({ resp: 0, ...pair }, { pollMs: 10 })
    expect(respUrl).toMatch(/^rediss:/)
    const port = Number(new URL(respUrl).port)
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }).setEncoding('latin1')
    socket.write(command('INCR', 'orders').repeat(3))
    let text = ''
    for await (const part of socket) {
      text += part
      if (text.length === 12) break
    }
    expect(text).toBe(':1\r\n:2\r\n:3\r\n')
    replace(pair.tlsCert, readFileSync(next.tlsCert))
    replace(pair.tlsKey, readFileSync(next.tlsKey))
    await until(async () => (await nameAt(port)) === 'redis-next')
    const plain = connectPlain(port, '127.0.0.1').on('error', () => {})
    plain.write(command('INCR', 'orders'))
    let received = Buffer.alloc(0)
    plain.on('data', (part) => {
      received = Buffer.concat([received, part])
    })
    await once(plain, 'close')
    expect(received.toString('latin1')).not.toContain(':4')
  })

  test('versions before 1.2 are refused', async () => {
    const { port } = await listen(pairOf('old'))
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...versions })
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toMatch(/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|ECONNRESET/)
    const fine = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
    await once(fine, 'secureConnect')
    expect(fine.getProtocol()).toBe('TLSv1.2')
    fine.destroy()
  })

  test('a connection without TLS is closed, and the service stays up', async () => {
    const { port } = await listen(pairOf('plain'))
    for (const bytes of ['GET /v1/ids HTTP/1.1\r\nHost: localhost\r\n\r\n', '\x16\x03\x01\x00\x05hello', '']) {
      const socket = connectPlain(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.end(bytes, 'latin1').resume()
      await once(socket, 'close')
    }
    expect((await get(port, '/v1/ids')).status).toBe(200)
  })

  test('a connection whose client says nothing is closed after the time for a request', async () => {
    const { port } = await listen({ ...pairOf('silent'), requestTimeoutMs: 300 })
    const socket = connectPlain(port, '127.0.0.1')
      .on('error', () => {})
      .resume()
    const startMs = performance.now()
    await once(socket, 'close')
    // Without a limit, Node waits for two minutes.
    expect(performance.now() - startMs).toBeLessThan(110_000)
  })

  test('a silent connection does not delay the shutdown, and a request under way is answered', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const store = memoryStore()
    let writes = 0
    const slow: Store = {
      ...store,
      async write(key, ...rest) {
        if (key.includes('orders') && ++writes > 0) await gate
        return store.write(key, ...rest)
      },
    }
    const { app } = await listen(pairOf('closing'), { store: slow, listens: false })
    const listener = await Listener.open(app.server, { host: '127.0.0.1', port: 0 })
    const port = Number(new URL(listener.url).port)
    const silent = connectPlain(port, '127.0.0.1')
    await once(app.server, 'connection')
    const answer = get(port, '/v1/counters/orders')
    await until(() => writes > 0)
    const startMs = performance.now()
    const closed = listener.close(30_000)
    await once(silent.on('error', () => {}).resume(), 'close')
    open()
    expect((await answer).body).toBe('{"counts":["1"]}')
    await closed
    expect(performance.now() - startMs).toBeLessThan(20_000)
  })

  test('a client of Redis whose handshake is not over is closed when the service ends', async () => {
    const { resp, respUrl } = await listen({ ...pairOf('closing-resp'), resp: 0 })
    const port = Number(new URL(respUrl).port)
    const server = resp?.server as Server
    const idle = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(server, 'secureConnection')
    const silent = connectPlain(port, '127.0.0.1')
    await once(server, 'connection')
    const closed = Promise.all([silent, idle].map((socket) => once(socket.resume(), 'close')))
    await resp?.close(30_000)
    await closed
  })

  test('connections beyond the limit are closed, and the admin port answers', async () => {
    const { port, adminUrl } = await listen({ ...pairOf('full'), maxConnections: 2, adminPort: 0 })
    expect(adminUrl).toMatch(/^https:/)
    const open = [1, 2].map(() => connect({ port, host: '127.0.0.1', rejectUnauthorized: false }))
    await Promise.all(open.map((socket) => once(socket, 'secureConnect')))
    for (let times = 0; times < 3; times++) await expect(get(port, '/livez')).rejects.toThrow()
    const metrics = await get(Number(new URL(adminUrl).port), '/metrics')
    expect(metrics.body.match(/^graupel_connections\w* \d+$/gm)).toEqual([
      'graupel_connections 2',
      'graupel_connections_limit 2',
      'graupel_connections_dropped_total 3',
    ])
    for (const socket of open) socket.destroy()
    await until(() =>
      get(port, '/livez').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
  })

  test('a new pair is used from the next connection on, and a broken pair is not used', async () => {
    const used = pairOf('used')
    const next = pairOf('next')
    const { port, adminUrl, log } = await listen({ ...used, adminPort: 0 }, { pollMs: 20 })
    const adminPort = Number(new URL(adminUrl).port)
    expect(await nameAt(adminPort)).toBe('used')
    const failures = () => log.filter(({ level }) => level === 50).length
    const open = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(open, 'secureConnect')
    // A certificate without its key, as in the middle of a change.
    replace(used.tlsCert, readFileSync(next.tlsCert))
    await until(() => failures() === 1)
    expect(await nameAt(port)).toBe('used')
    replace(used.tlsKey, readFileSync(next.tlsKey))
    await until(async () => (await nameAt(port)) === 'next')
    expect(await nameAt(adminPort)).toBe('next')
    replace(used.tlsCert, 'no certificate')
    await until(() => failures() === 2)
    expect(await nameAt(port)).toBe('next')
    expect(open.destroyed).toBe(false)
    open.destroy()
  })

  test('an expired certificate is reported at the start, each day and after a change, and its date is a metric', async () => {
    const [expired, fine] = [expiredPairOf('expired'), pairOf('fine', 400)]
    const { app, log } = await listen(expired, { pollMs: 10 })
    const lines = () => log.filter(({ event }) => event === 'certificate')
    expect(lines()).toMatchObject([
      { level: 50, msg: 'the certificate has expired, and clients refuse it; renew --tls-cert' },
    ])
    const end = () => seriesOf(app, 'graupel_certificate_not_after_timestamp_seconds')
    const begin = () => seriesOf(app, 'graupel_certificate_not_before_timestamp_seconds')
    expect(await end()).toBe(Date.parse(`${lines()[0]?.['validTo']}`) / 1000)
    expect(await end()).toBeLessThan(Date.now() / 1000)
    replace(expired.tlsCert, readFileSync(fine.tlsCert))
    replace(expired.tlsKey, readFileSync(fine.tlsKey))
    await until(async () => ((await end()) as number) > Date.now() / 1000)
    expect(((await end()) as number) - ((await begin()) as number)).toBe(400 * 86_400)
    expect(lines()).toHaveLength(1)
  })

  test('the dates of a chain are those in which each of its certificates is valid', () => {
    const [long, short] = [pairOf('long', 400), pairOf('short', 3)]
    const chain = Buffer.concat([readFileSync(long.tlsCert), readFileSync(short.tlsCert)])
    const { validFromMs, validToMs } = readPair([chain, readFileSync(long.tlsKey)])
    expect(validToMs - validFromMs).toBeLessThanOrEqual(3 * 86_400_000)
    expect(validToMs - validFromMs).toBeGreaterThan(2 * 86_400_000)
  })

  test.each([
    ['has expired, and clients refuse it', 50, -10, -1],
    ['is not valid yet, and clients refuse it', 50, 1, 10],
    ['expires soon', 40, -8, 2],
    ['expires soon', 40, -393, 6],
    [undefined, undefined, -1, 1],
    [undefined, undefined, -30, 8],
  ])('a certificate %s (level %s) if it is valid from day %i to day %i', async (words, level, from, to) => {
    const lines: { level: string; text: string }[] = []
    const logger = Object.fromEntries(
      Object.entries({ warn: 40, error: 50 }).map(([name, number]) => [
        name,
        (_: unknown, text: string) => lines.push({ level: `${number}`, text }),
      ]),
    ) as unknown as Parameters<typeof reportDatesDaily>[1]
    const atDay = (day: number) => Date.now() + day * 86_400_000
    const pair = { validFromMs: atDay(from), validToMs: atDay(to) } as Pair
    const stop = reportDatesDaily(() => pair, logger, 1)
    if (words === undefined) expect(lines).toEqual([])
    else await until(() => lines.length > 2)
    stop()
    for (const line of lines)
      expect(line).toMatchObject({ level: `${level}`, text: expect.stringContaining(`${words}`) })
  })

  test('the key of another certificate is refused at the start', async () => {
    const [one, other] = [pairOf('one'), pairOf('other')]
    await expect(listen({ tlsCert: one.tlsCert, tlsKey: other.tlsKey })).rejects.toThrow(
      /^--tls-cert and --tls-key is .*key values mismatch; give a certificate chain in PEM and its private key$/,
    )
  })
})

describeWith(['openssl'], 'a store over a service with TLS', () => {
  /** A `fetch` that trusts one certificate. */
  const trusting =
    (tlsCert: string): Fetch =>
    (url, { method, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const ca = readFileSync(tlsCert)
        const sent = request(url, { method, headers, ca, ...(signal && { signal }) }, (answer) => {
          let said = ''
          answer.setEncoding('utf8').on('data', (text: string) => {
            said += text
          })
          const get = (name: string) => (answer.headers[name] as string | undefined) ?? null
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: { get }, text: async () => said }))
        })
        sent.on('error', reject)
        sent.end(body)
      })

  test('works with a certificate that is trusted, and refuses one that has expired or is not trusted', async () => {
    const [valid, expired] = [pairOf('lending'), expiredPairOf('lending-expired')]
    const service = await startService({ leases: true, ...valid })
    const store = serviceStore({ url: service.url, fetch: trusting(valid.tlsCert) })
    expect(await store.write('leases/g/0/1', 'one', undefined)).toBeDefined()
    await expect(serviceStore({ url: service.url }).read('leases/g/0/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/ cannot be trusted: DEPTH_ZERO_SELF_SIGNED_CERT; let Node trust its authority/),
    })
    const old = await startService({ leases: true, ...expired })
    await expect(
      serviceStore({ url: old.url, fetch: trusting(expired.tlsCert) }).read('leases/g/0/1'),
    ).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/ cannot be trusted: CERT_HAS_EXPIRED; /),
    })
  })
})
