import { connect } from 'graupel/client'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Change, fakeService, type Script } from './service.ts'

// Faulty answers with status 200, and answers with another status. The client uses no part of a faulty answer.

/** Returns the error of a client whose only request gets a scripted answer. */
async function failureOf(script: Script): Promise<Error> {
  const { url } = await fakeService({ script })
  return connect({ url, count: 10, retries: 0, callTimeoutMs: 60_000 }).then(
    () => new Error('the answer was taken'),
    (error) => error,
  )
}

const bytesOf = (...ids: bigint[]) => Buffer.from(new BigUint64Array(ids).buffer)

test.each<[string, Change, string]>([
  ['another content type', { headers: { 'content-type': 'text/html' } }, "has the content type 'text/html'"],
  [
    'another byte order',
    { headers: { 'graupel-byte-order': 'big-endian' } },
    "has 'big-endian' for Graupel-Byte-Order",
  ],
  ['another layout', { headers: { 'graupel-layout': 'discord' } }, "has ids of layout 'discord'"],
  ['an Age, which a cache adds', { headers: { age: '0' } }, 'has an Age'],
  ['too few ids', { body: (bytes) => bytes.subarray(8) }, "has the length '72'"],
  ['too many ids', { body: (bytes) => Buffer.concat([bytes, bytes]) }, "has the length '160'"],
  ['a part of an id', { body: (bytes) => bytes.subarray(0, 77) }, "has the length '77'"],
  ['too few ids and no length', { body: (bytes) => bytes.subarray(8), isChunked: true }, 'has 72 bytes'],
  [
    'too many ids and no length',
    { body: (bytes) => Buffer.concat([bytes, bytes]), isChunked: true },
    'more than the 80',
  ],
  [
    'one id twice',
    { body: (b) => Buffer.concat([b.subarray(0, 8), b.subarray(0, 8), b.subarray(16)]) },
    'ids of one answer ascend',
  ],
  [
    'an id that is below the id before',
    { body: (b) => Buffer.concat([b.subarray(0, 72), bytesOf(1n)]) },
    'has 1 after',
  ],
  [
    'an id that is too wide',
    { body: (b) => Buffer.concat([b.subarray(0, 72), bytesOf(2n ** 63n)]) },
    'does not fit the 63 bits',
  ],
  ['ids of two nodes', { body: (b) => Buffer.concat([b.subarray(0, 72), bytesOf(2n ** 62n)]) }, 'two nodes, 1 and 0'],
])('with %s', async (_, change, message) => {
  const error = await failureOf((_asked, _response, give) => give(change))
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining(message) })
})

test('without an end is not read any further', async () => {
  const mebibyte = Buffer.alloc(2 ** 20)
  let isClosed = false
  let sent = 0
  const error = await failureOf((_, response) => {
    response.on('close', () => {
      isClosed = true
    })
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'graupel-byte-order': 'little-endian',
      'graupel-layout': 'twitter',
    })
    // The answer has at most a gigabyte, so that this test ends.
    const more = () => {
      while (!isClosed && sent < 1024 && response.write(mebibyte)) sent++
      sent++
    }
    response.on('drain', more)
    more()
  })
  expect(error.message).toContain('has more than the 80 bytes')
  expect(sent).toBeLessThan(100)
})

test('that is a redirect is not followed', async () => {
  const other = await fakeService()
  const error = await failureOf((_, response) => {
    response.writeHead(307, { location: `${other.url}/v1/ids?count=10&layout=twitter` }).end()
  })
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining('redirect (307)') })
  expect(other.asked).toEqual([])
})

test.each([204, 206])('with the status %s', async (status) => {
  const error = await failureOf((_, response) => response.writeHead(status).end())
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining(`the status ${status}`) })
})

/** A proxy that caches the first answer after the present one. */
function keeping(): Script {
  let kept: Buffer | undefined
  const body = (bytes: Buffer) => {
    kept ??= Buffer.from(bytes)
    return kept
  }
  return (_, __, give) => give({ body })
}

test.each([
  ['ids', undefined, 'node 1 has given ids up to'],
  ['numbers of a segment', 'orders', 'as an earlier answer did'],
])('with %s that this client was given before', async (_, segment, message) => {
  const { url } = await fakeService({ script: keeping() })
  const ids = await connect({ url, count: 10, maxCount: 10, retries: 0, ...(segment !== undefined && { segment }) } as {
    url: string
  })
  const array = new BigUint64Array(15)
  const error = await ids.fillAsync(array).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining(message), filled: 10 })
  expect([...array.subarray(10)]).toEqual([0n, 0n, 0n, 0n, 0n])
  ids.close()
})

test('is copied if the fetch reuses its memory', async () => {
  const { url } = await fakeService()
  const shared = new Uint8Array(80)
  const reusing: typeof fetch = async (at, init) => {
    const answer = await fetch(at, init)
    shared.set(new Uint8Array(await answer.arrayBuffer()))
    // The next answer overwrites the chunks of this stream.
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(shared)
        controller.close()
      },
    })
    return new Response(body, answer)
  }
  const ids = await connect({ url, count: 10, maxCount: 10, fetch: reusing as never })
  const made = ids.take(6)
  // The next answer arrives while some ids of the first answer are left.
  await until(() => ids.stats().left === 14)
  made.push(...ids.take(14))
  expect(new Set(made).size).toBe(20)
  ids.close()
})
