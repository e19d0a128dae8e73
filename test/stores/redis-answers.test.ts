import { describe, expect, it } from 'vitest'
import { redisStore } from '../../src/stores/redis.js'
import type { Store } from '../../src/stores/store.js'

// Wrong answers of a client: the answer to an earlier call, a piece of an answer, pieces of two answers, or
// something else. The scripts put the last of their words around each answer.

const calls: Record<string, (store: Store) => Promise<unknown> | undefined> = {
  read: (store) => store.read('folder/1'),
  list: (store) => store.list('folder/'),
  'a write of a new key': (store) => store.write('folder/1', 'x', undefined),
  'a write over a version': (store) => store.write('folder/1', 'x', crypto.randomUUID()),
  add: (store) => store.add?.('folder/1', 1n),
  nowMs: (store) => store.nowMs?.(),
  incarnation: (store) => store.incarnation?.(),
  place: (store) => store.place?.(),
}
const around = (call: string, body: string) => `${call}(${body})${call}`
const other = crypto.randomUUID()
const long = 'run_id:1\nmaster_replid:2\nnow:1 2\nmaxmemory:0\n'

const replies: Record<string, (call: string) => unknown> = {
  'the answer to another call': () => around(other, 'written'),
  'the first half of its answer': (call) => around(call, long).slice(0, 50),
  'the second half of its answer': (call) => around(call, long).slice(50),
  'its first half, and another answer': (call) => around(call, long).slice(0, 50) + around(other, long),
  'its first half, and its whole answer': (call) => `${around(call, long).slice(0, 50)}$120\r\n${around(call, long)}x`,
  'its beginning, and the beginning of its whole answer': (call) => `${call}(run$120\r\n${call}`,
  'an answer without proof': () => 'written',
  'an empty text': () => '',
  'bytes of another answer': () => new TextEncoder().encode(around(other, '')),
  'a page of a proxy': () => '<html><body>502 Bad Gateway</body></html>',
  nothing: () => null,
  'a number': () => 1,
  'a list': (call) => [around(call, '')],
}

describe.each(Object.entries(calls))('%s of Redis', (_name, run) => {
  const answering = (reply: (call: string) => unknown) =>
    redisStore({ call: async (...words: string[]) => reply(words.at(-1) as string) })

  it.each(Object.entries(replies))('refuses %s', async (_reply, reply) => {
    await expect(run(answering(reply))).rejects.toMatchObject({
      code: 'ERR_STORE_INVALID',
      message: expect.stringContaining('that is not the answer to it'),
    })
  })

  it('refuses QUEUED, which is no answer yet', async () => {
    await expect(run(answering(() => 'QUEUED'))).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining('give the store a client of its own'),
    })
  })

  it('shows no foreign answer in a message', async () => {
    await expect(run(answering(() => 'the secret of another call'))).rejects.not.toThrow('secret')
  })
})
