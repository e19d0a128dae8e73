import { expect, it } from 'vitest'
import { GraupelError } from '../../../src/core/errors.js'
import { memoryStore } from '../../../src/stores/memory.js'
import { type Opened, replacing } from '../../../src/stores/url/kind.js'
import { callsOf } from '../real-time.ts'

// Clients that wait for ever on a silent connection. A call is given up after a little more than the second
// that makes them silent.

const limitMs = 1100

/** Clients of one store. The clients of the given numbers never answer `read`. */
function clients(...silent: readonly number[]) {
  const store = memoryStore()
  const closed: number[] = []
  let count = 0
  const open = async (): Promise<Opened> => {
    const number = ++count
    const read = silent.includes(number) ? () => new Promise<never>(() => {}) : store.read
    return { store: { ...store, read }, close: () => void closed.push(number) }
  }
  return { open, closed, opened: () => count }
}

it('a client that answers nothing is closed, and the next call has another client', async () => {
  const { open, closed, opened } = clients(1, 3)
  const { store, close } = replacing(await open(), open)
  const calls = callsOf(store, limitMs)
  const version = await store.write('a/b', 'one', undefined)
  // Both calls are given up, and one client takes their place.
  const both = [calls.read('a/b'), calls.read('a/b')]
  for (const call of both) await expect(call).rejects.toThrow(`did not answer within ${limitMs} ms`)
  expect(closed).toEqual([1])
  expect(await calls.read('a/b')).toEqual({ key: 'a/b', value: 'one', version })
  expect(opened()).toBe(2)
  await close()
  expect(closed).toEqual([1, 2])
})

it('a client that answers other calls stays, and so does one whose caller gives up early', async () => {
  const { open, closed } = clients(1)
  const { store } = replacing(await open(), open)
  const slow = callsOf(store, limitMs).read('a/b')
  const timer = setInterval(() => store.nowMs?.(), 100)
  await expect(slow).rejects.toThrow('did not answer')
  clearInterval(timer)
  await expect(callsOf(store, 50).read('a/b')).rejects.toThrow('did not answer')
  expect(closed).toEqual([])
})

it('a client that answers nothing is closed after a second, also if each call is given up earlier', async () => {
  const { open, closed } = clients(1)
  const { store } = replacing(await open(), open)
  const calls = callsOf(store, 300)
  const outcome = () =>
    calls.read('a/b').then(
      () => 'answered',
      () => 'given up',
    )
  const outcomes: string[] = []
  while (outcomes.length < 20 && outcomes.at(-1) !== 'answered') outcomes.push(await outcome())
  expect(outcomes.at(-1)).toBe('answered')
  expect(closed).toEqual([1])
})

it('a client that only answers by errors is closed', async () => {
  const { open, closed } = clients(1)
  const first = await open()
  const nowMs = async () => Promise.reject(new Error('no server'))
  const { store } = replacing({ ...first, store: { ...first.store, nowMs } }, open)
  const timer = setInterval(() => store.nowMs?.().catch(() => {}), 100)
  await expect(callsOf(store, limitMs).read('a/b')).rejects.toThrow('did not answer')
  clearInterval(timer)
  expect(closed).toEqual([1])
})

it('a client stays after an error, a pause, and a call whose caller gives up early', async () => {
  const { open, closed } = clients(1)
  const first = await open()
  const nowMs = async () => Promise.reject(new Error('the server is busy'))
  const { store } = replacing({ ...first, store: { ...first.store, nowMs } }, open)
  await expect(store.nowMs?.()).rejects.toThrow('busy')
  await new Promise((resolve) => setTimeout(resolve, limitMs))
  await expect(callsOf(store, 50).read('a/b')).rejects.toThrow('did not answer')
  expect(closed).toEqual([])
})

it('a client that gives the answer to another call is closed, and the call may be tried again', async () => {
  const { open, closed, opened } = clients()
  const first = await open()
  const wrong = async () => Promise.reject(new GraupelError('ERR_STORE_INVALID', 'an answer of another call'))
  const { store } = replacing({ ...first, store: { ...first.store, read: wrong } }, open)
  const calls = callsOf(store, limitMs)
  await expect(calls.read('a/b')).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining('and was replaced'),
  })
  expect(closed).toEqual([1])
  expect(await calls.read('a/b')).toBeUndefined()
  expect(opened()).toBe(2)
})

it('a client that cannot be opened is tried again by the next call', async () => {
  const { open, opened } = clients(1)
  const answers = [async () => Promise.reject(new Error('connection refused')), open]
  const { store } = replacing(await open(), () => (answers.shift() as typeof open)())
  const calls = callsOf(store, limitMs)
  await expect(calls.read('a/b')).rejects.toThrow('did not answer')
  await expect(calls.read('a/b')).rejects.toThrow('connection refused')
  expect(await calls.read('a/b')).toBeUndefined()
  expect(opened()).toBe(2)
})

it('a closed store opens no client', async () => {
  const { open, closed, opened } = clients(1)
  const { store, close } = replacing(await open(), open)
  const calls = callsOf(store, limitMs)
  await expect(calls.read('a/b')).rejects.toThrow('did not answer')
  await close()
  await expect(calls.read('a/b')).rejects.toThrow('did not answer')
  expect(opened()).toBe(1)
  expect(closed).toEqual([1, 1])
})
