import { beforeEach, describe, expect, it } from 'vitest'
import { GraupelError } from '../../src/core/errors.js'
import { StoreCalls } from '../../src/stores/calls.js'
import { memoryStore } from '../../src/stores/memory.js'
import { storeOfUser } from '../../src/stores/options.js'
import type { Store } from '../../src/stores/store.js'
import { VirtualTime } from '../support/virtual-time.ts'

const key = 'folder/1'
let time: VirtualTime
let store: Store

beforeEach(() => {
  time = new VirtualTime()
  store = memoryStore()
})

/** The calls of a store some of whose methods are replaced. */
function callsOf(changes: Partial<Store> = {}): StoreCalls {
  return new StoreCalls({ ...store, ...changes }, time, 100)
}

const write = (calls: StoreCalls, value: string, expected?: string, signal?: AbortSignal) =>
  time.until(calls.write(key, value, expected, 1000, signal))

/** A store whose first writes fail in the given ways; later writes succeed. */
function writesLike(
  ...attempts: ((...words: Parameters<Store['write']>) => Promise<string | undefined>)[]
): Partial<Store> {
  let count = 0
  return {
    write: (...words) => (attempts[count++] ?? store.write)(...words),
  }
}
const failBefore = async () => {
  throw new Error('cut before')
}
const failAfter: Store['write'] = async (...words) => {
  await store.write(...words)
  throw new Error('cut after')
}
const resent: Store['write'] = async (...words) => {
  await store.write(...words)
  return store.write(...words)
}
const hang = () => new Promise<never>(() => {})

describe('a write', () => {
  it.each([
    ['that is answered', []],
    ['whose reply is lost', [failAfter]],
    ['that the client repeats, and that conflicts with itself', [resent]],
    ['that fails before it is applied', [failBefore, failBefore]],
    ['that is never answered', [hang]],
    ['whose first attempt fails, and whose next reply is lost', [failBefore, failAfter]],
  ])('%s lands once', async (_name, attempts) => {
    const first = await store.write(key, 'before', undefined)
    const written = await write(callsOf(writesLike(...attempts)), 'after', first)
    expect(written).toEqual({ landed: true, version: (await store.read(key))?.version })
    expect((await store.read(key))?.value).toBe('after')
  })

  it('lands once if the first attempt lands late, beside the second attempt', async () => {
    const first = await store.write(key, 'before', undefined)
    const versions: (string | undefined)[] = []
    const late: Store['write'] = async (...words) => {
      time.later(() => void store.write(words[0], words[1], words[2]).then((version) => versions.push(version)), 105)
      return hang()
    }
    const written = await write(callsOf(writesLike(late)), 'after', first)
    expect(written).toEqual({ landed: true, version: (await store.read(key))?.version })
    await time.until(time.sleep(500))
    expect((await store.read(key))?.version).toBe((written as { version: string }).version)
  })

  it('that is only visible does not count: a later write has to be answered', async () => {
    const calls = callsOf({ write: failAfter })
    await expect(write(calls, 'x')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect((await store.read(key))?.value).toBe('x')
  })

  it('that loses to another write returns the record of the other write', async () => {
    const first = await store.write(key, 'before', undefined)
    await store.write(key, 'theirs', first)
    for (const attempts of [[], [failBefore], [hang]]) {
      const written = await write(callsOf(writesLike(...attempts)), 'ours', first)
      expect(written).toEqual({ landed: false, found: await store.read(key) })
    }
  })

  it('whose outcome stays unknown throws an error that says so, with the cause', async () => {
    const calls = callsOf({ write: failBefore })
    await expect(write(calls, 'x')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('may or may not have written'),
      cause: { cause: { message: 'cut before' } },
    })
    const dead = callsOf({ write: failBefore, read: hang })
    await expect(write(dead, 'x')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
  })

  it('sends no read after its deadline, and says why the write failed', async () => {
    let reads = 0
    const read: Store['read'] = async (...words) => {
      reads++
      return store.read(...words)
    }
    // A call may take 100 ms.
    const writing = time.until(callsOf({ write: hang, read }).write(key, 'x', undefined, 80))
    await expect(writing).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message:
        "the store 'memory' may or may not have written 'folder/1': write() of the store 'memory' did not answer within 80 ms; try again",
    })
    expect(reads).toBe(0)
  })

  it('ends with its signal, whatever the client does', async () => {
    const abort = new AbortController()
    time.later(() => abort.abort(new Error('enough')), 30)
    await expect(write(callsOf({ write: hang }), 'x', undefined, abort.signal)).rejects.toThrow('enough')
    await expect(write(callsOf(), 'x', undefined, abort.signal)).rejects.toThrow('enough')
    expect(await store.read(key)).toBeUndefined()
  })
})

