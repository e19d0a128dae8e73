import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../src/stores/object.js'
import { repository } from '../support/documents.ts'
import { BucketServer, type Call, type Habits, type Stored } from './buckets/server.ts'
import { installClients, type Open } from './kinds/kind.ts'
import { googleClients, s3Clients } from './kinds/object.ts'

// The proof that a bucket enforces conditions, before its first write.

beforeAll(() => installClients(), 600_000)

/** The requests of a proof, and the writes among them. */
const requestsOfProof = 13
const writesOfProof = 8
const isOfProof = ({ name }: Call) => name.startsWith('graupel.proof/')

/** A bucket, and the stores on it that the test has opened. */
class Bucket {
  service = new BucketServer()
  port = 0
  readonly #closing: (() => unknown)[] = []

  async begin(): Promise<void> {
    this.service = new BucketServer()
    this.port = await this.service.listen()
  }

  end(): void {
    for (const close of this.#closing.splice(0)) close()
    this.service.close()
  }

  async openBy(open: Open): Promise<ObjectStore> {
    const { store, close } = await open(this.port)
    this.#closing.push(close)
    return store as ObjectStore
  }

  byFetch(): Promise<ObjectStore> {
    return this.openBy(s3Clients['aws4fetch'] as Open)
  }

  proofCalls(): Call[] {
    return this.service.calls.filter(isOfProof)
  }

  leftBehind(): string[] {
    return this.service.names().filter((name) => name.includes('.proof/'))
  }
}

const conditions = ['ifNoneMatch', 'ifMatch', 'ifMatch of a missing object'] as const

/**
 * The conditions that a bucket ignores at a step of the proof. The small client tries all. The SDKs take most
 * of the time, so they try one condition at each step, in the order in which the proof needs them.
 */
const ignoredAt = (step: number, steps: number, client: string) =>
  client === 'aws4fetch'
    ? conditions
    : [conditions[Math.floor((3 * (step - 1)) / steps)] as (typeof conditions)[number]]

/** A cache that answers each read of an object as the first one. */
function throughCache(cache: Map<string, Stored>): NonNullable<Habits['shows']> {
  return ({ name }, present) => {
    if (present !== undefined && !cache.has(name)) cache.set(name, present)
    return cache.get(name)
  }
}

/** A new bucket for each test of a block. */
function bucketOfEachTest(): Bucket {
  const bucket = new Bucket()
  beforeEach(() => bucket.begin())
  afterEach(() => bucket.end())
  return bucket
}

/**
 * Proves something for each step, on a bucket of its own: four side by side, because the clients wait most of
 * the time. With all steps at once, a busy machine does not end a proof within its 10 s.
 */
async function forEachStep(steps: number, prove: (bucket: Bucket, step: number) => Promise<void>): Promise<void> {
  for (let first = 1; first <= steps; first += 4) {
    const proving = Array.from({ length: Math.min(4, steps - first + 1) }, async (_, i) => {
      const bucket = new Bucket()
      await bucket.begin()
      await prove(bucket, first + i).finally(() => bucket.end())
    })
    await Promise.all(proving)
  }
}

// The clients side by side, because most of the time is spent waiting.
describe.concurrent.each(Object.entries({ ...s3Clients, ...googleClients }))('a bucket by %s', (name, open) => {
  describe.sequential('in turn', () => {
    const bucket = bucketOfEachTest()
    it.each<[string, Habits['ignores'], string]>([
      ['If-None-Match', ['ifNoneMatch'], 'writes over an object despite If-None-Match'],
      ['If-Match', ['ifMatch'], 'lets two writes land that expect the same ETag'],
      ['If-Match of a missing object', ['ifMatch of a missing object'], 'writes an object that is missing'],
      [
        'all conditions',
        ['ifNoneMatch', 'ifMatch', 'ifMatch of a missing object', 'ifMatch of a delete'],
        'If-None-Match',
      ],
    ])('is refused if it ignores %s, and has nothing of the proof afterwards', async (_, ignores = [], words) => {
      bucket.service.habits = { ignores }
      const store = await bucket.openBy(open)
      const refused = { code: 'ERR_STORE_UNSAFE', message: expect.stringContaining(words) }
      await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject(refused)
      expect(bucket.service.names()).toEqual([])
      // A bucket that enforces conditions only at times would pass one of many attempts.
      const { length } = bucket.service.calls
      bucket.service.habits = {}
      await expect(store.prove()).rejects.toMatchObject(refused)
      await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject(refused)
      expect(bucket.service.calls).toHaveLength(length)
      expect(await (await bucket.openBy(open)).write('a/1', 'x', undefined)).toBeDefined()
    })

    it('is proved once, however many writes begin together, and nothing is left', async () => {
      const store = await bucket.openBy(open)
      await Promise.all(Array.from({ length: 5 }, (_, i) => store.write(`a/${i}`, 'x', undefined)))
      await store.prove()
      const actions = bucket.proofCalls().map(({ action }) => action)
      expect(actions.filter((action) => action === 'PutObject')).toHaveLength(writesOfProof)
      expect(actions).toHaveLength(requestsOfProof)
      expect(bucket.leftBehind()).toEqual([])
    })

    it('is proved by several processes at once', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => bucket.openBy(open)))
      const versions = await Promise.all(stores.map((store, i) => store.write(`a/${i}`, 'x', undefined)))
      expect(versions.filter((version) => version !== undefined)).toHaveLength(5)
      expect(bucket.leftBehind()).toEqual([])
    })

    it('is never proved by a lost answer, and is proved later', () =>
      forEachStep(requestsOfProof, async (bucket, lost) => {
        let count = 0
        let action = ''
        bucket.service.habits = {
          after(call) {
            if (!isOfProof(call) || ++count !== lost) return false
            action = call.action
            return true
          },
        }
        const store = await bucket.openBy(open)
        const outcome = await store.prove().catch((error: Error) => error)
        // The SDKs repeat every call, and `fetch` repeats reads.
        if (name === 'aws4fetch' && action !== 'GetObject') {
          expect(outcome).toMatchObject({ message: expect.stringContaining('cannot be reached') })
        } else expect(outcome, `lost answer ${lost}`).toBeUndefined()
        await store.prove()
        expect(bucket.leftBehind(), `lost answer ${lost}`).toEqual([])
      }))

    it('is never proved by a 409, which says nothing about the condition, and is proved later', () =>
      forEachStep(writesOfProof, async (bucket, step) => {
        const conflicts = (ignores: Habits['ignores'] = []) => {
          let writes = 0
          bucket.service.habits = {
            ignores,
            before(call) {
              const isWrite = isOfProof(call) && call.action === 'PutObject'
              bucket.service.habits.fault = isWrite && ++writes === step ? 'answers conflicts' : undefined
            },
          }
        }
        for (const ignored of ignoredAt(step, writesOfProof, name)) {
          conflicts([ignored])
          const outcome = await (await bucket.openBy(open)).prove().catch((error: Error) => error)
          expect(outcome, `${ignored}, a 409 to write ${step}`).toBeInstanceOf(Error)
        }
        conflicts()
        const store = await bucket.openBy(open)
        await store.prove().catch(() => {})
        await store.prove()
        expect(bucket.service.names().filter((name) => name.includes('none'))).toEqual([])
      }))

    it('is never proved if a rule removes the object, and the bucket ignores a condition', async () => {
      for (let step = 1; step <= requestsOfProof; step++) {
        for (const ignored of ignoredAt(step, requestsOfProof, name)) {
          let count = 0
          bucket.service.habits = {
            ignores: [ignored],
            after: (call) => void (isOfProof(call) && ++count === step && bucket.service.empty()),
          }
          const store = await bucket.openBy(open)
          await expect(store.prove(), `${ignored}, removed after ${step}`).rejects.toMatchObject({
            code: expect.stringMatching(/^ERR_STORE_UN(SAFE|AVAILABLE)$/),
          })
        }
      }
    })

    it('is proved by a later attempt if a rule removes the object', async () => {
      for (let step = 1; step <= requestsOfProof; step++) {
        let count = 0
        bucket.service.habits = {
          after: (call) => void (isOfProof(call) && ++count === step && bucket.service.empty()),
        }
        const store = await bucket.openBy(open)
        const outcome = await store.prove().catch((error: Error) => error)
        // Two creates land if a rule removes the object between them. That store stays refused.
        const isRefused = (outcome as { code?: string } | undefined)?.code === 'ERR_STORE_UNSAFE'
        expect(isRefused, `removed after ${step}`).toBe(step === 1)
        await (isRefused ? await bucket.openBy(open) : store).prove()
        expect(bucket.leftBehind()).toEqual([])
      }
    })

    it('is not used without the right to delete, and the object goes when the right is there', async () => {
      bucket.service.habits = { fault: 'denies deletes' }
      const store = await bucket.openBy(open)
      await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/answered 403 when it was asked to delete .*; grant the rights/),
      })
      expect(bucket.leftBehind()).toHaveLength(1)
      expect(await store.advice?.()).toEqual([expect.stringContaining('has 1 objects below graupel.proof/')])
      bucket.service.habits = {}
      expect(await store.write('a/1', 'x', undefined)).toBeDefined()
      expect(bucket.service.names()).toEqual(['ids/graupel/a/1'])
      expect(await store.advice?.()).toEqual([])
    })

    it.each(['ifNoneMatch', 'ifMatch'] as const)(
      'is refused if it compares %s first and writes later, so that two writes pass',
      async (condition) => {
        let inside = 0
        let meet = () => {}
        const both = new Promise<void>((resolve) => {
          meet = resolve
        })
        bucket.service.habits = {
          between: async (call) => {
            if (call[condition] === undefined) return
            if (++inside === 2) meet()
            await both
          },
        }
        const store = await bucket.openBy(open)
        await expect(store.prove()).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
        expect(bucket.leftBehind()).toEqual([])
      },
      15_000,
    )

    it('is not used if reads have the ETags of a proxy, and not those of writes', async () => {
      bucket.service.habits = {
        shows: (_, present) =>
          present && { ...present, etag: `W/${present.etag}`, generation: `1${present.generation}` },
      }
      const store = await bucket.openBy(open)
      await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('with another ETag than the write; look whether a proxy changes ETags'),
      })
      bucket.service.habits = {}
      await store.prove()
      expect(bucket.leftBehind()).toEqual([])
    })

    it('is not used if a cache answers reads', async () => {
      const cache = new Map<string, Stored>()
      bucket.service.habits = { shows: throughCache(cache) }
      const store = await bucket.openBy(open)
      await expect(store.prove()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/with its text before a write; look whether a proxy .* keeps answers/),
      })
      bucket.service.habits = {}
      await store.prove()
      expect(bucket.leftBehind()).toEqual([])
    })

    it('removes nothing if a cache hides that it deletes without conditions', async () => {
      const cache = new Map<string, Stored>()
      bucket.service.habits = {
        ignores: ['ifMatch of a delete'],
        // The cache forgets an object that is written, and none that is deleted.
        before: ({ action, name }) => void (action === 'PutObject' && cache.delete(name)),
        shows: throughCache(cache),
      }
      const store = await bucket.openBy(open)
      const version = (await store.write('a/1', 'x', undefined)) as string
      await expect(store.remove('a/1', version)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
      expect(bucket.service.names()).toEqual(['ids/graupel/a/1'])
    })

    it('is refused if a client repeats a write over a missing object that has landed', async () => {
      bucket.service.habits = {
        ignores: ['ifMatch of a missing object'],
        after: ({ action, name, ifMatch }) =>
          action === 'PutObject' && name.endsWith('-none') && ifMatch !== undefined && ++lost === 1,
      }
      let lost = 0
      const store = await bucket.openBy(open)
      await expect(store.prove()).rejects.toBeInstanceOf(Error)
      await expect(store.prove()).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
      expect(bucket.leftBehind()).toEqual([])
    })

    it('removes a record that has the expected version, and no other', async () => {
      const store = await bucket.openBy(open)
      const first = (await store.write('a/1', 'x', undefined)) as string
      const second = (await store.write('a/1', 'x', first)) as string
      expect(await store.remove('a/1', first)).toBe(false)
      expect(await store.remove('a/1', 'no version')).toBe(false)
      expect(await store.remove('a/1', second)).toBe(true)
      expect(await store.remove('a/1', second)).toBe(false)
      expect(await store.read('a/1')).toBeUndefined()
      expect(await store.write('a/1', 'late', second)).toBeUndefined()
    })

    it('is used if it deletes without conditions, but removes nothing', async () => {
      bucket.service.habits = { ignores: ['ifMatch of a delete'] }
      const store = await bucket.openBy(open)
      const version = (await store.write('a/1', 'x', undefined)) as string
      await expect(store.remove('a/1', version)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
      expect(bucket.service.names()).toEqual(['ids/graupel/a/1'])
    })
  })
})

