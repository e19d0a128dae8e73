import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type DynamodbStoreOptions, dynamodbStore } from '../../src/stores/dynamodb.js'
import { tableInput } from '../../src/stores/dynamodb-table.js'

// dynamodbStore on a client that answers what a test says. dynamodb-traps.long.test.ts has the real client.

type Answer = (input: Record<string, unknown>) => unknown

const $metadata = { requestId: 'R1', httpStatusCode: 200 }

/** A client of the SDK whose calls answer by `answers`; a call without an answer returns an empty one. */
function clientThat(answers: Record<string, Answer> = {}, more: object = {}) {
  const asked: [string, Record<string, unknown>][] = []
  const call = (name: string) => async (input: Record<string, unknown>) => {
    asked.push([name, input])
    const answer = answers[name] ?? (name === 'describeTable' ? table({}) : undefined)
    return { $metadata, ...(answer?.(input) as object) }
  }
  const names = ['getItem', 'putItem', 'query', 'updateItem', 'deleteItem', 'describeTable', 'createTable']
  const client = Object.fromEntries(names.map((name) => [name, call(name)]))
  const middlewareStack = { clone: () => ({ add() {} }) }
  return { asked, client: { ...client, middlewareStack, config: { region: async () => 'eu-west-1' }, ...more } }
}

function failing(name: string, message = 'the words of the server', more: object = {}): Answer {
  return () => {
    throw Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 400 } }, more)
  }
}

const make = (answers?: Record<string, Answer>, options?: DynamodbStoreOptions) =>
  dynamodbStore(clientThat(answers).client as never, options)

/** An answer of DescribeTable. */
const table = (more: object) => () => ({ Table: { TableStatus: 'ACTIVE', ...more } })