const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()
const evilCode = Object.defineProperty(new RangeError('about a code'), 'code', {
  get() {
    throw new Error('evil')
  },
})

describe('a call', () => {
  it('has a deadline, and aborts the store with it', async () => {
    let seen: AbortSignal | undefined
    const calls = callsOf({
      read: (_key, signal) => {
        seen = signal
        return hang()
      },
    })
    await expect(time.until(calls.read(key))).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: "read() of the store 'memory' did not answer within 100 ms; try again",
    })
    expect(seen?.aborted).toBe(true)
  })

  it('that throws synchronously fails like a call that rejects', async () => {
    const calls = callsOf({
      list: () => {
        throw new Error('not connected')
      },
    })
    await expect(time.until(calls.list('folder/'))).rejects.toThrow(
      "list() of the store 'memory' failed: not connected",
    )
  })

  it.each([
    ['a message that is a symbol', { message: Symbol('x') }, 'failed: { message };'],
    [
      'a message that throws',
      {
        get message() {
          throw new Error('evil')
        },
      },
      'failed: an error that cannot be read;',
    ],
    ['nothing', undefined, 'failed: undefined;'],
    ['a revoked proxy', revoked, 'failed: an error that cannot be read;'],
    ['a code that throws', evilCode, 'failed: about a code;'],
  ])('ends if the store rejects with %s', async (_name, reason, text) => {
    const calls = callsOf({ read: () => Promise.reject(reason) })
    await expect(time.until(calls.read(key))).rejects.toThrow(text)
  })

  it.each<[string, Partial<Store>, (calls: StoreCalls) => Promise<unknown>]>([
    ['a number for a record', { read: async () => 7 as never }, (calls) => calls.read(key)],
    ['null for a record', { read: async () => null as never }, (calls) => calls.read(key)],
    [
      'the record of another key',
      { read: async () => ({ key: 'x', value: '', version: '1' }) },
      (calls) => calls.read(key),
    ],
    ['an empty version', { read: async () => ({ key, value: '', version: '' }) }, (calls) => calls.read(key)],
    ['no list', { list: async () => ({}) as never }, (calls) => calls.list('folder/')],
    [
      'records of elsewhere',
      { list: async () => [{ key: 'x/1', value: '', version: '1' }] },
      (calls) => calls.list('folder/'),
    ],
    ['true for a version', { write: async () => true as never }, (calls) => calls.write(key, 'x', undefined, 1000)],
    ['no time', { nowMs: async () => Number.NaN }, (calls) => calls.nowMs()],
    ['a time that no Date can hold', { nowMs: async () => 1e16 }, (calls) => calls.nowMs()],
    ['no name', { incarnation: async () => '' }, (calls) => calls.incarnation()],
  ])('is refused if the store answers %s', async (_name, changes, call) => {
    await expect(time.until(call(callsOf(changes)))).rejects.toMatchObject({ code: 'ERR_STORE_INVALID' })
  })

  it('is refused at once if the store is not safe, because another attempt would be refused as well', async () => {
    let writes = 0
    const write = async () => {
      writes++
      throw new GraupelError('ERR_STORE_UNSAFE', 'it forgets')
    }
    const refused = time.until(callsOf({ write }).write(key, 'x', undefined, 1000))
    await expect(refused).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    expect(writes).toBe(1)
  })
})

describe('an argument that should be a store', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'store is undefined'],
    ['a URL, which may have a password', 'redis://user:hush@host', 'store is a text; pass'],
    [
      'the pool of pg',
      { connect() {}, query() {} },
      'wrap it: store: postgresStore(pool), from graupel/stores/postgres',
    ],
    ['a client of postgres', Object.assign(() => {}, { unsafe() {} }), 'wrap it: store: postgresStore(sql)'],
    ['a pool of mysql2', { getConnection() {}, query() {} }, 'wrap it: store: mysqlStore(pool)'],
    ['a database of SQLite', { prepare() {} }, 'wrap it: store: sqliteStore(database)'],
    ['a client of Redis', { sendCommand() {} }, 'wrap it: store: redisStore(client)'],
    ['another object', { find() {} }, 'name of the store is undefined'],
    ['a store without write', { ...memoryStore(), write: undefined }, 'write of the store is undefined'],
    ['a clock that is a number', { ...memoryStore(), nowMs: 7 }, 'nowMs of the store is 7'],
    [
      'a store that is not durable and has no incarnation',
      { ...memoryStore(), durable: false },
      'because it is not durable',
    ],
  ])('is refused if it is %s', (_name, value, message) => {
    expect(() => storeOfUser('store', value)).toThrow(message)
  })
})
