import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dynamodbStore } from '../../src/stores/dynamodb.js'
import type { Store } from '../../src/stores/store.js'
import { storeContract } from '../../src/stores/testing.js'
import { projectWith } from '../cli/fleet.ts'
import { blocksOf, read } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { until } from '../support/until.ts'
import { denied, type Gate, type Refusal, startGate } from './dynamodb-gate.ts'
import { documentOf, dynamodbClient, dynamodbUrl, startDynamodb } from './kinds/dynamodb.ts'
import { host } from './kinds/kind.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

// The peculiarities of DynamoDB, with the AWS SDK on dynalite.

let server: Server
let gate: Gate
beforeAll(async () => {
  server = await startDynamodb()
  await dynamodbStore(dynamodbClient(server.port)).setup()
}, 600_000)
afterAll(() => server?.stop())
beforeEach(async () => {
  gate = await startGate(server.port)
})
afterEach(() => gate?.stop())

const storeOf = (options: object = {}) => dynamodbStore(dynamodbClient(gate.port, options))
const page = 'docs/stores/dynamodb.md'

describe('the AWS SDK', () => {
  it('retries a write that has landed, and then answers that its condition fails; the store reads again', async () => {
    const client = dynamodbClient(gate.port)
    const [attempts, lost]: number[][] = [[], []]
    let isLossy = true
    // Loses one answer, next to the network, where the SDK does not know it.
    const lossy = (next: (args: unknown) => Promise<unknown>) => async (args: never) => {
      const answer = await next(args)
      attempts?.push(1)
      if (!isLossy) return answer
      isLossy = false
      lost?.push(1)
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    }
    const store = dynamodbStore(client)
    const key = `lost/${crypto.randomUUID()}`
    const first = await store.write(key, 'first', undefined)
    client.middlewareStack.add(lossy, { step: 'deserialize', priority: 'low', name: 'lossy' })
    expect(await store.write(key, 'second', first)).toBeUndefined()
    expect([attempts, lost]).toEqual([[1, 1], [1]])
    const found = await store.read(key)
    expect(found?.value).toBe('second')
    isLossy = true
    const written = await callsOf(store).write(key, 'third', found?.version, 10_000)
    expect(written).toEqual({ landed: true, version: (await store.read(key))?.version })
    expect(lost).toEqual([1, 1])
  })

  it('keeps its middleware as it is', async () => {
    const client = dynamodbClient(gate.port)
    for (const used of [client, documentOf(client)]) {
      const before = used.middlewareStack.identify()
      const nowMs = (await dynamodbStore(used).nowMs?.()) as number
      expect(Math.abs(nowMs - Date.now())).toBeLessThan(2000)
      expect(used.middlewareStack.identify()).toEqual(before)
    }
  })

  const forms = {
    'numbers as objects': { unmarshallOptions: { wrapNumbers: true } },
    'empty texts as null': { marshallOptions: { convertEmptyValues: true } },
  }
  describe.each(Object.entries(forms))('that translates %s', (_, options) => {
    const open = async () => dynamodbStore(documentOf(dynamodbClient(server.port), options))
    for (const { name, run } of storeContract(open)) it(name, run)
  })
})

describe('a folder', () => {
  it('of more than a megabyte is listed in pages', async () => {
    const store = storeOf()
    const names = Array.from({ length: 300 }, (_, i) => `pages/${i}`)
    await Promise.all(names.map((name) => store.write(name, 'x'.repeat(4096), undefined)))
    gate.actions.length = 0
    const listed = await store.list('pages/')
    expect(gate.actions).toEqual(['Query', 'Query'])
    expect(new Set(listed.map(({ key }) => key))).toEqual(new Set(names))
  })
})

describe('remove()', () => {
  it('removes the record of the expected version, and no other', async () => {
    const store = storeOf()
    const version = (await store.write('scratch/1', 'x', undefined)) as string
    expect(await store.remove?.('scratch/1', 'other')).toBe(false)
    expect(await store.read('scratch/1')).toMatchObject({ version })
    expect(await store.remove?.('scratch/1', version)).toBe(true)
    expect(await store.read('scratch/1')).toBeUndefined()
    expect(await store.remove?.('scratch/1', version)).toBe(false)
    expect(await store.write('scratch/1', 'late', version)).toBeUndefined()
  })
})

