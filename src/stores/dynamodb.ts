import { GraupelError, rangeError, reasonOf, show } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { checkString, flag } from '../core/readers.js'
import { callsOf, type DynamodbClient, explained, type Fields, missing, nameOf } from './dynamodb-client.js'
import { cloudFormation, tableCalls, tableCommand, terraform } from './dynamodb-table.js'
import { parseDate } from './http.js'
import { refuseForgetting } from './options.js'
import { newVersion } from './record.js'
import type { StoreEntry, StoreOptions, TableStore } from './store.js'

export type { DynamodbClient } from './dynamodb-client.js'

/** The options of {@link dynamodbStore}. */
export interface DynamodbStoreOptions extends StoreOptions {
  /**
   * The name of the table: 3 to 255 letters, digits, dots, hyphens and underscores. @default 'graupel_store'
   */
  table?: string
}

/** A store in a table of DynamoDB, which has to be created once. */
export interface DynamodbStore extends TableStore {
  /** The command of the AWS CLI that creates the table, as `setup()` does. */
  readonly ddl: string
  /** The table as a resource of CloudFormation, in YAML. */
  readonly cloudFormation: string
  /** The table as a resource of Terraform. */
  readonly terraform: string
  /**
   * Creates the table if it is missing, and waits for up to a minute until it can be used. Any number of
   * processes may call it at once.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE` if the table cannot be created, or a `DynamoDBDocument`
   * would have to create it; `ERR_STORE_UNSAFE` if the table is a global table whose regions are eventually
   * consistent.
   */
  setup(): Promise<void>
}

const rows = {
  assumeDurable: { read: flag },
  table: { read: tableName, byDefault: 'graupel_store' },
} satisfies Rows<DynamodbStoreOptions>

/**
 * A store in one table of DynamoDB. Durable: DynamoDB acknowledges what a majority of three replicas
 * have. Deleting the table, and restoring a backup, take writes back: stop all processes before it, and
 * start them one window + `maxClockSkewMs` after the last process has ended.
 *
 * Every call is one request. A read is strongly consistent, and a write is conditional. The clock is the
 * `Date` of an answer, in whole seconds. A user needs `dynamodb:GetItem`, `PutItem`, `Query`, `UpdateItem`
 * and `DeleteItem` on the table; `DescribeTable` and `CreateTable` for `setup()`.
 *
 * @param client - A `DynamoDB` or a `DynamoDBDocument`, which is neither changed nor destroyed. A
 * `DynamoDBDocument` cannot create a table.
 * @param options - None is required; {@link DynamodbStoreOptions} describes all. `assumeDurable` may not be
 * false, because the servers of DynamoDB have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNAVAILABLE` if the table, a right, the region or the credentials have to be
 * changed, or another service answers; and otherwise with the client's errors.
 * @example
 * const client = new DynamoDB({ region: 'eu-west-1' }) // of @aws-sdk/client-dynamodb
 * const store = dynamodbStore(client)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 */
