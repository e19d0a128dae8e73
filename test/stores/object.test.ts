import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkStore } from '../../src/cli/store-check.js'
import { type ObjectStoreOptions, objectStore } from '../../src/stores/object.js'
import { storeContract } from '../../src/stores/testing.js'
import { blocksOf, read } from '../support/documents.ts'
import { caught, freshNamespace } from '../support/engines.js'
import { until } from '../support/until.ts'
import { BucketServer, type faults } from './buckets/server.ts'
import { host, installClients, load, type Open, type Opened } from './kinds/kind.ts'
import { googleClients, s3Clients, s3Options } from './kinds/object.ts'
import { callsOf } from './real-time.ts'

// Buckets by the real clients, on a stand-in for S3 and Google. servers.long.test.ts has azurite.

beforeAll(() => installClients(), 600_000)

const clients: Readonly<Record<string, Open>> = { ...s3Clients, ...googleClients }

/** The messages about the faults of a bucket. */
const wrong: Partial<Record<keyof typeof faults, RegExp>> = {
  'has no such bucket': /answered 404 when .*bucket does not exist; create the bucket, or correct its name$/,
  'has expired credentials': /answered 40[01] when .*; (renew|check) the credentials$/,
  'knows no such key': /answered 40[13] when .*; check the credentials$/,
  'denies reads': /answered 403 when it was asked to read .*; grant the rights that docs\/stores\/object\.md names$/,
  'denies writes': /answered 403 when it was asked to write .*; grant the rights/,
  'denies lists': /answered 403 when it was asked to list .*; grant the rights/,
}
/** Mistakes that only S3 reports so. */
const wrongOnS3: typeof wrong = {
  'is in another region':
    /answered 301 when .*PermanentRedirect.*; the bucket is in another region: correct the region$/,
  'expects another region': /expecting 'eu-west-1'; the bucket is in another region: correct the region$/,
  'sees a wrong clock': /answered 403 when .*RequestTimeTooSkewed.*; set the clock of this host, by NTP$/,
}