describe(`the policy of ${page}`, () => {
  const [policy] = blocksOf(page)
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code))
  const actionsOf = (at: number): string[] =>
    policy.Statement[at].Action.map((name: string) => name.replace('dynamodb:', ''))
  const [always, once] = [actionsOf(0), actionsOf(1)]

  /** Makes every call that leases, segments, counters and checks make. */
  async function useAll(store: Store): Promise<void> {
    for (const { run } of storeContract(async () => store)) await run()
    const version = (await store.write(`used/${crypto.randomUUID()}`, 'x', undefined)) as string
    await store.remove?.('used/none', version)
    await store.nowMs?.()
    await store.place?.()
  }

  it('has the calls that are made, and no more', async () => {
    const store = storeOf()
    gate.refuse = (action) => (always.includes(action) || action === 'DescribeTable' ? undefined : denied(action))
    await useAll(store)
    await store.advice?.()
    const used = new Set(gate.actions)
    expect([...used].toSorted()).toEqual([...always, 'DescribeTable'].toSorted())
    gate.refuse = () => undefined
    gate.actions.length = 0
    await dynamodbStore(dynamodbClient(gate.port), { table: `new-${Date.now()}` }).setup()
    expect([...new Set(gate.actions)].toSorted()).toEqual([...once].toSorted())
  })

  it('may leave out DescribeTable for a process that only leases', async () => {
    gate.refuse = (action) => (always.includes(action) ? undefined : denied(action))
    await useAll(storeOf())
  })

  it.each(always)('names %s if the policy lacks it', async (action) => {
    gate.refuse = (asked) => (asked === action ? denied(asked) : undefined)
    const error = await useAll(storeOf()).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(error.message).toContain(`not authorized to perform: dynamodb:${action} on resource`)
    expect(error.message).toMatch(/; allow this action on the table; docs\/stores\/dynamodb\.md has a policy$/)
  })
})

describe('a lease', () => {
  const throttled = 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException'
  const refusals: [string, Refusal][] = [
    [
      'requests are throttled',
      { type: throttled, message: 'The level of configured provisioned throughput was exceeded' },
    ],
    ['a right is taken away', denied('PutItem')],
    [
      'credentials expire',
      {
        type: 'com.amazon.coral.service#ExpiredTokenException',
        message: 'The security token included in the request is expired',
      },
    ],
  ]
  it.each(refusals)('makes ids up to its ceiling while %s, and goes on by itself', async (_, refusal) => {
    await using lease = await acquireLease({ store: storeOf(), namespace: freshNamespace(), windowMs: 2000 })
    const ids = createGenerator({ lease })
    const made = [await ids.nextAsync()]
    gate.refuse = () => refusal
    let code: string | undefined
    await until(() => {
      try {
        made.push(ids.next())
      } catch (error) {
        code = (error as { code: string }).code
      }
      return code !== undefined
    })
    expect(code).toBe('ERR_LEASE_EXPIRED')
    gate.refuse = () => undefined
    await until(() => lease.stats().ceilingMs > Date.now())
    made.push(await ids.nextAsync())
    expect(isAscending(made)).toBe(true)
  })

  it(`makes as many requests as ${page} says`, async () => {
    const lease = await acquireLease({ store: storeOf(), namespace: freshNamespace(), windowMs: 1500 })
    const before = { renewals: lease.stats().renewals, requests: gate.actions.length }
    await until(() => lease.stats().renewals >= before.renewals + 10)
    const each = (gate.actions.length - before.requests) / (lease.stats().renewals - before.renewals)
    await lease.release()
    // A larger item would cost two units for each write.
    expect(gate.longestItem()).toBeLessThan(1024)
    const text = read(page)
    for (const [seconds, requests] of [
      [6, /\| 6 s, the default \| ([\d.]+) million \|/],
      [60, /\| 60 s \| ([\d.]+) million \|/],
    ] as const) {
      const said = Number(requests.exec(text)?.[1]) * 1e6
      const counted = 100 * (86_400 / (seconds / 3)) * each
      expect(Math.abs(said - counted) / counted).toBeLessThan(0.1)
    }
  })
})

describe('openStore', () => {
  const clientsOf = () => `${projectWith('@aws-sdk/client-dynamodb')}/`
  const open = (url: string, options: object = {}) => openStore(url, { clientsOf: clientsOf(), ...options })

  it('creates the table of the URL, and finds it again', async () => {
    const url = dynamodbUrl(gate.port).replace('?', `/of-the.url-${Date.now()}?`)
    await expect(open(url, { create: false })).rejects.toThrow(
      /^dynamodb:\/\/eu-west-1\/of-the\S+ has no table of-the\S+: no/,
    )
    const first = await open(url)
    const version = await first.store.write('a/1', 'x', undefined)
    await first.close()
    const second = await open(url, { create: false })
    expect(await second.store.read('a/1')).toEqual({ key: 'a/1', value: 'x', version })
    expect(await second.isEmpty()).toBe(true)
    await second.close()
  })

  it('says what is wrong in one line', async () => {
    gate.refuse = denied
    await expect(open(dynamodbUrl(gate.port))).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/^dynamodb:\/\/eu-west-1: DynamoDB cannot be used \(AccessDenied[^\n]*policy$/),
    })
    const other = createServer((_, answer) => answer.end('<!doctype html>')).listen(0, host)
    await new Promise((resolve) => other.once('listening', resolve))
    await expect(open(dynamodbUrl((other.address() as AddressInfo).port))).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(
        /^dynamodb:\/\/eu-west-1: DynamoDB cannot be used \(an answer of 200[^\n]*endpoint of the client$/,
      ),
    })
    other.closeAllConnections()
    other.close()
    await expect(open('dynamodb://eu-west-1?endpoint=http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/^dynamodb:\/\/eu-west-1: [^\n]*ECONNREFUSED/),
    })
  })
})
