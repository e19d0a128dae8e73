import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { build } from '../../scripts/build.ts'
import { folder, serve } from './support/process.ts'

let url: string
beforeAll(async () => {
  await build('page')
  const tokens = join(folder, 'tokens')
  writeFileSync(tokens, `${'t'.repeat(32)}\n`, { mode: 0o600 })
  url = (await serve(['--token-file', tokens])).url
})

/** Asks as a browser does, without a token. Resolves to the body as it was sent. */
async function get(path: string, headers: Record<string, string> = {}) {
  const asked = request(url + path, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part)
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }
}

describe('a browser', () => {
  test('gets the page at /, with its policy', async () => {
    const { status, headers, body } = await get('/')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*; frame-ancestors 'none'$/)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'accept, accept-encoding',
    })
    expect(`${body}`).toContain('<script defer src="./page.js">')
  })

  test('may follow a link from another site', async () => {
    expect((await get('/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status).toBe(200)
  })

  test.each([
    ['/page.js', 'text/javascript; charset=utf-8'],
    ['/page.css', 'text/css; charset=utf-8'],
  ])('gets %s in a coding that it accepts', async (path, type) => {
    const plain = await get(path)
    expect(plain.status).toBe(200)
    expect(plain.headers['content-type']).toBe(type)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.body)).toEqual(plain.body)
    const gzip = await get(path, { 'accept-encoding': 'gzip' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.body)).toEqual(plain.body)
  })
})

test.each(['/', '/page.js', '/page.css'])('a browser that has %s gets no second copy', async (path) => {
  const first = await get(path, { 'accept-encoding': 'br' })
  const etag = first.headers.etag as string
  expect(etag).toMatch(/^W\/"[\w-]+"$/)
  for (const known of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
    const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': known })
    expect([again.status, `${again.body}`, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers).toMatchObject({ 'cache-control': 'no-cache', vary: first.headers.vary })
  }
  expect((await get(path, { 'if-none-match': 'W/"other"' })).status).toBe(200)
})

test('a program gets text at /', async () => {
  const { headers, body } = await get('/', { accept: '*/*' })
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(`${body}`).toContain('/v1/ids')
})

test('the page opens no other route', async () => {
  expect((await get('/v1/ids')).status).toBe(401)
  expect((await get('/page.js?x=1')).status).toBe(400)
  expect((await get('/page.html')).status).toBe(401)
})