describe('dynamodbStore', () => {
  it.each<[string, object]>([
    ['a DynamoDBClient, which has no calls', { send() {}, middlewareStack: { clone() {} }, config: {} }],
    ['a client of version 2 of the SDK', { ...clientThat().client, middlewareStack: undefined }],
    ['the pool of another database', { query() {} }],
  ])('refuses %s', (_, client) => {
    expect(() => dynamodbStore(client as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringMatching(/DynamoDBDocument of/) }),
    )
  })

  it('refuses assumeDurable: false, because DynamoDB has no incarnation', () => {
    expect(() => make({}, { assumeDurable: false })).toThrow(/have no incarnation/)
    expect(make({}, { assumeDurable: true }).durable).toBe(true)
  })

  it.each(['ab', 'a/b', 'x'.repeat(256), 'arn:aws:dynamodb:eu-west-1:1:table/x'])('refuses %j for a table', (name) => {
    expect(() => make({}, { table: name })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  it('shows the table in the three forms in which people create it', () => {
    const name = 'prod-graupel.1'
    const { ddl, cloudFormation, terraform } = make({}, { table: name })
    const { TableName, DeletionProtectionEnabled, BillingMode, ...rest } = tableInput(name)
    expect(parse(cloudFormation).Resources.GraupelStore).toEqual({
      Type: 'AWS::DynamoDB::Table',
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: tableInput(name),
    })
    const words = ddl.split(' ')
    const valuesOf = (flag: string, count = 1) => words.slice(words.indexOf(flag) + 1, words.indexOf(flag) + 1 + count)
    const pairs = (text: string) => Object.fromEntries(text.split(',').map((pair) => pair.split('=')))
    expect(valuesOf('--table-name')).toEqual([TableName])
    expect(valuesOf('--billing-mode')).toEqual([BillingMode])
    expect(words.includes('--deletion-protection-enabled')).toBe(DeletionProtectionEnabled)
    expect(valuesOf('--attribute-definitions', 2).map(pairs)).toEqual(rest.AttributeDefinitions)
    expect(valuesOf('--key-schema', 2).map(pairs)).toEqual(rest.KeySchema)
    expect(
      Object.fromEntries([...terraform.matchAll(/^ {2}(\w+) += "?([^"\n]+)"?$/gm)].map(([, a, b]) => [a, b])),
    ).toEqual({
      name: TableName,
      billing_mode: BillingMode,
      hash_key: rest.KeySchema[0]?.AttributeName,
      range_key: rest.KeySchema[1]?.AttributeName,
      deletion_protection_enabled: `${DeletionProtectionEnabled}`,
    })
    const attributes = [...terraform.matchAll(/attribute \{\n +name = "(\w+)"\n +type = "(\w)"/g)]
    expect(attributes.map(([, AttributeName, AttributeType]) => ({ AttributeName, AttributeType }))).toEqual(
      rest.AttributeDefinitions,
    )
  })

  it('takes no answer for a write unless DynamoDB has given it', async () => {
    // The SDK returns this for `{}` of any server.
    const other = () => ({ $metadata: { httpStatusCode: 200 } })
    const store = make({ putItem: other, getItem: other, query: other, updateItem: other, deleteItem: other })
    const calls = [
      () => store.write('a/1', 'x', undefined),
      () => store.read('a/1'),
      () => store.list('a/'),
      () => store.add?.('a/1', 1n),
      () => store.remove?.('a/1', 'v'),
      () => store.nowMs?.(),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: /is this DynamoDB\? check/ })
    }
  })

  it.each<[string, string, RegExp]>([
    ['AccessDeniedException', 'User: x is not authorized to perform: dynamodb:PutItem', /PutItem\); allow this action/],
    [
      'ExpiredTokenException',
      'The security token included in the request is expired',
      /expired\); renew the credentials$/,
    ],
    ['InvalidSignatureException', 'Credential should be scoped to a valid region.', /region\); correct the region$/],
    [
      'InvalidSignatureException',
      'Signature expired: 1 is now earlier than 2',
      /; set the clock of this host, by NTP$/,
    ],
    [
      'UnrecognizedClientException',
      'The security token included in the request is invalid',
      /; check the credentials$/,
    ],
    ['CredentialsProviderError', 'Could not load credentials from any providers', /; give the client credentials$/],
    ['ValidationException', 'The provided key element does not match the schema', /; pass the name of a table that/],
    ['Error', 'Region is missing', /; give the client a region$/],
    [
      'SyntaxError',
      `Unexpected token '<'\n  Deserialization error: see it`,
      /an answer of 400: Unexpected token '<'\); is/,
    ],
  ])('says what to do about %s: %s', async (name, message, said) => {
    const store = make({ putItem: failing(name, message) })
    await expect(store.write('a/1', 'x', undefined)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(said),
    })
  })

  it.each<[string, object]>([
    ['ThrottlingException', {}],
    ['ProvisionedThroughputExceededException', {}],
    ['InternalServerError', { $metadata: { httpStatusCode: 500 } }],
    ['SyntaxError', { $metadata: { httpStatusCode: 503 } }],
    ['TimeoutError', { $metadata: {} }],
  ])('leaves %s as it is, because a later try may succeed', async (name, more) => {
    const error = await make({ putItem: failing(name, 'x', more) })
      .write('a/1', 'x', undefined)
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ name, message: 'x' })
    expect(error.code).toBeUndefined()
  })

  it('names the table, the region and the command if the table is missing', async () => {
    const store = make({ getItem: failing('ResourceNotFoundException') }, { table: 'mine' })
    await expect(store.read('a/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: `the store 'dynamodb' has no table mine in region eu-west-1 (the words of the server); await its setup() once, or run\n${store.ddl}`,
    })
    await expect(store.nowMs?.()).rejects.toThrow('has no table mine')
  })

  it.each<[unknown, bigint]>([
    [{ N: '9223372036854775809' }, 2n ** 63n + 1n],
    [205, 205n],
    [2n ** 70n, 2n ** 70n],
    [{ value: '36893488147419103232' }, 2n ** 65n],
  ])('reads the sum %o exactly', async (sum, exact) => {
    expect(await make({ updateItem: () => ({ Attributes: { sum } }) }).add?.('a/1', 1n)).toBe(exact)
  })

  it('keeps sums apart from records, also for names without a folder', async () => {
    const { client, asked } = clientThat({ updateItem: () => ({ Attributes: { sum: { N: '1' } } }) })
    const store = dynamodbStore(client as never)
    for (const key of ['sums/a', 'a']) {
      await store.read(key)
      await store.add?.(key, 1n)
    }
    const folders = asked.map(([, { Key }]) => (Key as { folder: { S: string } }).folder.S)
    expect(folders).toEqual(['/sums/', 'sums/sums/', '/', 'sums/'])
  })
})

