import { createGenerator } from 'graupel'
import { connect, type IdClient } from 'graupel/client'
import { describe, expect, test } from 'vitest'
import { writeSingles } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { fakeService, refuse } from './service.ts'

// Functions of the user, and answers, that misbehave.

const url = 'http://service'
const headers = {
  'content-type': 'application/vnd.graupel.runs',
  'graupel-byte-order': 'little-endian',
  'graupel-layout': 'twitter',
}

/** A service without a network. */
function inMemory() {
  const ids = createGenerator({ node: 1, namespace: `client ${Math.random()}` })
  return async (at: string) => {
    const bytes = writeSingles(ids.fill(new BigUint64Array(Number(new URL(at).searchParams.get('count')))))
    return new Response(bytes, { headers })
  }
}

/**
 * A service without a network whose streams are only promises, so that everything happens in one turn of the
 * event loop.
 */
function atOnce() {
  const answer = inMemory()
  return async (at: string) => {
    const bytes = new Uint8Array(await (await answer(at)).arrayBuffer())
    let isRead = false
    const read = async () => {
      const value = isRead ? undefined : bytes
      isRead = true
      return { done: value === undefined, value }
    }
    return {
      status: 200,
      headers: new Headers(headers),
      body: { getReader: () => ({ read, cancel: async () => {} }), cancel: async () => {} },
    }
  }
}

const failureOf = (options: object): Promise<Error & { code?: string }> =>
  connect({ url, retries: 0, ...options }).then(
    () => new Error('it was answered'),
    (error) => error,
  )

/** Makes a client that has used up its ids, and whose next answer arrives when the test releases it. */
async function starved() {
  const fetch = atOnce()
  let release = () => {}
  let gate = Promise.resolve()
  const gated = async (at: string) => {
    await gate
    return fetch(at)
  }
  const ids = await connect({ url, count: 10, maxCount: 10, prefetchAt: 1, maxWaitMs: 60_000, fetch: gated })
  gate = new Promise((resolve) => {
    release = resolve
  })
  ids.take(10)
  await new Promise(setImmediate)
  return { ids, release }
}

/** More turns of the event loop than ids need from the answer to a call. */
const manyTicks = 60

test('a call that begins to wait while a batch comes does not miss it', async () => {
  for (let ticks = 0; ticks < manyTicks; ticks++) {
    const { ids, release } = await starved()
    let isAnswered = false
    release()
    for (let i = 0; i < ticks; i++) await undefined
    void ids.nextAsync().then(
      () => {
        isAnswered = true
      },
      () => {},
    )
    // The batch needs only turns of the event loop, no timer.
    for (let i = 0; i < 10; i++) await new Promise(setImmediate)
    expect(isAnswered, `${ticks} microtasks after the answer`).toBe(true)
    ids.close()
  }
})

test('a call that is made while a batch comes does not overtake a waiting call', async () => {
  for (let ticks = 0; ticks < manyTicks; ticks++) {
    const { ids, release } = await starved()
    const first = ids.nextAsync()
    release()
    for (let i = 0; i < ticks; i++) await undefined
    const second = ids.nextAsync()
    expect(await second, `${ticks} microtasks after the answer`).toBeGreaterThan(await first)
    ids.close()
  }
})

describe('a fetch of the user', () => {
  test('is called without a this, which browsers refuse', async () => {
    const answer = inMemory()
    let seen: unknown = 'not called'
    const ids = await connect({
      url,
      fetch(this: unknown, at) {
        seen = this
        return answer(at)
      },
    })
    expect(seen).toBeUndefined()
    ids.close()
  })

  test('that ignores the signal has its late answer cancelled, and no second request follows', async () => {
    let isCancelled = false
    let asked = 0
    const tokens: string[] = []
    let answer = (_: Response) => {}
    const pending = connect({
      url,
      callTimeoutMs: 20,
      retries: 0,
      token: () => {
        tokens.push('mine')
        return 'mine'
      },
      fetch: () => {
        asked++
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    })
    await expect(pending).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
    const body = new ReadableStream({
      cancel: () => {
        isCancelled = true
      },
    })
    answer(new Response(body, { status: 401 }))
    await until(() => isCancelled)
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    expect([asked, tokens.length]).toEqual([1, 1])
  })

  test('is not called if its token comes after the deadline', async () => {
    let give = (_: string) => {}
    let asked = 0
    const pending = connect({
      url,
      callTimeoutMs: 20,
      retries: 0,
      token: () =>
        new Promise((resolve) => {
          give = resolve
        }),
      fetch: async () => {
        asked++
        return new Response('')
      },
    })
    await expect(pending).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
    give('mine')
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    expect(asked).toBe(0)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'broken'],
    ['an object with errors that are no list', { errors: 5, message: 'broken' }],
    ['an object with a message that is no text', { message: 5 }],
    ['an object with a symbol for a code', { code: Symbol('broken') }],
  ])('that throws %s fails, and the client can be used again', async (_, thrown) => {
    const answer = inMemory()
    let isBroken = false
    const fetch = (at: string) => {
      if (isBroken) throw thrown
      return answer(at)
    }
    const ids = await connect({ url, count: 10, retries: 0, fetch })
    ids.take(10)
    isBroken = true
    await until(() => ids.nextAsync().then(() => false, Boolean))
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
    isBroken = false
    await until(() => ids.nextAsync().then(Boolean, () => false))
    ids.close()
  })

  test('that throws an unreadable value counts as failed', async () => {
    const thrown = {
      get message() {
        throw new Error('mine')
      },
    }
    expect(await failureOf({ fetch: () => Promise.reject(thrown), maxWaitMs: 60_000, retries: 0 })).toMatchObject({
      code: 'ERR_SERVICE_UNAVAILABLE',
      message: expect.stringMatching(/ cannot be reached: an error that cannot be read$/),
    })
  })

  test('that closes its client ends the waiting calls', async () => {
    const answer = inMemory()
    let close = () => {}
    const fetch = (at: string) => {
      close()
      return answer(at)
    }
    const ids = await connect({ url, count: 10, fetch })
    close = () => ids.close()
    ids.take(10)
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(ids.stats().left).toBe(0)
  })
})

