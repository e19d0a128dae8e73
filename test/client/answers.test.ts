import { composeId, defineLayout } from 'graupel'
import { connect } from 'graupel/client'
import { expect, test } from 'vitest'
import { expandRuns, readRuns, writeRuns } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { type Change, fakeService, type Script } from './service.ts'

// Faulty answers with status 200, and answers with another status. The client uses no part of a faulty
// answer.

/** Returns the error of a client whose only request gets a scripted answer. */
async function failureOf(script: Script): Promise<Error> {
  const { url } = await fakeService({ script })
  return connect({ url, count: 10, retries: 0, callTimeoutMs: 60_000 }).then(
    () => new Error('the answer was taken'),
    (error) => error,
  )
}

const runs =
  (...sent: [first: bigint, count: number, stride: number][]) =>
  () =>
    Buffer.from(writeRuns(sent.map(([first, count, stride]) => ({ first, count, stride }))))

test.each<[string, Change, string]>([
  ['another content type', { headers: { 'content-type': 'text/html' } }, "has the content type 'text/html'"],
  [
    'another byte order',
    { headers: { 'graupel-byte-order': 'big-endian' } },
    "has 'big-endian' for Graupel-Byte-Order",
  ],
  ['another layout', { headers: { 'graupel-layout': 'discord' } }, "has ids of layout 'discord'"],
  ['an Age, which a cache adds', { headers: { age: '0' } }, 'has an Age'],
  ['too few ids', { body: (bytes) => bytes.subarray(16) }, 'has 9 numbers, and 10 were asked for'],
  ['too many ids', { body: (bytes) => Buffer.concat([bytes, bytes]) }, 'has more than the 160 bytes of 10 runs'],
  ['a part of a run', { body: (bytes) => bytes.subarray(0, 157) }, 'has 157 bytes, and a run has 16'],
  ['no run', { body: (bytes) => bytes.subarray(0, 0) }, 'has 0 numbers, and 10 were asked for'],
  ['too few ids and no length', { body: (bytes) => bytes.subarray(16), isChunked: true }, 'has 9 numbers'],
  [
    'too many ids and no length',
    { body: (bytes) => Buffer.concat([bytes, bytes]), isChunked: true },
    'more than the 160',
  ],
  ['one id twice', { body: (b) => Buffer.concat([b.subarray(0, 16), b.subarray(0, 144)]) }, 'ascend'],
  [
    'an id below the id before',
    { body: (b) => Buffer.concat([b.subarray(16), b.subarray(0, 16)]) },
    'and numbers of one answer ascend',
  ],
  ['an id that is too wide', { body: runs([2n ** 63n, 10, 1]) }, 'does not fit the 63 bits'],
  ['ids of two nodes', { body: runs([1n << 12n, 9, 1], [1n << 62n, 1, 1]) }, 'two nodes, such as 4096 and 46116860184'],
  [
    'ids of another node between those of one',
    { body: runs([1n << 12n, 8, 1], [1n << 22n, 1, 1], [(1n << 22n) + (1n << 12n), 1, 1]) },
    'two nodes, such as 4096 and 4194304',
  ],
  ['an empty run', { body: runs([1n, 10, 1], [99n, 0, 1]) }, 'has a run of 0 numbers with stride 1, from 99 up'],
  ['a run without a stride', { body: runs([1n, 10, 0]) }, 'has a run of 10 numbers with stride 0, from 1 up'],
  ['a run of more ids', { body: runs([1n, 11, 1]) }, 'has 11 numbers, and 10 were asked for'],
  ['more ids in two runs', { body: runs([1n, 9, 1], [20n, 2, 1]) }, 'has 11 numbers, and 10 were asked for'],
  ['a run of the most ids', { body: runs([1n, 2 ** 32 - 1, 2 ** 32 - 1]) }, 'does not fit the 63 bits'],
  ['a run that goes on after a tick', { body: runs([4090n, 10, 1]) }, 'only the sequence of layout'],
  ['a run over several nodes', { body: runs([1n, 10, 4096]) }, 'only the sequence of layout'],
  ['a run beyond 64 bits', { body: runs([2n ** 64n - 2n, 10, 1]) }, 'to 18446744073709551623, which does not fit'],
])('with %s', async (_, change, message) => {
  const error = await failureOf((_asked, _response, give) => give(change))
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining(message) })
})