describe('setup() of dynamodbStore', () => {
  it('creates the table, and waits until it is active', async () => {
    const states = [failing('ResourceNotFoundException'), table({ TableStatus: 'CREATING' }), table({})]
    const { client, asked } = clientThat({ describeTable: (input) => states.shift()?.(input) })
    await dynamodbStore(client as never).setup()
    expect(asked.map(([name]) => name)).toEqual(['describeTable', 'createTable', 'describeTable', 'describeTable'])
    expect(asked[1]?.[1]).toEqual(tableInput('graupel_store'))
  })

  it('goes on if another process has created the table', async () => {
    const states = [failing('ResourceNotFoundException'), table({})]
    await make({
      describeTable: (input) => states.shift()?.(input),
      createTable: failing('ResourceInUseException'),
    }).setup()
    expect(states).toEqual([])
  })

  it('has the command in its error if the user may not create tables', async () => {
    const store = make({
      describeTable: failing('ResourceNotFoundException'),
      createTable: failing('AccessDeniedException', 'not authorized to perform: dynamodb:CreateTable'),
    })
    await expect(store.setup()).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/dynamodb:CreateTable.*; let a user who may create tables run\naws dynamodb/s),
    })
  })

  it.each<[string, object, boolean]>([
    ['eventually consistent regions', { Replicas: [{ RegionName: 'us-east-1' }] }, false],
    ['EVENTUAL', { Replicas: [{}], MultiRegionConsistency: 'EVENTUAL' }, false],
    ['STRONG', { Replicas: [{}], MultiRegionConsistency: 'STRONG' }, true],
    ['one region', { Replicas: [] }, true],
  ])('looks at the regions of a global table: %s', async (_, about, isFine) => {
    const store = make({ describeTable: table(about) })
    const advice = (await store.advice?.())?.join('\n')
    if (isFine) {
      await store.setup()
      return expect(advice).not.toContain('global table')
    }
    await expect(store.setup()).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: /^the table graupel_store is/,
    })
    expect(advice).toContain('is a global table')
    for (let i = 0; i < 2; i++) {
      await expect(store.write('leases/1', 'x', undefined)).rejects.toMatchObject({ code: 'ERR_STORE_UNSAFE' })
    }
  })

  it('looks at the regions before its first write alone, and again if that failed', async () => {
    let looks = 0
    const describeTable = () => {
      if (looks++ === 0) failing('InternalServerError')({})
      return table({})()
    }
    const { asked, client } = clientThat({ describeTable })
    const store = dynamodbStore(client as never)
    await expect(store.write('leases/1', 'x', undefined)).rejects.toThrow('the words of the server')
    expect(asked.map(([name]) => name)).toEqual(['describeTable'])
    for (let i = 0; i < 3; i++) await store.write(`leases/${i}`, 'x', undefined)
    expect(looks).toBe(2)
  })

  it('looks for the table by a read if the client is a DynamoDBDocument', async () => {
    const { client } = clientThat({ getItem: failing('ResourceNotFoundException') })
    const {
      getItem: get,
      putItem: put,
      updateItem: update,
      deleteItem: remove,
      query,
    } = client as never as Record<string, unknown>
    const { middlewareStack, config } = client
    const document = { get, put, update, delete: remove, query, middlewareStack, config }
    const store = dynamodbStore(document as never)
    await expect(store.setup()).rejects.toThrow(/await its setup\(\) once, or run\naws/)
    expect(await store.place?.()).toBe('region eu-west-1, account unknown, table graupel_store')
    expect(await store.advice?.()).toEqual([])
  })
})

describe('the place and the advice of dynamodbStore', () => {
  it('are those of the table', async () => {
    const TableArn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/graupel_store'
    const about = { TableArn, TableId: '5c2a', DeletionProtectionEnabled: true }
    const store = make({ describeTable: table(about) })
    expect(await store.place?.()).toBe(`table ${TableArn} (5c2a)`)
    expect(await store.advice?.()).toEqual([])
    const bare = make({ describeTable: table({}) })
    expect(await bare.advice?.()).toEqual([expect.stringContaining('--deletion-protection-enabled')])
  })

  it('need no right: without it the account is unknown', async () => {
    const store = make({ describeTable: failing('AccessDeniedException') })
    expect(await store.place?.()).toBe('region eu-west-1, account unknown, table graupel_store')
    expect(await store.advice?.()).toEqual([])
  })
})