test('a token that waits for an id of its own client ends with the deadline', async () => {
  let isWaiting = false
  const ids: IdClient = await connect({
    url,
    count: 10,
    retries: 0,
    callTimeoutMs: 300,
    fetch: inMemory(),
    token: async () => `${isWaiting && (await ids.nextAsync())}`,
  })
  isWaiting = true
  ids.take(10)
  await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
  isWaiting = false
  await until(() => ids.nextAsync().then(Boolean, () => false))
  ids.close()
})

test('each call that fails because of a wrong token has its own error, with its own count', async () => {
  let token = 'right'
  const ids = await connect({ url, count: 10, maxCount: 10, fetch: inMemory(), token: () => token })
  token = ''
  ids.take(10)
  await until(() => ids.stats().failure !== '')
  const caught = (call: () => unknown): Error & { filled?: number } => {
    try {
      call()
    } catch (error) {
      return error as Error
    }
    throw new Error('it did not fail')
  }
  const first = caught(() => ids.fill(new BigUint64Array(3)))
  const second = caught(() => ids.next())
  expect(first).toMatchObject({ name: 'RangeError', code: 'ERR_OPTION_INVALID', filled: 0 })
  expect(second).not.toBe(first)
  expect(second).not.toHaveProperty('filled')
  ids.close()
})

test('an array whose class overrides set() gets no id of another call', async () => {
  const ids = await connect({ url, fetch: inMemory() })
  const stolen: bigint[] = []
  class Greedy extends BigUint64Array {
    override set(elements: ArrayLike<bigint>, at?: number) {
      stolen.push(ids.next())
      super.set(elements, at)
    }
  }
  const array = ids.fill(new Greedy(100))
  stolen.push(ids.next())
  expect(new Set([...array, ...stolen]).size).toBe(100 + stolen.length)
  ids.close()
})

test('close() during fillAsync reports the filled elements, and late ids are dropped', async () => {
  const service = await fakeService()
  const ids = await connect({ url: service.url, count: 10, maxCount: 10, prefetchAt: 1 })
  let give = () => {}
  service.script = (_, __, answer) => {
    give = answer
  }
  const array = new BigUint64Array(25)
  const filling = ids.fillAsync(array)
  await until(() => service.asked.length === 2)
  ids.close()
  give()
  await expect(filling).rejects.toMatchObject({ code: 'ERR_CLOSED', filled: 10 })
  expect([...array.subarray(10)].every((id) => id === 0n)).toBe(true)
})

describe('an answer', () => {
  test('that comes byte by byte ends with the deadline, and its connection, too', async () => {
    let isClosed = false
    const service = await fakeService({
      script: (_, response) => {
        response.writeHead(200, { ...headers, 'content-length': '80' })
        const timer = setInterval(() => response.write('a'), 10)
        response.on('close', () => {
          clearInterval(timer)
          isClosed = true
        })
      },
    })
    const error = await failureOf({ url: service.url, count: 10, callTimeoutMs: 100 })
    expect(error.message).toMatch(/did not answer within 100 ms$/)
    await until(() => isClosed)
  })

  test.each([
    ['31536000', 30_000],
    ['9'.repeat(400), 30_000],
    [new Date(Date.now() + 400 * 86_400_000).toUTCString(), 30_000],
    [new Date(0).toUTCString(), 0],
    ['soon', undefined],
  ])('with Retry-After: %s is no reason to wait longer than half a minute', async (value, retryAfterMs) => {
    const fetch = async () => new Response('busy', { status: 503, headers: { 'retry-after': value } })
    const error = await failureOf({ fetch })
    expect(error).toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE' })
    expect((error as { retryAfterMs?: number }).retryAfterMs).toBe(retryAfterMs)
  })

  test.each([0, -1, 1.5, 1000, 1e9, '5', null, Number.NaN])(
    'that names %s as the largest count is a refusal, and the request is not repeated',
    async (maximum) => {
      const service = await fakeService()
      service.script = (_, response) => refuse(response, 400, 'count is wrong', {}, { parameter: 'count', maximum })
      expect(await failureOf({ url: service.url })).toMatchObject({ code: 'ERR_SERVICE_REFUSED', status: 400 })
      expect(service.asked).toHaveLength(1)
    },
  )

  test('never shows a part of the token, wherever the text is cut', async () => {
    const token = 'a-secret-of-many-characters'
    for (const before of [270, 280, 290, 299]) {
      const fetch = async () => new Response(`${'x'.repeat(before)}${token}`, { status: 403 })
      const { message } = await failureOf({ token, fetch })
      expect(message).not.toContain('a-s')
      expect(message.length).toBeLessThan(400)
    }
  })

  test('that is far too long is refused without its text', async () => {
    const fetch = async () => new Response('x'.repeat(2 ** 20), { status: 403 })
    expect((await failureOf({ fetch })).message).toBe('http://service answered 403')
  })
})