describe.each(Object.entries(s3Clients))('equal ETags of two writes, by %s', (_, open) => {
  const bucket = bucketOfEachTest()
  it('are refused, also if a second ends during the proof', async () => {
    for (let before = 0; before <= writesOfProof; before++) {
      let landed = 0
      bucket.service.habits = { etagOf: (body) => `"${landed++ < before ? 'a' : 'b'}-${body.length}"` }
      const store = await bucket.openBy(open)
      const refused = { code: 'ERR_STORE_UNSAFE' }
      await expect(store.prove(), `the second ends after ${before} writes`).rejects.toMatchObject(refused)
      expect(bucket.leftBehind()).toEqual([])
    }
  })
})

describe('a bucket', () => {
  const bucket = bucketOfEachTest()

  it('a service without conditional writes is refused', async () => {
    bucket.service.habits = { fault: 'has no conditional writes' }
    for (const open of Object.values(s3Clients)) {
      const store = await bucket.openBy(open)
      await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    }
  })

  it('reads need no proof', async () => {
    const store = await bucket.byFetch()
    await store.read('a/1')
    await store.list('a/')
    await store.nowMs?.()
    expect(bucket.proofCalls()).toEqual([])
  })

  it('a bucket with versioning is used: a delete marker counts as no object', async () => {
    bucket.service.habits = { isVersioned: true }
    const store = await bucket.byFetch()
    const version = (await store.write('a/1', 'x', undefined)) as string
    expect(await store.remove('a/1', version)).toBe(true)
    expect(await store.write('a/1', 'y', version)).toBeUndefined()
    expect(await store.write('a/1', 'z', undefined)).toBeDefined()
    expect(bucket.service.versions.get('ids/graupel/a/1')).toHaveLength(3)
  })
})