// The clients side by side, because most of the time is spent waiting.
describe.concurrent.each(Object.entries(clients))('a bucket by %s', (name, open) => {
  let service: BucketServer
  let opened: Opened
  beforeAll(async () => {
    service = new BucketServer()
    opened = await open(await service.listen())
  })
  afterEach(() => {
    service.habits = {}
  })
  afterAll(() => {
    opened?.close()
    service?.close()
  })

  describe.sequential('in turn', () => {
    for (const { name, run } of storeContract(async () => opened.store)) it(name, run)

    /** Makes each call, also a write of a store that has no proof yet, and returns the errors. */
    async function errors(): Promise<(Error & { code?: string })[]> {
      const { port } = service.server.address() as { port: number }
      const fresh = await open(port)
      const { store } = opened
      const results = await Promise.allSettled([
        store.read('a/1'),
        store.list('a/'),
        store.write('a/1', 'x', undefined),
        store.nowMs?.(),
        fresh.store.write('a/2', 'x', undefined),
      ])
      fresh.close()
      return results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    }

    it.each(Object.entries(name === 'google-cloud' ? wrong : { ...wrong, ...wrongOnS3 }))(
      'says what to do if it %s',
      async (fault, message) => {
        service.habits = { fault: fault as keyof typeof faults }
        const found = await errors()
        expect(found.length).toBeGreaterThan(0)
        for (const error of found)
          expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(message) })
      },
    )

    it('asks for a later try if it throttles', async () => {
      service.habits = { fault: 'throttles' }
      const calls = callsOf(opened.store, 30_000)
      await expect(calls.read('a/1')).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(
          /failed: \S+ (bucket|at) .* answered (429|503).*; it asks to wait for 1 s; try again$/,
        ),
      })
    }, 60_000)

    it('takes a 409 of two writes for no answer, and repeats the write', async () => {
      const version = await opened.store.write('conflict/0', 'x', undefined)
      service.habits = { fault: 'answers conflicts' }
      const failed = {
        message: expect.stringMatching(/answered 409 when it was asked to write .*conflicting operation$/),
      }
      await expect(opened.store.write('conflict/0', 'y', version)).rejects.toMatchObject(failed)
      await expect(opened.store.write('conflict/1', 'y', undefined)).rejects.toMatchObject(failed)
      let conflicts = 0
      service.habits = {
        before() {
          service.habits.fault = ++conflicts <= 2 ? 'answers conflicts' : undefined
        },
      }
      const written = await callsOf(opened.store).write('conflict/0', 'y', version, 30_000)
      expect(written).toMatchObject({ landed: true })
    })

    it('refuses what is no bucket', async () => {
      service.habits = { instead: { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' } }
      const { store } = opened
      const calls = [() => store.read('a/1'), () => store.write('a/1', 'x', undefined), async () => store.nowMs?.()]
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          code: 'ERR_STORE_UNAVAILABLE',
          message: expect.stringMatching(/; is this the address of the bucket, and no website or proxy\?$/),
        })
      }
    })

    it('refuses an object that another program has written', async () => {
      const stored = { text: 'hello', etag: '"1"', generation: '1' }
      service.versions.set('ids/graupel/foreign/1', [stored])
      await expect(opened.store.read('foreign/1')).rejects.toMatchObject({
        code: 'ERR_STORE_INVALID',
        message: expect.stringContaining('graupel/foreign/1'),
      })
      service.versions.delete('ids/graupel/foreign/1')
    })

    it.each(['a//1', '/a', 'a/.', 'a/../b', 'a/b.'])('refuses the key %s', async (key) => {
      for (const call of [opened.store.read(key), opened.store.write(key, 'x', undefined)]) {
        await expect(call).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
      }
    })

    it('writes nothing if it expects any version that no record has', async () => {
      const first = await opened.store.write('any/version', 'first', undefined)
      for (const version of ['', ' ', 'x', '0', `${first?.slice(0, 36)}`, `${first?.slice(0, 36)} `]) {
        expect(await opened.store.write('any/version', 'over it', version)).toBeUndefined()
        expect(await opened.store.write('any/missing', 'new', version)).toBeUndefined()
      }
      expect(await opened.store.read('any/missing')).toBeUndefined()
      expect(await opened.store.read('any/version')).toEqual({ key: 'any/version', value: 'first', version: first })
    })

    it('lists several pages', async () => {
      const keys = Array.from({ length: 7 }, (_, i) => `pages/${i}&<${i}`)
      await Promise.all(keys.map((key) => opened.store.write(key, key, undefined)))
      service.habits = { pageSize: 3 }
      expect((await opened.store.list('pages/')).map(({ key }) => key).sort()).toEqual(keys)
    })

    it('counts a record that goes during a list as missing', async () => {
      await opened.store.write('going/1', 'x', undefined)
      service.habits = {
        after: ({ action }) => void (action === 'ListBucket' && service.versions.delete('ids/graupel/going/1')),
      }
      expect(await opened.store.list('going/')).toEqual([])
    })

    it('has the time of the answer, also of an object that is missing', async () => {
      await opened.store.write('time/1', 'x', undefined)
      for (const key of [undefined, 'time/1', 'time/none']) {
        expect(Math.abs(((await opened.store.nowMs?.(undefined, key)) as number) - Date.now())).toBeLessThan(2000)
      }
    })

    it.each(['denies writes', 'throttles', 'has expired credentials'] as const)(
      'lets ids go on to the ceiling if it %s, and then come back',
      async (fault) => {
        await using lease = await acquireLease({ store: opened.store, namespace: freshNamespace(), windowMs: 1000 })
        const ids = createGenerator({ lease })
        const make = () => {
          try {
            ids.next()
          } catch (error) {
            return (error as { code: string }).code
          }
          return 'made'
        }
        await until(() => lease.stats().ceilingMs - Date.now() > 500)
        service.habits = { fault }
        expect(make()).toBe('made')
        await until(() => make() === 'ERR_LEASE_EXPIRED')
        service.habits = {}
        await until(() => make() === 'made')
        expect(lease.signal.aborted).toBe(false)
      },
    )

    it('makes the requests a day that docs/stores/object.md says', async () => {
      const lease = await acquireLease({ store: opened.store, namespace: freshNamespace(), windowMs: 1200 })
      await until(() => lease.stats().renewals >= 1)
      const before = lease.stats()
      const from = service.calls.length
      await until(() => lease.stats().renewals >= before.renewals + 10)
      const { renewals, failures } = lease.stats()
      const calls = service.calls.slice(from)
      await lease.release()
      const count = (action: string) => calls.filter((call) => call.action === action).length
      // A renewal may be under way at both ends. A busy machine may make a call fail, which is then repeated.
      const near = 1 + 4 * (failures - before.failures)
      expect(Math.abs(count('PutObject') - (renewals - before.renewals))).toBeLessThanOrEqual(near)
      expect(Math.abs(count('GetObject') - (renewals - before.renewals))).toBeLessThanOrEqual(near)
      expect(count('ListBucket') + count('DeleteObject')).toBe(0)
      // Rows such as | 15 s | 1 728 000 | 1 728 000 | 9.33 |
      const row = /^\| (\d+) (s|min|h)\b[^|]*\| ([\d ]+) \| ([\d ]+) \| ([\d.]+) \|$/gm
      const rows = [...read('docs/stores/object.md').matchAll(row)]
      expect(rows).toHaveLength(5)
      for (const [, size, unit, ofWrites = '', ofReads = '', dollars] of rows) {
        const windowSeconds = Number(size) * { s: 1, min: 60, h: 3600 }[unit as 's' | 'min' | 'h']
        const aDay = (100 * 86_400) / (windowSeconds / 3)
        const said = (text: string) => Number(text.replaceAll(' ', ''))
        expect([said(ofWrites), said(ofReads)]).toEqual([aDay, aDay])
        expect(Math.abs(Number(dollars) - (aDay * (0.005 + 0.0004)) / 1000)).toBeLessThan(0.01)
      }
    })
  })
})