export function dynamodbStore(client: DynamodbClient, options: DynamodbStoreOptions = {}): DynamodbStore {
  const { table, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  refuseForgetting('DynamoDB', assumeDurable)
  const calls = callsOf(client)
  const { text, read } = calls
  const ddl = tableCommand(table)

  const failure = async (error: unknown): Promise<unknown> => {
    if (nameOf(error) !== missing) return explained(error)
    return new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `the store 'dynamodb' has no table ${table} in region ${await calls.region()} (${reasonOf(error)}); await its setup() once, or run\n${ddl}`,
      { cause: error },
    )
  }
  const ask: typeof calls.ask = async (call, input, signal) => {
    try {
      return await calls.ask(call, { TableName: table, ...input }, signal)
    } catch (error) {
      throw await failure(error)
    }
  }
  /** Makes a conditional write. @returns Whether the condition was met, and the write has landed. */
  const change = async (call: 'PutItem' | 'DeleteItem', input: Fields, signal: AbortSignal | undefined) => {
    try {
      await ask(call, { ...input, ExpressionAttributeNames: { '#version': 'version' } }, signal)
      return true
    } catch (error) {
      if (nameOf(error) === 'ConditionalCheckFailedException') return false
      throw error
    }
  }
  const hasVersion = (version: string) => ({
    ConditionExpression: '#version = :version',
    ExpressionAttributeValues: { ':version': text(version) },
  })

  // The sums are apart from the records, whose first attribute begins with a slash.
  const keyOf = (key: string, space: '' | 'sums' = '') => {
    const at = key.lastIndexOf('/') + 1
    return { folder: text(`${space}/${key.slice(0, at)}`), name: text(key.slice(at)) }
  }
  const entryOf = (item: Fields): StoreEntry => ({
    key: read(item, 'folder').slice(1) + read(item, 'name'),
    value: read(item, 'value'),
    version: read(item, 'version'),
  })

  const tables = tableCalls(table, calls, ask)

  return {
    name: 'dynamodb',
    durable: true,
    ddl,
    cloudFormation: cloudFormation(table),
    terraform: terraform(table),
    async setup() {
      if (calls.hasTables) return tables.setup()
      // A DynamoDBDocument cannot ask for tables. If the table is missing, the error has the command.
      await ask('GetItem', { Key: keyOf('any') }, undefined)
    },
    async read(key, signal) {
      const { Item } = await ask('GetItem', { Key: keyOf(key), ConsistentRead: true }, signal)
      return Item === undefined ? undefined : entryOf(Item as Fields)
    },
    async list(folder, signal) {
      const entries: StoreEntry[] = []
      let ExclusiveStartKey: unknown
      do {
        const page = {
          KeyConditionExpression: '#folder = :folder',
          ExpressionAttributeNames: { '#folder': 'folder' },
          ExpressionAttributeValues: { ':folder': keyOf(folder).folder },
          ConsistentRead: true,
          ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
        }
        const { Items, LastEvaluatedKey } = await ask('Query', page, signal)
        entries.push(...(Items as readonly Fields[]).map(entryOf))
        ExclusiveStartKey = LastEvaluatedKey
      } while (ExclusiveStartKey !== undefined)
      return entries
    },
    async write(key, value, expected, signal) {
      await tables.look(signal)
      const version = newVersion()
      const Item = { ...keyOf(key), value: text(value), version: text(version) }
      const condition =
        expected === undefined ? { ConditionExpression: 'attribute_not_exists(#version)' } : hasVersion(expected)
      return (await change('PutItem', { Item, ...condition }, signal)) ? version : undefined
    },
    remove(key, expected, signal) {
      return change('DeleteItem', { Key: keyOf(key), ...hasVersion(expected) }, signal)
    },
    async add(key, count, signal) {
      const input = {
        Key: keyOf(key, 'sums'),
        UpdateExpression: 'ADD #sum :count',
        ExpressionAttributeNames: { '#sum': 'sum' },
        ExpressionAttributeValues: { ':count': calls.number(count) },
        ReturnValues: 'UPDATED_NEW',
      }
      const { Attributes } = await ask('UpdateItem', input, signal)
      return BigInt(read(Attributes as Fields, 'sum'))
    },
    async nowMs(signal) {
      try {
        // A read of a key that does not exist, which costs half a unit.
        return parseDate(await calls.dateOf('GetItem', { TableName: table, Key: keyOf('time') }, signal))
      } catch (error) {
        throw await failure(error)
      }
    },
    place: tables.place,
    advice: tables.advice,
  }
}

function tableName(option: string, value: unknown): string {
  checkString(option, value)
  if (/^[A-Za-z0-9_.-]{3,255}$/.test(value)) return value
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${option} is ${show(value)}; pass 3 to 255 letters, digits, dots, hyphens and underscores`,
    option,
  )
}