test.each<[string, Change, string]>([
  ['beyond 64 bits', { body: runs([2n ** 64n - 5n, 10, 1]) }, 'does not fit the 64 bits of a number'],
  ['of the most numbers', { body: runs([1n, 2 ** 32 - 1, 1]) }, 'has 4294967295 numbers, and 10 were asked for'],
  ['with numbers of the run before', { body: runs([1n, 5, 2], [9n, 5, 1]) }, 'has 9 after 9'],
])('with a run of a segment %s', async (_, change, message) => {
  const { url } = await fakeService({ script: (_asked, _response, give) => give(change) })
  const error = await connect({ url, segment: 'orders', count: 10, retries: 0 }).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID', message: expect.stringContaining(message) })
})

test('with long runs gives each number of them, across 2^32 and in every call', async () => {
  // 12 000 numbers, so that clients write them out in several parts.
  const sent = runs([2n ** 32n - 15_000n, 5999, 3], [2n ** 40n, 1, 7], [2n ** 41n, 6000, 2 ** 31])
  const all = expandRuns(readRuns('runs', sent()))
  for (const parts of [12_000, 700, 1]) {
    const { url } = await fakeService({ script: (_asked, _response, give) => give({ body: sent }) })
    const numbers = await connect({ url, segment: 'orders', count: 12_000, maxCount: 12_000, prefetchAt: 1 })
    const made: bigint[] = []
    while (made.length < all.length) {
      made.push(...numbers.fill(new BigUint64Array(Math.min(parts - 1, all.length - made.length))))
      if (made.length < all.length) made.push(numbers.next())
    }
    expect(made).toEqual(all)
    expect(numbers.stats().left).toBe(0)
    numbers.close()
  }
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
      'content-type': 'application/vnd.graupel.runs',
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
  expect(error.message).toContain('has more than the 160 bytes')
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
  const shared = new Uint8Array(160)
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

test('an answer of a layout whose ids do not sort by time is used, unless it has an id twice', async () => {
  const layout = defineLayout({
    name: 'reversed',
    epochMs: 0,
    tickMs: 1,
    fields: [
      ['worker', 8],
      ['sequence', 8],
      ['timestamp', 41],
    ],
  })
  const id = (timestampMs: number, sequence: number) => composeId({ timestampMs, node: 3, sequence }, layout)
  const answers = [
    [id(1000, 5), id(1000, 6), id(1001, 0), id(1002, 0)],
    // An id of the answer before, and then one of this answer.
    [id(1002, 0), id(1002, 1), id(1003, 0), id(1004, 0)],
    [id(1005, 0), id(1006, 0), id(1005, 0), id(1007, 0)],
  ]
  const bodies = answers.map((ids) => writeRuns(ids.map((first) => ({ first, count: 1, stride: 1 }))))
  const headers = {
    ...{ 'content-type': 'application/vnd.graupel.runs', 'graupel-byte-order': 'little-endian' },
    'graupel-layout': layout.name,
  }
  const fetch = async () => new Response(bodies.shift(), { headers })
  const options = { url: 'http://service', layout, count: 4, maxCount: 4, prefetchAt: 1, retries: 0, fetch }
  const ids = await connect(options)
  expect(ids.take(4)).toEqual(answers[0])
  await expect(ids.nextAsync()).rejects.toMatchObject({ message: expect.stringContaining('has given ids up to') })
  await expect(ids.nextAsync()).rejects.toMatchObject({
    message: expect.stringContaining('numbers of one answer ascend'),
  })
  ids.close()
})