describe('the options', () => {
  const sdk = () => new (load('@aws-sdk/client-s3').S3)(s3Options(1))
  const url = `http://${host}:1/ids`
  const sign = { sign: async (at: string) => new Request(at) }
  const google = { name: 'ids', file() {}, getFiles() {} }
  const azure = { url, containerName: 'ids', getBlockBlobClient() {}, listBlobsByHierarchy() {} }

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'pass an object such as { client }'],
    ['no client', () => ({}), 'the client of the bucket is undefined; pass an S3 of @aws-sdk/client-s3'],
    ['an S3Client', () => ({ client: { send() {} }, bucket: 'ids' }), 'pass an S3 in place of an S3Client'],
    ['an empty client', () => ({ client: {}, bucket: 'ids' }), 'pass an S3 of @aws-sdk/client-s3'],
    ['a client that is no store', () => ({ client: {}, url }), 'pass an S3 of @aws-sdk/client-s3'],
    ['an S3Client without a bucket', () => ({ client: { send() {} } }), 'pass an S3 in place of an S3Client'],
    ['a BlobServiceClient', () => ({ client: { getContainerClient() {} } }), 'pass client.getContainerClient(NAME)'],
    ['a Storage', () => ({ client: { bucket() {} } }), 'pass client.bucket(NAME)'],
    ['an S3 without a bucket', () => ({ client: sdk() }), 'bucket is undefined; pass the name of the bucket'],
    ['an S3 with a URL', () => ({ client: sdk(), bucket: 'ids', url }), 'url is not for this client'],
    ['aws4fetch without a URL', () => ({ client: sign }), 'url is undefined; pass the URL of the bucket'],
    ['aws4fetch with a bucket', () => ({ client: sign, url, bucket: 'ids' }), 'bucket is not for this client'],
    [
      'aws4fetch with a bad URL',
      () => ({ client: sign, url: 's3://ids' }),
      'pass the text of a URL that begins with http',
    ],
    ['Google with a bucket', () => ({ client: google, bucket: 'ids' }), 'bucket is not for this client'],
    ['Google with a URL', () => ({ client: google, url }), 'url is not for this client'],
    ['Azure with a bucket', () => ({ client: azure, bucket: 'ids' }), 'bucket is not for this client'],
    ['Azure with a URL', () => ({ client: azure, url }), 'url is not for this client'],
    ['assumeDurable: false', () => ({ client: google, assumeDurable: false }), 'have no incarnation'],
    ...['', '/a', 'a/', 'a//b', '.a', 'a.', 'a b', 'x'.repeat(201)].map((prefix): [string, () => unknown, string] => [
      `the prefix '${prefix.slice(0, 9)}'`,
      () => ({ client: google, prefix }),
      'prefix is',
    ]),
    ['an option that does not exist', () => ({ client: google, table: 'x' }), "there is no option 'table'"],
  ])('refuse %s', (_, options, message) => {
    expect(caught(() => objectStore(options() as ObjectStoreOptions)).message).toContain(message)
  })

  it('a client in place of a store is refused with the call that makes a store of it', async () => {
    const make = async (client: unknown) => acquireLease({ store: client as never })
    await expect(make(sdk())).rejects.toThrow('store: objectStore({ client, bucket }), from graupel/stores/object')
    await expect(make(google)).rejects.toThrow('store: objectStore({ client }), from graupel/stores/object')
  })

  it("the user's client stays as it is", async () => {
    const client = sdk()
    const names = () => client.middlewareStack.identify()
    const before = names()
    objectStore({ client, bucket: 'ids', prefix: 'a.b/c-d' })
    expect(names()).toEqual(before)
  })
})