describe('without the proof', () => {
  const bucket = bucketOfEachTest()
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** Lets two processes lease one node whose list both have seen empty, and returns the ids of each. */
  async function idsOfTwo(): Promise<[string[], string[]]> {
    let lists = 0
    let open = () => {}
    const both = new Promise<void>((resolve) => {
      open = resolve
    })
    bucket.service.habits.before = async ({ action, name }) => {
      if (action !== 'ListBucket' || !/leases/.test(name)) return
      if (++lists === 2) open()
      await both
    }
    const all = await Promise.all(
      [0, 1].map(async () => {
        const words = ['--import', join(repository, 'node_modules/tsx/dist/esm/index.mjs')]
        const program = join(repository, 'test/stores/programs/unproved.ts')
        // Each process is a host of its own.
        const env = { ...process.env, GRAUPEL_NODE_UNIQUE: '1' }
        const child = spawn(process.execPath, [...words, program, `${bucket.port}`], {
          env,
          stdio: ['pipe', 'pipe', 'ignore'],
        })
        children.push(child)
        const lines: string[] = []
        const ended = once(child, 'close')
        const reader = createInterface(child.stdout)
        await once(reader, 'line')
        reader.on('line', (line) => lines.push(line))
        return { child, lines, ended }
      }),
    )
    for (const { child } of all) child.stdin?.write('go')
    await Promise.all(all.map(({ ended }) => ended))
    return all.map(({ lines }) => lines) as [string[], string[]]
  }

  it('two processes make equal ids on a bucket that ignores conditions', async () => {
    bucket.service.habits = { ignores: ['ifNoneMatch', 'ifMatch'] }
    const [one, other] = await idsOfTwo()
    expect(Math.min(one.length, other.length)).toBeGreaterThan(100)
    const others = new Set(other)
    expect(one.filter((id) => others.has(id)).length).toBeGreaterThan(0)
  })

  it('only one of them has the node on a bucket that enforces them', async () => {
    const [one, other] = await idsOfTwo()
    expect(Math.min(one.length, other.length)).toBe(0)
    expect(Math.max(one.length, other.length)).toBeGreaterThan(100)
  })
})