describe('the policy of docs/stores/object.md', () => {
  let service: BucketServer
  beforeEach(() => {
    service = new BucketServer()
  })
  afterEach(() => service.close())

  /** Whether a statement allows a call. */
  const isAllowed = ({ Action, Resource }: Statement, { action, bucket, name }: (typeof service.calls)[number]) => {
    const of = action === 'ListBucket' ? `arn:aws:s3:::${bucket}` : `arn:aws:s3:::${bucket}/${name}`
    const isFor = (pattern: string) => (pattern.endsWith('*') ? of.startsWith(pattern.slice(0, -1)) : of === pattern)
    return [Action].flat().includes(`s3:${action}`) && [Resource].flat().some(isFor)
  }
  interface Statement {
    readonly Effect: 'Allow'
    readonly Action: string | readonly string[]
    readonly Resource: string | readonly string[]
  }

  const block = blocksOf('docs/stores/object.md').find(({ code }) => code.includes('"Statement"'))
  const statements: readonly Statement[] = JSON.parse(block?.code ?? '{}').Statement

  it('allows a check of the store but for the right that the text names', async () => {
    const { store, close } = await (s3Clients['aws-sdk'] as Open)(await service.listen())
    const open = { store, calls: callsOf(store), shown: '', hide: String, damage: async () => [] }
    const { left } = await checkStore(open, new AbortController().signal, async () => {})
    close()
    expect(left).toBeUndefined()
    const refused = service.calls.filter((call) => !statements.some((one) => isAllowed(one, call)))
    expect(new Set(refused.map(({ action }) => action))).toEqual(new Set(['DeleteObject']))
    const named = { Effect: 'Allow' as const, Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::ids/graupel/*' }
    expect(refused.filter((call) => !isAllowed(named, call))).toEqual([])
    expect(read('docs/stores/object.md')).toContain(`\`${named.Action}\` on\n\`${named.Resource}\``)
  })

  it('allows the calls of a lease, and nothing else', async () => {
    const { store, close } = await (s3Clients['aws-sdk'] as Open)(await service.listen())
    const lease = await acquireLease({ store, namespace: freshNamespace(), windowMs: 300 })
    await until(() => lease.stats().renewals > 1)
    await lease.release()
    await store.place?.()
    await store.advice?.()
    close()
    for (const call of service.calls) {
      expect(
        statements.some((one) => isAllowed(one, call)),
        `${call.action} ${call.name}`,
      ).toBe(true)
    }
    // Each right of each statement was used.
    for (const { Action, Resource } of statements) {
      for (const action of [Action].flat()) {
        for (const resource of [Resource].flat()) {
          const one = { Effect: 'Allow' as const, Action: action, Resource: resource }
          expect(
            service.calls.some((call) => isAllowed(one, call)),
            `${action} ${resource}`,
          ).toBe(true)
        }
      }
    }
  })
})
